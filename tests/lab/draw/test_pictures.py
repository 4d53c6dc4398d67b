import base64
import struct
import zlib

import numpy as np
import pytest

from regimes.lab import draw
from regimes.lab.draw._pictures import png


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 3)])
def test_the_file_holds_the_pixels(shape):
    pixels = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    raw = base64.b64decode(png(pixels).partition(",")[2])
    assert struct.unpack(">II", raw[16:24]) == (5, 3)
    size, start = struct.unpack(">I", raw[33:37])[0], 41
    rows = np.frombuffer(zlib.decompress(raw[start : start + size]), np.uint8).reshape(3, -1)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].ravel(), np.round(255 * pixels).astype(int).ravel())


def test_places_on_logarithmic_axes():
    figure = draw.axes("c", "T", log="y", caption="")
    draw.picture(figure, np.zeros((2, 2)), 3.0, 1e-4, 0.5, 0.9)
    image = figure.layout.images[0]
    assert (image.x, image.y, image.sizex) == (3.0, -4.0, 0.5)
    with pytest.raises(ValueError, match="pixels must be"):
        draw.picture(figure, np.zeros((2, 2, 4)), 1, 1, 1, 1)
