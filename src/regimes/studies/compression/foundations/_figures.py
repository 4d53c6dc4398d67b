"""Figures of the foundations: fixed points, drift, trajectories, conservation."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, ran
from regimes.studies._types import FixedPoint
from regimes.studies.compression import _kinks
from regimes.studies.compression._attractors import CLASSES as SIGNATURES
from regimes.studies.compression._attractors import COLOURS, EDGES

D = 2
CLASSES = dict(zip(SIGNATURES, COLOURS, strict=True))  # signs of w_1 and beta -> colour
SIGNS = {1: "> 0", -1: "< 0"}


def _resting(dataset: Data) -> Figure:
    """B+ and B- against zeta, dashed where the compression condition fails."""
    import torch

    ran(dataset, "attractors")
    caption = (
        "The kink of a neuron that looks along x₁ rests where B vanishes (d = 2). Lines are dashed "
        "where the uninformative weights would not fall behind. Circles are the fixed points, full "
        "where neurons are attracted: there are three, and all attract. The band is the stripe."
    )
    figure = draw.axes("ζ₁ (standard deviations)", "B(ζ₁)", caption=caption)
    draw.band(figure, *EDGES, color=draw.ORANGE)
    zeta = np.linspace(-3, 3, 601)
    density = np.exp(-(zeta**2) / 2) / np.sqrt(2 * np.pi)
    for side, name, color in ((1, "B⁺ (w₁ > 0)", draw.BLUE), (-1, "B⁻ (w₁ < 0)", draw.GREEN)):
        found = rg.theory.stripe_constants(torch.as_tensor(zeta), side, interfaces=EDGES)
        c1, cb, label = found.c1.numpy(), found.cb.numpy(), found.c_perp.numpy()
        height = D * cb + zeta * c1
        compresses = (side * c1 * label < 0) | (np.abs(c1) > density)
        draw.line(figure, zeta, np.where(compresses, height, np.nan), name, color=color)
        other = np.where(compresses, np.nan, height)
        draw.line(figure, zeta, other, f"{name}, no compression", color=color, dash="dash")
    for fixed in rg.theory.stripe_fixed_points(*EDGES, D):
        told = "attractor" if fixed.attractor else "not attractive"
        draw.points(
            figure,
            [fixed.z],
            [0.0],
            size=12,
            color=_color(fixed.sign_w, fixed.sign_beta),
            symbol="circle" if fixed.attractor else "circle-open",
            hovertemplate=f"z* = {fixed.z:.4f}<br>w₁ {SIGNS[fixed.sign_w]}<br>"
            f"τ/τ* = {fixed.rate:.4f}<br>{told}",
        )
    return figure.update_xaxes(range=[-3, 3])


def _field(dataset: Data) -> Figure:
    """Where z moves on infinitely many points, for the signs of each attractor."""
    ran(dataset, "attractors")
    caption = (
        "Which way the point z of the kink nearest the origin moves (d = 2, infinitely many "
        "points, neurons that have grown so that β² = |w|² + b²; lengths do not matter). Crosses "
        "are the attractors. A neuron may leave a panel through z₁ = 0, where w₁ changes sign."
    )
    panels = [_signs(point.sign_w, point.sign_beta) for point in _attractors()]
    figure = draw.axes(_kinks.Z1, _kinks.Z2, panels=panels, caption=caption, height=440)
    figure.update_xaxes(range=[-2.6, 2.6]).update_yaxes(range=[-2.1, 2.1])
    for panel, point in enumerate(_attractors(), start=1):
        z, velocity = boundary_velocity(point.sign_w, point.sign_beta)
        step = 0.2 * velocity / np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), 1e-12)
        color = _color(point.sign_w, point.sign_beta)
        draw.arrows(figure, z, z + step, color=color, panel=panel, width=1, digits=3)
        draw.points(figure, [point.z], [0.0], color=color, symbol="x", size=12, panel=panel)
    return figure


def boundary_velocity(sign_w: int, sign_beta: int) -> tuple[np.ndarray, np.ndarray]:
    """Places z on a grid of the plane and dz/dt there, (n, 2) each."""
    import torch

    axis = torch.linspace(-2.4, 2.4, 17, dtype=torch.float64)
    z = torch.cartesian_prod(axis, torch.linspace(-1.9, 1.9, 14, dtype=torch.float64))
    z = z[z[:, 0].abs() > 1e-6]
    # |w| = 1 along z, its sign such that w_1 has the sign asked for; then b = -w.z/sqrt(d).
    w = z / z.norm(dim=1, keepdim=True) * (sign_w * z[:, :1].sign())
    b = -(w * z).sum(1) / D**0.5
    beta = sign_beta * (1 + b**2).sqrt()
    return z.numpy(), rg.theory.boundary_velocity(w, b, beta, interfaces=EDGES).numpy()


def _trajectories(dataset: Data) -> Figure:
    """Paths of random neurons of the ODE in the plane of z."""
    at = ran(dataset, "divergence")
    caption = (
        "Random neurons on infinitely many points, followed for 40 τ (d = 2): paths of the point z "
        "of the kink nearest the origin, dots where they end. Neurons that see enough of the data "
        "go to the crosses; those far out hardly move."
    )
    figure = _kinks.plane(caption)
    for name, color, own in _by_class(at):
        z = own.ode_z.transpose("moment", "ode_neuron", "axis").values
        _kinks.paths(figure, z, name, color)
    for point in _attractors():
        _kinks.attractor(figure, point.z, _color(point.sign_w, point.sign_beta))
    return figure


def _growth(dataset: Data) -> Figure:
    """Lambda of the same neurons in time."""
    at = ran(dataset, "divergence")
    caption = (
        "With infinitely many points nothing stops the compression: for the neurons that reach an "
        "attractor λ grows exponentially (colours as in the figure above). The sampling noise of a "
        "finite data set is what ends it, at λ of order √p."
    )
    figure = draw.axes("time t / τ", "|λ| = |w₁| / |w⊥|", log="y", caption=caption)
    for name, color, own in _by_class(at):
        size = own.ode_lambda.transpose("moment", "ode_neuron").values
        times = np.broadcast_to(at.ode_times.values[:, None], size.shape)
        x, y = draw.joined(np.stack([times, size], axis=-1))
        draw.line(figure, x, y, name, color=color, width=1, showlegend=False, hoverinfo="skip")
    draw.level(figure, y=20.0, text="λ = 20", color=draw.INK)
    return figure.update_yaxes(range=[-2, 8], dtick=2)


def _conservation(dataset: Data) -> Figure:
    """Drift of the conserved quantity against the step limit."""
    at = ran(dataset, "conservation")
    caption = (
        "Gradient flow keeps β² - |w|² - b² of every neuron. Steps of finite length do not quite: "
        "the largest drift until t* is small beside what the weights grow, and falls in proportion "
        "to the step."
    )
    limits, drift = at.step_limit.values, at.drift_of_growth.transpose("network", "limit").values
    title = "step limit (relative change of the weights)"
    figure = draw.axes(
        title, "drift / largest growth of β²", log="xy", ticks=limits, caption=caption
    )
    style: dict[str, Any] = {"mode": "lines+markers", "color": draw.BLUE, "width": 1}
    for own in drift:
        draw.points(figure, limits, own, "one network each", **style)
    through = (limits[0], np.exp(np.log(drift[:, 0]).mean()))
    draw.guide(figure, limits, 1.0, through, "proportional to the step", color=draw.ORANGE)
    return figure.update_yaxes(dtick=1)


def _attractors() -> list[FixedPoint]:
    return [point for point in rg.theory.stripe_fixed_points(*EDGES, D) if point.attractor]


def _by_class(at: Data) -> list[tuple[str, str, Data]]:
    """Name, colour and data of the neurons of the ODE that have the same signs."""
    w, beta = at.ode_sign_w.values, at.ode_sign_beta.values
    return [
        (_signs(*signs), _color(*signs), at.isel(ode_neuron=own))
        for signs in (*CLASSES, (-1, -1))
        if len(own := np.flatnonzero((w == signs[0]) & (beta == signs[1])))
    ]


def _signs(sign_w: int, sign_beta: int) -> str:
    return f"w₁ {SIGNS[sign_w]}, β {SIGNS[sign_beta]}"


def _color(sign_w: int, sign_beta: int) -> str:
    return CLASSES.get((sign_w, sign_beta), draw.SOFT)


FIGURES = {
    "Where kinks come to rest (fig. 3b)": _resting,
    "The drift of neurons": _field,
    "Trajectories on infinitely many points": _trajectories,
    "Amplification without noise": _growth,
    "Conservation against the step": _conservation,
}
