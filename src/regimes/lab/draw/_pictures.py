"""Small pictures at places of a figure."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.draw._axes import is_log, place

if TYPE_CHECKING:
    import plotly.graph_objects as go


def picture(
    figure: go.Figure,
    pixels: Any,
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    panel: int = 1,
) -> None:
    """An image in the middle of (x, y), below what is drawn of data.

    Args:
        figure: where it is drawn.
        pixels: (rows, columns) grey, or (rows, columns, 3) in colours, from 0 to 1.
        x: where its middle lies, in the units of the axis.
        y: the same upwards.
        width: how wide it is, in decades on a logarithmic axis.
        height: how high, likewise.
        panel: where in the figure.
    """
    where = place(figure, panel)
    middle = [
        float(np.log10(value)) if is_log(figure, axis, where) else value
        for axis, value in (("x", x), ("y", y))
    ]
    figure.add_layout_image(
        source=png(pixels),
        x=middle[0],
        y=middle[1],
        sizex=width,
        sizey=height,
        xref="x",
        yref="y",
        xanchor="center",
        yanchor="middle",
        sizing="stretch",
        layer="below",
        **where,
    )


def png(pixels: Any) -> str:
    """An image as a data URI.

    >>> png(np.zeros((2, 2)))[:22]
    'data:image/png;base64,'
    """
    values = np.asarray(pixels, dtype=float)
    if values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[2] != 3):
        raise ValueError(
            f"pixels must be (rows, columns) or (rows, columns, 3), got {values.shape}"
        )
    grey = values.ndim == 2
    rows = np.round(255 * np.clip(np.nan_to_num(values), 0.0, 1.0)).astype(np.uint8)
    height, width = rows.shape[:2]
    lines = rows.reshape(height, -1)
    raw = np.concatenate([np.zeros((height, 1), np.uint8), lines], 1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    whole += chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(whole).decode()
