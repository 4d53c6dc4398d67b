"""Every draw as a point, and their mean."""

import numpy as np

from regimes.lab import draw


def test_every_draw_is_a_point_and_the_mean_a_line():
    figure = draw.axes("x", "y", caption="", panels=["left", "right"])
    draw.cloud(figure, [1, 2], [[1.0, 2.0], [3.0, 6.0]], "noise", color=draw.RED, panel=2)
    dots, mean = figure.data
    np.testing.assert_array_equal(dots.x, [1, 2, 1, 2])
    np.testing.assert_array_equal(dots.y, [1, 2, 3, 6])
    np.testing.assert_array_equal(mean.y, [2, 4])
    assert (dots.showlegend, mean.showlegend, mean.name) == (False, True, "noise")
    assert dots.marker.color == mean.line.color == draw.RED
    assert dots.xaxis == mean.xaxis == "x2"
