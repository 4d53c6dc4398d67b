"""Heat maps of a plane of two scanned parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.draw._axes import is_log, place

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

_NOTHING = "#bdbdbd"


def heat_map(
    figure: go.Figure,
    data: xr.DataArray,
    x: str,
    y: str,
    title: str,
    *,
    colors: str = "Viridis",
    hover: Any = None,
    panel: int = 1,
    **options: Any,
) -> None:
    """Values over two dimensions as coloured cells; grey where there is none.

    Args:
        figure: where it is drawn; cells reach half-way to their neighbours on its own axes.
        data: values over x and y.
        x: the dimension across.
        y: the dimension upwards.
        title: of the colours' scale.
        colors: plotly's name of a colour scale.
        hover: one text per cell, of shape (y, x), shown by the pointer.
        panel: where in the figure.
        **options: plotly's own.
    """
    where = place(figure, panel)
    z = np.asarray(data.transpose(y, x).values, dtype=float)
    sides = {
        "x": edges(data[x].values, log=is_log(figure, "x", where)),
        "y": edges(data[y].values, log=is_log(figure, "y", where)),
    }
    told = {} if hover is None else {"customdata": hover, "hovertemplate": "%{customdata}"}
    empty = np.where(np.isfinite(z), np.nan, 1.0)
    if np.isfinite(empty).any():
        grey = [[0, _NOTHING], [1, _NOTHING]]
        figure.add_heatmap(**sides, z=empty, colorscale=grey, showscale=False, **told, **where)
    bar = {"title": title}
    figure.add_heatmap(**sides, z=z, colorscale=colors, colorbar=bar, **told, **options, **where)


def edges(values: Any, *, log: bool) -> np.ndarray:
    """Borders of cells around these values.

    >>> edges([1.0, 2.0, 3.0], log=False).tolist()
    [0.5, 1.5, 2.5, 3.5]
    """
    u = np.asarray(values, dtype=float)
    u = np.log(u) if log else u
    if len(u) == 1:
        borders = np.array([u[0] - 0.5, u[0] + 0.5])
    else:
        inner = (u[1:] + u[:-1]) / 2
        borders = np.array([2 * u[0] - inner[0], *inner, 2 * u[-1] - inner[-1]])
    return np.exp(borders) if log else borders
