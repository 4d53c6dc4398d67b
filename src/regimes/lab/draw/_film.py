"""Pictures that move: frames, a slider over them, buttons to play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BELOW, _UNDER_AXES = 110, 70  # pixels: room for the slider, and where it begins
_HEIGHT, _TOP = 450, 100  # pixels, of a figure that says nothing else
_AT_ONCE = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}
_PLAYED = {"frame": {"duration": 180, "redraw": True}, "fromcurrent": True}  # milliseconds


def film(
    figure: go.Figure,
    frames: Mapping[str, Sequence[tuple[Any, Any]]],
    traces: Sequence[int],
    *,
    told: str = "",
    play: bool = True,
) -> go.Figure:
    """Let some traces of a figure move; all others stand still.

    Args:
        figure: drawn as it is in the first frame.
        frames: for the name of each moment the x and y of every moving trace.
        traces: which ones move, by their numbers in `figure.data`.
        told: words before the name of the moment that is shown.
        play: whether there are buttons to play and stop, beside the slider.

    >>> from regimes.lab.draw import axes, points
    >>> figure = axes("x", "y", caption="")
    >>> points(figure, [0], [0])
    >>> made = film(figure, {"start": [([0], [0])], "end": [([1], [2])]}, [0])
    >>> [frame.name for frame in made.frames], made.frames[1].data[0].y
    (['start', 'end'], (2,))
    """
    import plotly.graph_objects as go

    for name, moved in frames.items():
        if len(moved) != len(traces):
            raise ValueError(
                f"frame {name!r} has x and y of {len(moved)} traces, but {len(traces)} move"
            )
    figure.frames = [
        go.Frame(name=name, traces=list(traces), data=[{"x": x, "y": y} for x, y in moved])
        for name, moved in frames.items()
    ]
    figure.update_layout(margin_b=_BELOW)
    top, height = figure.layout.margin.t, figure.layout.height or _HEIGHT
    low = -_UNDER_AXES / (height - (_TOP if top is None else top) - _BELOW)
    corner = {"y": low, "yanchor": "top"}
    steps = [{"label": name, "method": "animate", "args": [[name], _AT_ONCE]} for name in frames]
    slider = {"steps": steps, "currentvalue": {"prefix": told, "xanchor": "right"}, "pad": {}}
    if not play:
        return figure.update_layout(sliders=[{**slider, **corner}])
    buttons = {
        "type": "buttons",
        "direction": "left",
        "buttons": [
            {"label": "▶", "method": "animate", "args": [None, _PLAYED]},
            {"label": "❚❚", "method": "animate", "args": [[None], _AT_ONCE]},
        ],
        "pad": {"t": 8},
    }
    return figure.update_layout(
        sliders=[{**slider, **corner, "x": 0.16, "len": 0.84}],
        updatemenus=[{**buttons, **corner, "x": 0.0, "xanchor": "left"}],
    )
