"""Figures of neurons against their theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.studies.compression._attractors import CLASSES, COLOURS, EDGES, NAMES, TABLE

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def one_neuron(at: xr.Dataset) -> go.Figure:
    """Fig. 3a: weights of one neuron in time, and those of its equation."""
    import plotly.graph_objects as go

    figure = go.Figure()
    colours = ("#4c78d0", "#c8375a", "#1b9e77", "#e08a3c")
    for weight, (name, colour) in enumerate(zip(("w₁", "w₂", "b", "β"), colours, strict=True)):
        for variable, dash, whose in (
            ("network_log", "solid", "network"),
            ("theory_log", "dash", "equation"),
        ):
            figure.add_scatter(
                x=at.times.values,
                y=np.exp(at[variable].values[:, 0, weight]),
                name=f"|{name}|, {whose}",
                line={"dash": dash, "color": colour, "width": 2},
            )
    figure.add_vline(
        float(at.t_star[0]), line={"dash": "dot", "color": "#888"}, annotation_text="t*"
    )
    figure.update_xaxes(title="time t / τ")
    figure.update_yaxes(type="log", title="size of the weight", exponentformat="power", dtick=1)
    return figure.update_layout(
        meta={
            "caption": "A neuron of a trained network (solid) and the equation of "
            "one neuron on infinitely many points plus this data set's sampling noise (dashed), "
            "from the same initial weights. They agree until t*: before any point is fitted, "
            "neurons do not know of each other. Dips are changes of sign. The uninformative w₂ "
            "falls behind until noise carries it along."
        }
    )


def plane(at: xr.Dataset) -> go.Figure:
    """Fig. 3c: paths of z of a selection of neurons."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_vrect(*EDGES, fillcolor="#e08a3c", opacity=0.15, line_width=0)
    z, signs = at.z.values, at.signs.values
    for signature, name, colour, (place, _) in zip(CLASSES, NAMES, COLOURS, TABLE[2], strict=True):
        own = np.flatnonzero((signs == signature).all(1))
        gap = np.full((1, len(own), 2), np.nan)
        lines = np.concatenate([z[:, own], gap]).transpose(1, 0, 2).reshape(-1, 2).round(3)
        figure.add_scatter(
            x=lines[:, 0],
            y=lines[:, 1],
            mode="lines",
            name=name,
            line={"color": colour, "width": 1},
        )
        figure.add_scatter(
            x=z[-1, own, 0],
            y=z[-1, own, 1],
            mode="markers",
            marker={"color": colour, "size": 5},
            showlegend=False,
            hovertemplate="z₁ %{x:.3f}, z₂ %{y:.3f}",
        )
        figure.add_scatter(
            x=[place],
            y=[0.0],
            mode="markers",
            marker={"symbol": "x", "color": colour, "size": 14, "line": {"width": 1}},
            name=f"attractor {place:.3f}",
        )
    figure.update_xaxes(title="z₁ (standard deviations)", range=[-3.2, 3.2])
    figure.update_yaxes(title="z₂ (standard deviations)", range=[-2.4, 2.4])
    return figure.update_layout(
        height=560,
        meta={
            "caption": "Each line is the path, from the start to t*, of the point z where a "
            "neuron's kink is nearest the origin; dots are the ends. Crosses are the three "
            "attractors that theory gives for the neurons' signs, the band is the stripe. "
            "Neurons that end away from the crosses are the slow ones."
        },
    )


def growth_figure(at: xr.Dataset) -> go.Figure:
    """Size of w_1 of the fastest class in time."""
    import plotly.graph_objects as go

    times, size, rate = at.growth_times.values, at.growth_size.values, float(at.rate)
    figure = go.Figure()
    figure.add_scatter(x=times, y=size, name="network")
    late, anchor = times >= times[-1] / 3, int(len(times) * 2 / 3)
    figure.add_scatter(
        x=times[late],
        y=size[anchor] * np.exp(rate * (times[late] - times[anchor])),
        name=f"theory: exp({rate:.3f} t/τ)",
        line={"dash": "dash"},
    )
    figure.update_xaxes(title="time t / τ")
    figure.update_yaxes(type="log", title="rms of w₁", exponentformat="power", dtick=1)
    return figure.update_layout(
        meta={
            "caption": "Neurons with w₁ < 0, β > 0 in d = 5, the fastest class, until t*. After a "
            "while of gathering at the attractor they grow exponentially; the dashed line has the "
            "rate 1/τ* that theory gives there."
        }
    )
