"""Figures of the foundations: fixed points, drift, trajectories, conservation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.compression._attractors import CLASSES as SIGNATURES
from regimes.studies.compression._attractors import COLOURS, EDGES

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

D = 2
CLASSES = dict(zip(SIGNATURES, COLOURS, strict=True))
SIGNS = {1: "> 0", -1: "< 0"}
OTHER = "#999999"


def fixed_points_figure(at: xr.Dataset) -> go.Figure:
    """B+ and B- against zeta, dashed where the compression condition fails (Fig. 3b)."""
    import plotly.graph_objects as go
    import torch

    from regimes.theory import stripe_constants, stripe_fixed_points

    zeta = np.linspace(-3, 3, 601)
    figure = go.Figure()
    figure.add_vrect(*EDGES, fillcolor="#e08a3c", opacity=0.12, line_width=0)
    for side, name, colour in ((1, "B⁺ (w₁ > 0)", "#4c78d0"), (-1, "B⁻ (w₁ < 0)", "#1b9e77")):
        found = stripe_constants(torch.as_tensor(zeta), side, interfaces=EDGES)
        c1, cb, label = found.c1.numpy(), found.cb.numpy(), found.c_perp.numpy()
        height = D * cb + zeta * c1
        density = np.exp(-(zeta**2) / 2) / np.sqrt(2 * np.pi)
        compresses = (side * c1 * label < 0) | (np.abs(c1) > density)
        for holds, dash in ((True, "solid"), (False, "dash")):
            figure.add_scatter(
                x=zeta,
                y=np.where(compresses == holds, height, np.nan),
                name=name if holds else f"{name}, no compression",
                line={"color": colour, "dash": dash},
            )
    for fixed in stripe_fixed_points(*EDGES, D):
        figure.add_scatter(
            x=[fixed.z],
            y=[0.0],
            mode="markers",
            showlegend=False,
            marker={
                "size": 12,
                "color": CLASSES.get((fixed.sign_w, fixed.sign_beta), OTHER),
                "symbol": "circle" if fixed.attractor else "circle-open",
                "line": {"width": 2},
            },
            hovertemplate=(
                f"z* = {fixed.z:.4f}<br>w₁ {SIGNS[fixed.sign_w]}<br>τ/τ* = {fixed.rate:.4f}<br>"
                + ("attractor" if fixed.attractor else "not attractive")
            ),
        )
    figure.update_xaxes(title="ζ₁ (standard deviations)", range=[-3, 3])
    figure.update_yaxes(title="B(ζ₁)", zeroline=True)
    return figure.update_layout(
        meta={
            "caption": "The kink of a neuron that looks along x₁ rests where B vanishes (d = 2). "
            "Lines are dashed where the uninformative weights would not fall behind. Circles are "
            "the fixed points, full where neurons are attracted: there are three, and all attract. "
            "The band is the stripe."
        }
    )


def field_figure(at: xr.Dataset) -> go.Figure:
    """Where z moves on infinitely many points, for the signs of each attractor."""
    from plotly.subplots import make_subplots

    from regimes.theory import stripe_fixed_points

    points = [point for point in stripe_fixed_points(*EDGES, D) if point.attractor]
    titles = [f"w₁ {SIGNS[p.sign_w]}, β {SIGNS[p.sign_beta]}" for p in points]
    figure = make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.05)
    for column, point in enumerate(points, start=1):
        z, velocity = boundary_velocity(point.sign_w, point.sign_beta)
        step = 0.2 * velocity / np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), 1e-12)
        gap = np.full(len(z), np.nan)
        lines = [
            np.stack([start, start + part, gap], 1).ravel().round(3)
            for start, part in zip(z.T, step.T, strict=True)
        ]
        colour = CLASSES[point.sign_w, point.sign_beta]
        figure.add_scatter(
            x=lines[0],
            y=lines[1],
            mode="lines+markers",
            line={"color": colour, "width": 1},
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "size": np.tile([0, 6, 0], len(z)),
                "color": colour,
            },
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=column,
        )
        figure.add_scatter(
            x=[point.z],
            y=[0.0],
            mode="markers",
            marker={"symbol": "x", "size": 12, "color": colour},
            showlegend=False,
            hovertemplate=f"attractor {point.z:.4f}",
            row=1,
            col=column,
        )
        figure.update_xaxes(title="z₁ (standard deviations)", range=[-2.6, 2.6], row=1, col=column)
        figure.update_yaxes(range=[-2.1, 2.1], row=1, col=column)
    figure.update_yaxes(title="z₂ (standard deviations)", row=1, col=1)
    return figure.update_layout(
        height=440,
        meta={
            "caption": "Which way the point z of the kink nearest the origin moves (d = 2, "
            "infinitely many points, neurons that have grown so that β² = |w|² + b²; lengths do "
            "not matter). Crosses are the attractors. A neuron may leave a panel through z₁ = 0, "
            "where w₁ changes sign."
        },
    )


def boundary_velocity(sign_w: int, sign_beta: int) -> tuple[np.ndarray, np.ndarray]:
    """Places z on a grid of the plane and dz/dt there, (n, 2) each, by the chain rule."""
    import torch

    from regimes.theory import neuron_field

    axis = torch.linspace(-2.4, 2.4, 17, dtype=torch.float64)
    z = torch.cartesian_prod(axis, torch.linspace(-1.9, 1.9, 14, dtype=torch.float64))
    z = z[z[:, 0].abs() > 1e-6]
    # |w| = 1 along z, its sign such that w_1 has the sign asked for; then b = -w.z/sqrt(d).
    w = z / z.norm(dim=1, keepdim=True) * (sign_w * z[:, :1].sign())
    b = -(w * z).sum(1) / D**0.5
    beta = sign_beta * (1 + b**2).sqrt()
    dw, db, _ = neuron_field(w, b, beta, interfaces=EDGES)
    # z = -sqrt(d) b w/|w|^2 at |w| = 1
    along = (w * dw).sum(1, keepdim=True)
    velocity = -(D**0.5) * (db[:, None] * w + b[:, None] * (dw - 2 * along * w))
    return z.numpy(), velocity.numpy()


def trajectories_figure(at: xr.Dataset) -> go.Figure:
    """Paths of random neurons of the ODE in the plane of z."""
    import plotly.graph_objects as go

    from regimes.theory import stripe_fixed_points

    z, w, beta = at.ode_z.values, at.ode_sign_w.values, at.ode_sign_beta.values
    figure = go.Figure()
    figure.add_vrect(*EDGES, fillcolor="#e08a3c", opacity=0.12, line_width=0)
    classes: dict[tuple[int, int], str] = {**CLASSES, (-1, -1): OTHER}
    for (sign_w, sign_beta), colour in classes.items():
        own = np.flatnonzero((w == sign_w) & (beta == sign_beta))
        if len(own) == 0:
            continue
        gap = np.full((1, len(own), 2), np.nan)
        lines = np.concatenate([z[:, own], gap]).transpose(1, 0, 2).reshape(-1, 2).round(3)
        figure.add_scatter(
            x=lines[:, 0],
            y=lines[:, 1],
            mode="lines",
            line={"color": colour, "width": 1},
            name=f"w₁ {SIGNS[sign_w]}, β {SIGNS[sign_beta]}",
        )
        figure.add_scatter(
            x=z[-1, own, 0],
            y=z[-1, own, 1],
            mode="markers",
            marker={"color": colour, "size": 5},
            showlegend=False,
            hovertemplate="z₁ %{x:.3f}, z₂ %{y:.3f}",
        )
    for point in stripe_fixed_points(*EDGES, D):
        if point.attractor:
            figure.add_scatter(
                x=[point.z],
                y=[0.0],
                mode="markers",
                marker={
                    "symbol": "x",
                    "size": 14,
                    "color": CLASSES[point.sign_w, point.sign_beta],
                    "line": {"width": 1},
                },
                name=f"attractor {point.z:.3f}",
            )
    figure.update_xaxes(title="z₁ (standard deviations)", range=[-3.2, 3.2])
    figure.update_yaxes(title="z₂ (standard deviations)", range=[-2.4, 2.4])
    return figure.update_layout(
        height=560,
        meta={
            "caption": "Random neurons on infinitely many points, followed for 40 τ (d = 2): paths "
            "of the point z of the kink nearest the origin, dots where they end. Neurons that see "
            "enough of the data go to the crosses; those far out hardly move."
        },
    )


def growth_figure(at: xr.Dataset) -> go.Figure:
    """Lambda of the same neurons in time."""
    import plotly.graph_objects as go

    times, size = at.ode_times.values, at.ode_lambda.values
    figure = go.Figure()
    for number in range(size.shape[1]):
        signs = (int(at.ode_sign_w[number]), int(at.ode_sign_beta[number]))
        figure.add_scatter(
            x=times,
            y=size[:, number],
            mode="lines",
            line={"color": CLASSES.get(signs, OTHER), "width": 1},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.add_hline(20.0, line={"dash": "dot"})
    # On a logarithmic axis annotations are placed by the logarithm, lines by the value.
    figure.add_annotation(
        x=1.0, xref="paper", y=np.log10(20.0), text="λ = 20", showarrow=False, yanchor="bottom"
    )
    figure.update_xaxes(title="time t / τ")
    figure.update_yaxes(
        type="log", title="|λ| = |w₁| / |w⊥|", range=[-2, 8], exponentformat="power", dtick=2
    )
    return figure.update_layout(
        meta={
            "caption": "With infinitely many points nothing stops the compression: for the neurons "
            "that reach an attractor λ grows exponentially (colours as in the figure above). The "
            "sampling noise of a finite data set is what ends it, at λ of order √p."
        }
    )


def conservation_figure(at: xr.Dataset) -> go.Figure:
    """Drift of the conserved quantity against the step limit."""
    import plotly.graph_objects as go

    limits, drift = at.step_limit.dropna("limit").values, at.drift_of_growth.dropna("limit").values
    figure = go.Figure()
    for number in range(drift.shape[1]):
        figure.add_scatter(
            x=limits,
            y=drift[:, number],
            mode="lines+markers",
            line={"color": "#4c78d0", "width": 1},
            name="one network each",
            showlegend=number == 0,
        )
    middle = np.exp(np.log(drift).mean(1))
    figure.add_scatter(
        x=limits,
        y=middle[0] * limits / limits[0],
        mode="lines",
        line={"dash": "dash", "color": "#e08a3c"},
        name="proportional to the step",
    )
    figure.update_xaxes(
        type="log", title="step limit (relative change of the weights)", tickvals=limits
    )
    figure.update_yaxes(
        type="log", title="drift / largest growth of β²", exponentformat="power", dtick=1
    )
    return figure.update_layout(
        meta={
            "caption": "Gradient flow keeps β² - |w|² - b² of every neuron. Steps of finite length "
            "do not quite: the largest drift until t* is small beside what the weights grow, and "
            "falls in proportion to the step."
        }
    )


FIGURES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Fig. 3b: where kinks come to rest": ("attractors", fixed_points_figure),
    "The drift of neurons": ("attractors", field_figure),
    "Trajectories on infinitely many points": ("divergence", trajectories_figure),
    "Amplification without noise": ("divergence", growth_figure),
    "Conservation against the step": ("conservation", conservation_figure),
}
