"""An empty figure with everything around the data: titles, logarithms, panels, ticks, caption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BELOW = {"orientation": "h", "x": 0.5, "xanchor": "center", "yanchor": "top"}
_DISTANCE = 110.0  # pixels of the figure from the panels to a legend below them


def axes(
    x: str | Sequence[str],
    y: str | Sequence[str],
    *,
    caption: str,
    log: str = "",
    panels: Sequence[str] = (),
    columns: int | None = None,
    shared: str = "",
    ticks: Any = None,
    legend: str = "",
    **layout: Any,
) -> go.Figure:
    """An empty figure.

    Args:
        x: title of the horizontal axis, or one title per panel.
        y: title of the vertical axis; one text stands at the first panel of each row.
        caption: what the figure shows, for a reader who has not seen the papers.
        log: which axes are logarithmic: "", "x", "y" or "xy".
        panels: titles of the panels, side by side unless `columns` says otherwise.
        columns: panels per row.
        shared: axes that panels have in common: "x", "y" or "xy".
        ticks: values to be marked on the horizontal axis, each once.
        legend: "below" puts it under the figure.
        **layout: anything else of plotly's layout, `height` for one.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    if not panels:
        figure = go.Figure()
    else:
        columns = columns or len(panels)
        rows = -(-len(panels) // columns)
        figure = make_subplots(
            rows=rows,
            cols=columns,
            subplot_titles=list(panels),
            shared_xaxes="x" in shared,
            shared_yaxes="y" in shared,
            vertical_spacing=0.5 / (rows + 1) if rows > 1 else None,
        )
    for axis, update in (("x", figure.update_xaxes), ("y", figure.update_yaxes)):
        if axis in log:
            # few enough ticks that many decades do not stand on end, nor the digits between two
            update(type="log", exponentformat="power", nticks=5)
    _titles(figure, x, y, max(1, len(panels)), columns or 1)
    if ticks is not None:
        shown = np.unique(np.asarray(ticks))
        figure.update_xaxes(tickvals=shown, ticktext=[f"{value:g}" for value in shown])
    if legend:
        down = _DISTANCE / layout.get("height", 440)
        layout["legend"] = {**_BELOW, "y": -down, **layout.get("legend", {})}
    return figure.update_layout(meta={"caption": caption}, **layout)


def blank(message: str) -> go.Figure:
    """A figure that says why it shows nothing."""
    figure = axes("", "", caption=f"Not drawn yet: {message}.", height=160)
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    note = {"text": message, "showarrow": False, "xref": "paper", "yref": "paper"}
    return figure.add_annotation(x=0.5, y=0.5, **note)


def place(figure: go.Figure, panel: int) -> dict[str, int]:
    """Row and column of a panel, counted from 1 along the rows; nothing for a single one.

    >>> place(axes("x", "y", panels="abc", columns=2, caption=""), 3)
    {'row': 2, 'col': 1}
    """
    if not figure._has_subplots():
        if panel != 1:
            raise ValueError(f"the figure has one panel, got panel={panel}")
        return {}
    columns = len(figure._grid_ref[0])
    return {"row": (panel - 1) // columns + 1, "col": (panel - 1) % columns + 1}


def is_log(figure: go.Figure, axis: str, where: dict[str, int]) -> bool:
    """Whether an axis, "x" or "y", of the panel at this place is logarithmic."""
    select = figure.select_xaxes if axis == "x" else figure.select_yaxes
    return any(each.type == "log" for each in select(**where))


def _titles(
    figure: go.Figure, x: str | Sequence[str], y: str | Sequence[str], count: int, columns: int
) -> None:
    firsts = range(1, count + 1, columns)
    every = range(1, count + 1)
    across = dict.fromkeys(every, x) if isinstance(x, str) else _numbered(x)
    upright = dict.fromkeys(firsts, y) if isinstance(y, str) else _numbered(y)
    for panel, title in across.items():
        figure.update_xaxes(title=title, **place(figure, panel))
    for panel, title in upright.items():
        figure.update_yaxes(title=title, **place(figure, panel))


def _numbered(titles: Sequence[str]) -> dict[int, str]:
    return dict(enumerate(titles, start=1))
