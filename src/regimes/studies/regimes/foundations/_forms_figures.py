"""Figures of formulas and of what needs no widths."""

import numpy as np

from regimes.lab import Data, Figure, draw, ran
from regimes.studies.regimes.foundations._forms import SHARPNESS


def _losses(dataset: Data) -> Figure:
    """Losses against the margin [Geiger 2020, fig. 1]."""
    data = ran(dataset, "forms")
    figure = draw.axes(
        "margin m = y F",
        "loss",
        caption="The smooth losses used for training and their limit. They differ most at m = 1, "
        "by ln 2/b: with b = 20 the soft hinge is all but the hinge, and its flow has no jumps.",
    )
    *soft, hinge = data.loss_curves.values
    for b, curve, color in zip(SHARPNESS, soft, draw.COLORS, strict=False):
        draw.line(figure, data.loss_margin, curve, f"soft hinge, b = {b:g}", color=color)
    draw.line(figure, data.loss_margin, hinge, "hinge", color=draw.INK, dash="dash")
    return figure


def _same_model(dataset: Data) -> Figure:
    data = ran(dataset, "parametrisation")
    figure = draw.axes(
        "flow time t (mean-field: t_code α/√h)",
        "training loss",
        log="xy",
        caption="The same weights trained in two forms: lines in the NTK form with output scale α, "
        "markers in the mean-field form with output scale √h α, its time multiplied by α/√h. They "
        "fall on each other: how the readout is written is a matter of units, only √h α matters.",
    )
    after = data.isel(same_row=slice(1, None))  # time 0 has no logarithm
    for i, scale in enumerate(data.same_scales.values):
        times, losses = after.same_times.values[:, i], after.same_losses.values[:, i]
        draw.line(figure, times[0], losses[0], f"√h α = {scale:g}, NTK", color=draw.COLORS[i])
        marks = {"color": draw.COLORS[i], "symbol": "circle-open"}
        draw.points(figure, times[1], losses[1], f"√h α = {scale:g}, mean-field", **marks)
    return figure


def _early_speed(dataset: Data) -> Figure:
    data = ran(dataset, "early-speed")
    figure = draw.axes(
        "output scale α",
        "α² |∇L|² at the start",
        log="xy",
        caption="How fast the loss falls at first, α² |∇L|², for networks of equal weights: the "
        "prefactor 1/α² of the objective makes it the same for every α, and the tangent kernel "
        "predicts it (crosses). Lazy and feature learning differ later, not at the start.",
    )
    alpha, networks = data.speed_alpha.values, data.sizes["speed_seed"]
    for k, color, speed in draw.each(data.speed, "speed_seed"):
        draw.line(figure, alpha, speed, f"network {k}", color=color)
    predicted = data.speed_predicted.values.ravel()
    name = "from the kernel: σ(20)² yᵀΘy/n²"
    draw.points(figure, np.repeat(alpha, networks), predicted, name, symbol="x", color=draw.INK)
    ends = float(data.speed.min()) / 2, float(data.speed.max()) * 2
    return figure.update_yaxes(range=np.log10(ends))


def _neighbours(dataset: Data) -> Figure:
    data = ran(dataset, "neighbours")
    points = data.torus_p.values
    figure = draw.axes(
        "number of points P",
        "mean distance to the nearest (sides of the torus)",
        log="xy",
        ticks=points,
        caption="Uniform points on a torus: the nearest neighbour comes closer as P^(-1/d) "
        "(dashed). In high dimension more data hardly bring it nearer: the curse of "
        "dimensionality.",
    )
    for d, color, own in draw.each(data.swap_dims(torus="torus_d"), "torus_d"):
        found = own.neighbour.values
        draw.cloud(figure, points, found, f"d = {d:g}", color=color)
        first = (points[0], found[:, 0].mean())
        draw.guide(figure, points, -1 / d, first, f"slope -1/{d:g}")
    return figure


FIGURES = {
    "Soft hinge and hinge [Geiger 2020, fig. 1]": _losses,
    "One model in two parametrisations": _same_model,
    "Early speed and output scale": _early_speed,
    "Neighbours": _neighbours,
}
