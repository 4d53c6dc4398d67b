"""A small picture of a figure that needs no script: the lines, points and maps of its first panel.

It follows the reader's light or dark screen, as the figure does: its colours are names in the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from regimes.lab.draw import COLORS

_WIDTH, _HEIGHT, _EDGE = 240, 110, 5
_LINES, _POINTS, _CELLS = 12, 40, 24  # most that is drawn of each


def thumbnail(figure: Any) -> str:
    """The picture as SVG; empty when there is nothing in the figure that could be drawn small.

    >>> from regimes.lab.draw import axes, line
    >>> figure = axes("x", "y", caption="")
    >>> thumbnail(figure)
    ''
    >>> line(figure, [0, 1], [0, 1])
    >>> "M5,105 L235,5" in thumbnail(figure)
    True
    """
    parts = "".join(_map(figure)) or "".join(_curves(figure))
    if not parts:
        return ""
    return (
        f"<svg class='thumb' viewBox='0 0 {_WIDTH} {_HEIGHT}' preserveAspectRatio='none' "
        f"aria-hidden='true'>{parts}</svg>"
    )


def _first_panel(figure: Any, *kinds: str) -> list[Any]:
    return [
        trace
        for trace in figure.data
        if trace.type in kinds
        and (trace.xaxis or "x") == "x"
        and (trace.yaxis or "y") == "y"
        and trace.visible in (None, True)
    ]


def _curves(figure: Any) -> Iterator[str]:
    axes = [figure.layout.xaxis, figure.layout.yaxis]
    drawn = []
    for trace in _first_panel(figure, "scatter", "scattergl"):
        points = _numbers(trace, axes)
        if points is not None and np.isfinite(points).all(1).any():
            drawn.append((trace, points))
    drawn = drawn[:: max(1, -(-len(drawn) // _LINES))]
    if not drawn:
        return
    limits = [_limits(axis, [p[:, k] for _, p in drawn]) for k, axis in enumerate(axes)]
    for number, (trace, points) in enumerate(drawn):
        color = trace.line.color or trace.marker.color
        style = _style(color if isinstance(color, str) else COLORS[number % len(COLORS)])
        mode = trace.mode or "lines"
        thin = points[:: max(1, len(points) // (_POINTS if "lines" in mode else 4 * _POINTS))]
        x, y = _placed(thin, limits)
        yield _path(x, y, style) if "lines" in mode else _dots(x, y, style)


def _numbers(trace: Any, axes: list[Any]) -> np.ndarray | None:
    try:
        y = np.asarray(trace.y, dtype=float)
        x = np.arange(len(y), dtype=float) if trace.x is None else np.asarray(trace.x, dtype=float)
    except (TypeError, ValueError):  # words along an axis
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = [
            np.log10(values) if axis.type == "log" else values
            for axis, values in zip(axes, (x, y), strict=True)
        ]
    return np.stack(columns, axis=1) if len(x) == len(y) and len(x) else None


def _limits(axis: Any, columns: list[np.ndarray]) -> tuple[float, float]:
    if axis.range is not None and None not in axis.range:
        return float(axis.range[0]), float(axis.range[1])
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _placed(
    points: np.ndarray, limits: list[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    ends = np.array(limits)
    share = (points - ends[:, 0]) / (ends[:, 1] - ends[:, 0])
    share[~((share > -0.02) & (share < 1.02)).all(1)] = np.nan
    x = _EDGE + share[:, 0] * (_WIDTH - 2 * _EDGE)
    y = _HEIGHT - _EDGE - share[:, 1] * (_HEIGHT - 2 * _EDGE)
    return x.round(1).tolist(), y.round(1).tolist()


def _path(x: list[float], y: list[float], style: str) -> str:
    steps, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        gap = a != a or b != b
        steps += [] if gap else [f"{pen}{a:g},{b:g}"]
        pen = "M" if gap else "L"
    return f"<path d='{' '.join(steps)}' {style}/>"


def _dots(x: list[float], y: list[float], style: str) -> str:
    steps = [f"M{a:g},{b:g}h0" for a, b in zip(x, y, strict=True) if a == a and b == b]
    return f"<path d='{' '.join(steps)}' class='dots' {style}/>"


def _style(color: str) -> str:
    """A colour of the palette by its number, which the page turns light or dark."""
    if color in COLORS:
        return f"style='--tone:var(--c{COLORS.index(color)})'"
    safe = color if all(letter.isalnum() or letter in "#(),. %" for letter in color) else "grey"
    return f"style='--tone:{safe}'"


def _map(figure: Any) -> Iterator[str]:
    """The last map: what lies under it shows where there is no value."""
    from plotly.colors import sample_colorscale, sequential

    maps = [trace for trace in _first_panel(figure, "heatmap") if isinstance(trace.z, np.ndarray)]
    if not maps or maps[-1].z.ndim != 2:
        return
    z = np.asarray(maps[-1].z, dtype=float)
    z = z[:: max(1, len(z) // _CELLS), :: max(1, z.shape[1] // _CELLS)]
    known = z[np.isfinite(z)]
    if not known.size:
        return
    given = maps[-1].colorscale
    scale = sequential.Viridis if given is None else [list(stop) for stop in given]
    low, high = known.min(), known.max()
    share = (z - low) / (high - low if high > low else 1.0)
    tall, wide = _HEIGHT / z.shape[0], _WIDTH / z.shape[1]
    places = np.argwhere(np.isfinite(z))
    colors = sample_colorscale(scale, [float(share[row, column]) for row, column in places])
    for (row, column), color in zip(places, colors, strict=True):
        yield (
            f"<rect x='{column * wide:.1f}' y='{_HEIGHT - (row + 1) * tall:.1f}' "
            f"width='{wide + 0.3:.1f}' height='{tall + 0.3:.1f}' fill='{color}'/>"
        )
