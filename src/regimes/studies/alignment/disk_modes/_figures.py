"""Modes of the kernel on a grid, as a film."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.alignment.disk_modes import RANKS

COLORS = "RdBu"


def _map(values: np.ndarray, *, even: bool = True, **options: Any) -> dict[str, Any]:
    most = float(np.abs(values).max()) or 1.0
    limits = {"zmin": -most, "zmax": most} if even else {}
    ticks = np.linspace(-1, 1, len(values))
    colors = COLORS if even else "Viridis"
    return {
        "x": ticks,
        "y": ticks,
        "z": values,
        "colorscale": colors,
        "showscale": False,
        **limits,
        **options,
    }


def _film(dataset: Data) -> Figure:
    import plotly.graph_objects as go

    at = judge.need(dataset, "modes", "moments")
    modes, moments = at.modes.values, at.moments.values.astype(int)
    caption = (
        "Eigenfunctions of the centred tangent kernel on the square while a network learns which "
        "points lie on a disk; ranks by eigenvalue, the largest first, blue and red for the two "
        "signs. The slider goes through training: modes take the shape of the disk's border."
    )
    titles = [f"rank {rank}" for rank in RANKS]
    figure = draw.axes("", "", panels=titles, columns=3, caption=caption, height=640)
    for k in range(len(RANKS)):
        figure.add_trace(go.Heatmap(**_map(modes[0, k])), **draw.place(figure, k + 1))
    figure.frames = [
        go.Frame(
            name=f"{step}",
            traces=list(range(len(RANKS))),
            data=[go.Heatmap(**_map(picture)) for picture in pictures],
        )
        for step, pictures in zip(moments, modes, strict=True)
    ]
    steps = [
        {
            "label": f"{step}",
            "method": "animate",
            "args": [[f"{step}"], {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}],
        }
        for step in moments
    ]
    slider = {"steps": steps, "currentvalue": {"prefix": "step ", "xanchor": "right"}, "y": -0.06}
    play = {
        "type": "buttons",
        "x": 0.0,
        "y": -0.08,
        "xanchor": "right",
        "buttons": [
            {
                "label": "▶",
                "method": "animate",
                "args": [None, {"frame": {"duration": 500, "redraw": True}, "fromcurrent": True}],
            }
        ],
    }
    return figure.update_layout(sliders=[slider], updatemenus=[play], margin_b=110)


def _stills(dataset: Data) -> Figure:
    import plotly.graph_objects as go

    at = judge.need(dataset, "prediction", "norm", "points", "labels")
    last = at.sizes["moment"] - 1
    caption = (
        "The training points with their labels, what the network predicts at the end, and how far "
        "each point moves the parameters (the norm of its tangent features) before and after."
    )
    titles = ("training points", "prediction", "norm at the start", "norm at the end")
    figure = draw.axes("", "", panels=titles, columns=2, caption=caption, height=640)
    for sign, color in ((1, draw.BLUE), (-1, draw.RED)):
        x = at.points.values[at.labels.values == sign]
        draw.points(figure, x[:, 0], x[:, 1], f"label {sign:+d}", color=color, size=4)
    for panel, values, even in (
        (2, at.prediction.values[last], True),
        (3, at.norm.values[0], False),
        (4, at.norm.values[last], False),
    ):
        figure.add_trace(go.Heatmap(**_map(values, even=even)), **draw.place(figure, panel))
    return figure


FIGURES = {"Modes in the course of training": _film, "Points, prediction, features": _stills}
