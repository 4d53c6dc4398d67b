"""Pictures of neurons as arrows over the data, still and moving."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Figure, draw
from regimes.studies.compression._labelled import dots

REACH = 3.0  # the picture shows this many standard deviations, and so long is the longest arrow


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
    """Arrows (frames, neurons, 2) with one factor per frame, the longest as long as `reach`.

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


def picture(
    panels: Sequence[Panel], *, columns: int, caption: str, moments: Sequence[str] = ()
) -> Figure:
    """Panels side by side; with names of moments, one per frame, it can be played."""
    rows = -(-len(panels) // columns)
    figure = draw.axes(
        [panel.axes[0] for panel in panels],
        [panel.axes[1] for panel in panels],
        panels=[panel.title for panel in panels],
        columns=columns,
        caption=caption,
        height=(480 if columns < 3 else 400) * rows + (190 if moments else 130),
        margin={"t": 90, "b": 110 if moments else 50},
    )
    legend = {"orientation": "h", "y": 1.0, "yref": "container", "yanchor": "top"}
    figure.update_layout(legend=legend)
    bounds = [-REACH - 0.2, REACH + 0.2]
    figure.update_xaxes(range=bounds, constrain="domain").update_yaxes(range=bounds)
    figure.for_each_yaxis(lambda axis: axis.update(scaleanchor=axis.anchor))
    for number, panel in enumerate(panels, start=1):
        dots(figure, panel.points.round(3), panel.labels, panel=number, opacity=0.45)
        x, y = segments(rescaled(panel.arrows)[0])
        arrows = {"symbol": "arrow", "size": np.tile([0, 9, 0], len(x) // 3), "width": 1.5}
        draw.points(
            figure,
            x,
            y,
            "neurons β w",
            mode="lines+markers",
            color=draw.GREEN,
            panel=number,
            hoverinfo="skip",
            marker_angleref="previous",
            **arrows,
        )
        for shape in panel.boundary:
            line = {"dash": "dot", "width": 1.5, "color": draw.SOFT}
            figure.add_shape(shape, line=line, **draw.place(figure, number))
    return animate(figure, panels, moments) if moments else figure


def animate(figure: Figure, panels: Sequence[Panel], names: Sequence[str]) -> Figure:
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
