"""What is drawn of data: curves averaged over draws, points with errors, lines, bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.draw._axes import place
from regimes.lab.draw._palette import COLORS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

_BAR = {"thickness": 1, "width": 3}


def curve(
    figure: go.Figure,
    data: xr.DataArray,
    over: str,
    name: str = "",
    *,
    x: Any = None,
    draws: str = "seed",
    center: str = "mean",
    mode: str = "lines+markers",
    **options: Any,
) -> np.ndarray:
    """A line of `data` over one dimension, averaged over draws with bars; returns its heights.

    Args:
        figure: where it is drawn.
        data: values over `over`, and `draws` where there are several.
        over: the dimension along which the line runs.
        name: in the legend; a name that is there already is not shown twice.
        x: places to draw it at instead of the coordinate, one per value.
        draws: the dimension that is averaged. Draws without a value are left out.
        center: "mean" or "geometric" with bars of one standard error, "median" with bars over the
            middle half.
        mode: plotly's: "lines", "markers", "lines+markers".
        **options: color, dash, symbol, size, width, opacity, panel, and plotly's own.
    """
    where = np.asarray(data[over].values if x is None else x)
    below = above = None
    if draws in data.dims:
        values = np.asarray(data.transpose(draws, over).values, dtype=float)
        middle, below, above = centred(values, center)
    else:
        middle = np.asarray(data.values, dtype=float)
    seen = np.isfinite(middle)
    bars = None if below is None or above is None else (below[seen], above[seen])
    _trace(figure, where[seen], middle[seen], name, bars, mode=mode, **options)
    return middle


def points(
    figure: go.Figure,
    x: Any,
    y: Any,
    name: str = "",
    *,
    error: Any = None,
    mode: str = "markers",
    **options: Any,
) -> None:
    """Marks at (x, y) with error bars where there are errors; options as in `curve`.

    An error is one length per mark, or a pair of such: downwards and upwards.
    """
    bars = None
    if error is not None:
        down, up = error if isinstance(error, tuple) else (error, error)
        bars = _lengths(down), _lengths(up)
    _trace(figure, np.asarray(x), np.asarray(y), name, bars, mode=mode, **options)


def _lengths(errors: Any) -> np.ndarray:
    return np.nan_to_num(np.asarray([error or 0.0 for error in errors], dtype=float))


def cloud(
    figure: go.Figure, x: Any, values: Any, name: str = "", *, size: float = 4, **options: Any
) -> None:
    """Every draw of (draws, n) as a faint point, and a line of their means; options as in `curve`.

    For few draws, where the points say more than a bar does.
    """
    x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    faint: dict[str, Any] = {"opacity": 0.4, "hoverinfo": "skip", "hovertemplate": None}
    points(figure, np.tile(x, len(values)), values.ravel(), size=size, **faint, **options)
    points(figure, x, values.mean(0), name, mode="lines+markers", **options)


def line(figure: go.Figure, x: Any, y: Any, name: str = "", **options: Any) -> None:
    """A plain line; options as in `curve`."""
    _trace(figure, np.asarray(x), np.asarray(y), name, None, mode="lines", **options)


def bars(
    figure: go.Figure,
    x: Any,
    y: Any,
    name: str = "",
    *,
    error: Any = None,
    color: str | None = None,
    panel: int = 1,
    **options: Any,
) -> None:
    """A group of bars with error bars."""
    figure.add_bar(
        x=x,
        y=y,
        error_y=None if error is None else {"array": np.nan_to_num(error), "thickness": 1},
        name=name,
        marker_color=color,
        **place(figure, panel),
        **options,
    )


def each(data: Any, along: str, colors: Sequence[str] = COLORS) -> Iterator[tuple[Any, str, Any]]:
    """(value, colour, part) for every place along a dimension."""
    for k, value in enumerate(data[along].values):
        yield value.item(), colors[k % len(colors)], data.isel({along: k})


def centred(values: np.ndarray, center: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Middle of (draws, n), and the lengths of the bars below and above it.

    >>> [part.tolist() for part in centred(np.array([[1.0], [3.0]]), "mean")]
    [[2.0], [1.0], [1.0]]
    """
    if center not in ("mean", "geometric", "median"):
        raise ValueError(f"center must be mean, geometric or median, got {center!r}")
    if center == "geometric":
        values = np.log(np.where(values > 0, values, np.nan))
    none = ~np.isfinite(values).any(0)
    filled = np.where(none, 0.0, values)  # an empty column has no mean, and no warning either
    if center == "median":
        low, middle, high = np.nanpercentile(filled, [25, 50, 75], axis=0)
        found = (middle, middle - low, high - middle)
    else:
        count = np.isfinite(filled).sum(0)
        mean = np.nanmean(filled, axis=0)
        squares = np.nansum((filled - mean) ** 2, axis=0)
        error = np.sqrt(squares / np.maximum(count - 1, 1) / count)
        found = (mean, error, error)
    if center == "geometric":
        middle = np.exp(found[0])
        found = (middle, middle * found[1], middle * found[2])
    return tuple(np.where(none, np.nan, part) for part in found)  # type: ignore[return-value]


def _trace(
    figure: go.Figure,
    x: np.ndarray,
    y: np.ndarray,
    name: str,
    bars: tuple[np.ndarray, np.ndarray] | None,
    *,
    mode: str,
    color: str | None = None,
    dash: str = "solid",
    symbol: str | None = None,
    size: float | None = None,
    width: float | None = None,
    panel: int = 1,
    **options: Any,
) -> None:
    marker = {"color": color, "symbol": symbol, "size": size}
    style = {"color": color, "dash": dash, "width": width}
    shown = bool(name) and all(trace.name != name for trace in figure.data)
    figure.add_scatter(
        x=x,
        y=y,
        error_y=None if bars is None else {"array": bars[1], "arrayminus": bars[0], **_BAR},
        mode=mode,
        name=name,
        line={key: value for key, value in style.items() if value is not None},
        marker={key: value for key, value in marker.items() if value is not None},
        **{
            "legendgroup": name,
            "showlegend": shown,
            "hovertemplate": "%{x:.4g}<br>%{y:.4g}",
            **options,
        },
        **place(figure, panel),
    )
