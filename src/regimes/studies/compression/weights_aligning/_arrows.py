"""Pictures of neurons as arrows over the data, still and moving."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Figure, draw
from regimes.studies.compression._labelled import dots

REACH = 3.0  # the picture shows this many standard deviations, and so long is the longest arrow
DIGITS = 3  # of coordinates, which keeps the page of a film small


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
        margin={"t": 90, "b": 50},
    )
    legend = {"orientation": "h", "y": 1.0, "yref": "container", "yanchor": "top"}
    figure.update_layout(legend=legend)
    bounds = [-REACH - 0.2, REACH + 0.2]
    figure.update_xaxes(range=bounds, constrain="domain").update_yaxes(range=bounds)
    figure.for_each_yaxis(lambda axis: axis.update(scaleanchor=axis.anchor))
    for number, panel in enumerate(panels, start=1):
        dots(figure, panel.points.round(3), panel.labels, panel=number, opacity=0.45)
        tips = rescaled(panel.arrows)[0]
        style: dict[str, Any] = {"size": 9, "color": draw.GREEN, "width": 1.5, "panel": number}
        draw.arrows(figure, np.zeros_like(tips), tips, "neurons β w", digits=DIGITS, **style)
        for shape in panel.boundary:
            line = {"dash": "dot", "width": 1.5, "color": draw.SOFT}
            figure.add_shape(shape, line=line, **draw.place(figure, number))
    if not moments:
        return figure
    # the arrows are every third trace, after the two of the data
    films = [rescaled(panel.arrows) for panel in panels]
    frames = {name: [_lines(film[k]) for film in films] for k, name in enumerate(moments)}
    return draw.film(figure, frames, range(2, 3 * len(panels), 3), told="time ")


def _lines(tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return draw.joined(np.stack([np.zeros_like(tips), tips]), digits=DIGITS)
