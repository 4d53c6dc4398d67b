"""What is drawn beside data: slopes, levels, bands, words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab.draw._axes import is_log, place
from regimes.lab.draw._palette import INK, SOFT

if TYPE_CHECKING:
    import plotly.graph_objects as go


def guide(
    figure: go.Figure,
    x: Any,
    slope: float,
    through: tuple[float, float],
    name: str = "",
    *,
    panel: int = 1,
    color: str = SOFT,
    **options: Any,
) -> None:
    """A thin power law of this slope over the range of x, through one point."""
    ends = np.array([np.min(x), np.max(x)], dtype=float)
    name = name or f"slope {slope:.3g}"
    figure.add_scatter(
        x=ends,
        y=through[1] * (ends / through[0]) ** slope,
        mode="lines",
        line={"color": color, "dash": "dash", "width": 1.2},
        name=name,
        **{
            "hoverinfo": "skip",
            "showlegend": all(trace.name != name for trace in figure.data),
            "legendgroup": name,
            **options,
        },
        **place(figure, panel),
    )


def level(
    figure: go.Figure,
    *,
    x: float | None = None,
    y: float | None = None,
    text: str = "",
    color: str = SOFT,
    dash: str = "dot",
    width: float = 1.2,
    panel: int | None = None,
) -> None:
    """A line across the figure, or across one panel of it, at one x or one y.

    >>> from regimes.lab.draw import axes
    >>> figure = axes("time", "share", log="x", caption="")
    >>> level(figure, x=100.0, text="the end")
    >>> figure.layout.shapes[0].x0, figure.layout.annotations[0].x
    (100.0, 2.0)
    """
    where = {} if panel is None else place(figure, panel)
    style = {"line": {"dash": dash, "color": color, "width": width}, **where}
    for axis, value, add in (("y", y, figure.add_hline), ("x", x, figure.add_vline)):
        if value is None:
            continue
        note: dict[str, Any] = {}
        if text:
            # plotly puts words on a logarithmic axis by the logarithm, lines by the value
            at = float(np.log10(value)) if is_log(figure, axis, where) else value
            note["annotation"] = {"text": text, axis: at}
        add(**{axis: value}, **style, **note)


def band(
    figure: go.Figure, low: float, high: float, *, color: str = SOFT, panel: int | None = None
) -> None:
    """A pale stripe between two x."""
    where = {} if panel is None else place(figure, panel)
    figure.add_vrect(x0=low, x1=high, fillcolor=color, opacity=0.12, line_width=0, **where)


def words(figure: go.Figure, text: str, x: float, y: float, **options: Any) -> None:
    """A text in the figure, at data coordinates (logarithms where an axis is logarithmic)."""
    note = {"showarrow": False, "font": {"color": INK}, **options}
    figure.add_annotation(x=x, y=y, text=text, **note)
