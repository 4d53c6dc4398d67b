"""Pictures of neurons as arrows over the data, still and moving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import plotly.graph_objects as go

REACH = 3.0  # the picture shows this many standard deviations, and so long is the longest arrow
_COLOURS = {1.0: "#4c78d0", -1.0: "#e08a3c"}
_ARROWS = "#1b9e77"


@dataclass(frozen=True)
class Panel:
    """One picture: the data in a plane, and the arrows in the course of training."""

    title: str
    axes: tuple[str, str]
    points: np.ndarray  # (n, 2)
    labels: np.ndarray  # (n,), +-1
    arrows: np.ndarray  # (frames, neurons, 2)
    boundary: tuple[dict[str, Any], ...] = ()  # plotly shapes where the label changes


def rescaled(arrows: np.ndarray, reach: float = REACH) -> np.ndarray:
    """Arrows (frames, neurons, 2) with one factor a frame, the longest as long as `reach`.

    >>> rescaled(np.array([[[3.0, 4.0], [0.0, 1.0]]]), reach=10.0)[0].tolist()
    [[6.0, 8.0], [0.0, 2.0]]
    """
    longest = np.linalg.norm(arrows, axis=-1).max(axis=-1)
    factor = np.divide(reach, longest, out=np.zeros_like(longest), where=longest > 0)
    return arrows * factor[:, None, None]


def segments(arrows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines from the origin to each tip (neurons, 2), as x and y with gaps between them."""
    gap = np.full(len(arrows), np.nan)
    parts = [np.stack([np.zeros(len(arrows)), column, gap], 1).ravel() for column in arrows.T]
    return np.round(parts[0], 3), np.round(parts[1], 3)


def arrow_trace(arrows: np.ndarray, *, legend: bool) -> dict[str, Any]:
    """A plotly scatter of arrows from the origin."""
    x, y = segments(arrows)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "name": "neurons β w",
        "legendgroup": "arrows",
        "showlegend": legend,
        "hoverinfo": "skip",
        "line": {"color": _ARROWS, "width": 1.5},
        "marker": {
            "symbol": "arrow",
            "angleref": "previous",
            "color": _ARROWS,
            "size": np.tile([0, 9, 0], len(arrows)),
        },
    }


def draw(
    panels: list[Panel], *, columns: int, frame_names: list[str], caption: str, moving: bool
) -> go.Figure:
    """Panels side by side, of the first frame; `moving` adds a play button and a slider."""
    from plotly.subplots import make_subplots

    rows = -(-len(panels) // columns)
    tall = 460 if columns < 3 else 360
    height = tall * rows + (190 if moving else 130)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[panel.title for panel in panels],
        horizontal_spacing=0.07,
        vertical_spacing=95 / height if rows > 1 else 0.0,
    )
    for number, panel in enumerate(panels):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        for label, colour in _COLOURS.items():
            chosen = panel.points[panel.labels == label]
            figure.add_scatter(
                x=np.round(chosen[:, 0], 3),
                y=np.round(chosen[:, 1], 3),
                mode="markers",
                marker={"color": colour, "size": 4, "opacity": 0.45},
                name=f"y = {label:+.0f}",
                legendgroup=f"{label}",
                showlegend=number == 0,
                hoverinfo="skip",
                **place,
            )
        figure.add_trace(arrow_trace(rescaled(panel.arrows)[0], legend=number == 0), **place)
        for shape in panel.boundary:
            figure.add_shape(shape, line={"dash": "dot", "width": 1.5, "color": "#888"}, **place)
        bounds = [-REACH - 0.2, REACH + 0.2]
        figure.update_xaxes(title=panel.axes[0], range=bounds, constrain="domain", **place)
        axis = "x" if number == 0 else f"x{number + 1}"
        figure.update_yaxes(title=panel.axes[1], range=bounds, scaleanchor=axis, **place)
    figure.update_layout(
        height=height,
        margin={"t": 90, "b": 110 if moving else 50},
        legend={"orientation": "h", "y": 1.0, "yref": "container", "yanchor": "top"},
        meta={"caption": caption},
    )
    return animate(figure, panels, frame_names) if moving else figure


def animate(figure: go.Figure, panels: list[Panel], names: list[str]) -> go.Figure:
    """Add frames, a play button and a slider over them; the arrows are every third trace."""
    import plotly.graph_objects as go

    scaled = [rescaled(panel.arrows) for panel in panels]
    figure.frames = [
        go.Frame(
            name=name,
            traces=[3 * number + 2 for number in range(len(panels))],
            data=[dict(zip("xy", segments(moving[k]), strict=True)) for moving in scaled],
        )
        for k, name in enumerate(names)
    ]
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}
    play = {"frame": {"duration": 180, "redraw": True}, "fromcurrent": True}
    steps = [{"label": name, "method": "animate", "args": [[name], now]} for name in names]
    low = -70 / (figure.layout.height - 200)
    figure.update_layout(
        sliders=[{"steps": steps, "x": 0.16, "len": 0.84, "y": low, "yanchor": "top", "pad": {}}],
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "x": 0.0,
                "y": low,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": 8},
                "buttons": [
                    {"label": "▶", "method": "animate", "args": [None, play]},
                    {"label": "❚❚", "method": "animate", "args": [[None], now]},
                ],
            }
        ],
    )
    figure.layout.sliders[0].currentvalue = {"prefix": "time ", "xanchor": "right"}
    return figure
