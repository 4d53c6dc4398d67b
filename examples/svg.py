"""A small plot as SVG text: axes, curves, points, maps. For the manual's pictures only.

Lines and words are of a grey that reads on light and on dark pages; the ground is transparent.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np

GREY = "#7d8590"
BLUE, RED, GREEN, VIOLET, GOLD = "#3b8ec2", "#e4572e", "#3a9d5d", "#9a6fb0", "#c9921a"
WIDTH, HEIGHT = 320, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 30, 46


class Panel:
    """One pair of axes; x and y are intervals, logarithmic where `log` names them."""

    def __init__(
        self,
        title: str,
        x: tuple[str, float, float],
        y: tuple[str, float, float],
        *,
        log: str = "",
    ) -> None:
        self.title, self.x, self.y, self.log = title, x, y, log
        self.parts: list[str] = []

    def _place(self, value: float, axis: str) -> float:
        _, low, high = self.x if axis == "x" else self.y
        if axis in self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        share = (value - low) / (high - low)
        if axis == "x":
            return _LEFT + share * (WIDTH - _LEFT - _RIGHT)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self._place(x, "x"), self._place(y, "y")

    def curve(
        self,
        x: Sequence[float],
        y: Sequence[float],
        colour: str,
        label: str = "",
        *,
        dash: str = "",
    ) -> None:
        """A line through points, with its label at the last of them."""
        places = [self._at(*point) for point in zip(x, y, strict=True)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        self.parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        if label:
            a, b = places[-1]
            self.parts.append(_text(min(a, WIDTH - _RIGHT), b - 7, label, "end", colour))

    def points(
        self, x: Sequence[float], y: Sequence[float], colour: str, *, r: float = 2.5
    ) -> None:
        """Dots."""
        places = (self._at(*point) for point in zip(x, y, strict=True))
        self.parts += [
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r}" fill="{colour}"/>' for a, b in places
        ]

    def note(
        self, x: float, y: float, text: str, colour: str = GREY, anchor: str = "start"
    ) -> None:
        """Words at a place."""
        self.parts.append(_text(*self._at(x, y), text, anchor, colour))

    def image(self, values: np.ndarray) -> None:
        """A square map of values between -1 (red) and 1 (blue), 0 transparent."""
        side = min(WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM)
        left = _LEFT + (WIDTH - _LEFT - _RIGHT - side) / 2
        data = base64.b64encode(_png(values)).decode()
        self.parts.append(
            f'<image x="{left}" y="{_TOP}" width="{side}" height="{side}" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
        )

    def drawn(self, ticks: bool = True) -> str:
        """The panel's elements."""
        left, top, right, bottom = _LEFT, _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM
        out = [_text((left + right) / 2, 16, self.title, "middle", GREY, bold=True)]
        if ticks:
            out.append(f'<path d="M{left},{top}V{bottom}H{right}" fill="none" stroke="{GREY}"/>')
            for value in _ticks(self.x[1], self.x[2], "x" in self.log):
                a = self._place(value, "x")
                out.append(_text(a, bottom + 16, _number(value, "x" in self.log), "middle", GREY))
            for value in _ticks(self.y[1], self.y[2], "y" in self.log):
                b = self._place(value, "y")
                out.append(_text(left - 6, b + 4, _number(value, "y" in self.log), "end", GREY))
        out.append(_text((left + right) / 2, HEIGHT - 8, self.x[0], "middle", GREY))
        middle = (top + bottom) / 2
        out.append(
            f'<g transform="rotate(-90 12 {middle})">'
            f"{_text(12, middle, self.y[0], 'middle', GREY)}</g>"
        )
        return "".join(out + self.parts)


def picture(*panels: Panel, ticks: bool = True) -> str:
    """Panels side by side, as the text of an SVG file."""
    body = "".join(
        f'<g transform="translate({i * WIDTH} 0)">{panel.drawn(ticks)}</g>'
        for i, panel in enumerate(panels)
    )
    size = f"{len(panels) * WIDTH} {HEIGHT}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{len(panels) * WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="13">{body}</svg>\n'
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>'
        f"{escape(text)}</text>"
    )


def _ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        step = max(1, round((last - first) / 4))
        return [10.0**k for k in range(first, last + 1, step)]
    step = 10 ** math.floor(math.log10((high - low) / 2))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 5)
    return [
        k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def _number(value: float, log: bool) -> str:
    if log and not 0.01 <= value <= 1000:
        power = f"{round(math.log10(value))}"
        return "10" + power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}"


def _png(values: np.ndarray) -> bytes:
    """Values in [-1, 1] as a PNG: blue above 0, red below, opaque where large."""
    strength = np.clip(np.abs(values), 0, 1)
    pixels = np.zeros((*values.shape, 4), np.uint8)
    pixels[values >= 0, :3], pixels[values < 0, :3] = (59, 142, 194), (228, 87, 46)
    pixels[..., 3] = (255 * strength).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
