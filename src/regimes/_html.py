"""Small tables and pictures for notebooks, in the colours of whatever page they stand on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _EDGE = 260, 90, 4  # pixels of a picture
_MOST = 200  # places along a line; a longer course is thinned
# told apart on white and on black alike
COLORS = ("#5b7bf0", "#e0832e", "#35a573", "#e0527a", "#9a6fe0", "#2aa5c2", "#b3962a", "#7d889c")


def block(title: str, *parts: str) -> str:
    """A title with what stands below it."""
    return f"<div><b>{escape(title)}</b>{''.join(parts)}</div>"


def facts(values: Mapping[str, object]) -> str:
    """Names and values, one pair a row.

    >>> ">points</th>" in facts({"points": 3}), ">3</td>" in facts({"points": 3})
    (True, True)
    """
    left = 'style="text-align:left"'
    rows = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(str(value))}</td></tr>"
        for name, value in values.items()
    )
    return f"<table>{rows}</table>"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows below headings."""
    left = 'style="text-align:left"'
    head = "".join(f"<th {left}>{escape(text)}</th>" for text in headings)
    body = "".join(
        f"<tr>{''.join(f'<td {left}>{escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def curves(lines: Sequence[Sequence[float]], caption: str, *, log: bool = False) -> str:
    """Lines over their index; where `log`, what is not positive leaves a gap.

    >>> "M4,86 L256,4" in curves([[1.0, 10.0]], "growth", log=True)
    True
    """
    kept = [_thinned([_height(value, log=log) for value in line]) for line in lines]
    known = [value for line in kept for value in line if math.isfinite(value)]
    if not known:
        return ""
    low, high = min(known), max(known)
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    paths = []
    for number, line in enumerate(kept):
        steps, pen = [], "M"
        for place, value in enumerate(line):
            if not math.isfinite(value):
                pen = "M"
                continue
            x = _EDGE + (_WIDTH - 2 * _EDGE) * place / max(1, len(line) - 1)
            y = _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * (value - low) / (high - low)
            steps.append(f"{pen}{x:.4g},{y:.4g}")
            pen = "L"
        color = COLORS[number % len(COLORS)]
        paths.append(f"<path d='{' '.join(steps)}' fill='none' stroke='{color}' />")
    return _picture("".join(paths), caption)


def cloud(points: Sequence[tuple[float, float]], kinds: Sequence[int], caption: str) -> str:
    """Points of a plane, coloured by kind.

    >>> cloud([(0.0, 0.0), (1.0, 1.0)], [0, 1], "two points").count("<circle")
    2
    """
    if not points:
        return ""
    sides = list(zip(*points, strict=True))
    low = [min(side) for side in sides]
    span = [(max(side) - least) or 1.0 for side, least in zip(sides, low, strict=True)]
    dots = []
    for (x, y), kind in zip(points, kinds, strict=True):
        across = _EDGE + (_WIDTH - 2 * _EDGE) * (x - low[0]) / span[0]
        up = _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * (y - low[1]) / span[1]
        color = COLORS[kind % len(COLORS)]
        dots.append(f"<circle cx='{across:.4g}' cy='{up:.4g}' r='1.6' fill='{color}' />")
    return _picture("".join(dots), caption)


def _picture(inside: str, caption: str) -> str:
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='{escape(caption)}' "
        f"style='border:1px solid currentColor;display:block'>{inside}</svg>"
        f"<small>{escape(caption)}</small>"
    )


def _height(value: float, *, log: bool) -> float:
    if not log:
        return float(value)
    return math.log10(value) if value > 0 and math.isfinite(value) else math.nan


def _thinned(line: list[float]) -> list[float]:
    return line[:: max(1, -(-len(line) // _MOST))]
