"""Figures of networks at their start."""

from typing import Any

import numpy as np

from regimes.lab import Data, Figure, draw, ran
from regimes.studies.regimes.foundations._start import ALPHAS


def _process(dataset: Data) -> Figure:
    data = ran(dataset, "gaussian-process")
    figure = draw.axes(
        ["f", "infinite width"],
        ["density", "measured"],
        panels=["f at one point, over networks", "covariances"],
        caption=f"Random relu networks of width {int(data.process_width)} with two hidden layers, "
        "before training. Left: the output at one point is Gaussian. Right: its covariances are "
        "those of the recursion for infinite width (bars: one standard error).",
    )
    values = data.process_values.values[:, 0]
    height, edges = np.histogram(values, bins=np.linspace(-4, 4, 33), density=True)
    middle = (edges[1:] + edges[:-1]) / 2
    shape: dict[str, Any] = {"width": np.diff(edges), "opacity": 0.6}
    draw.bars(figure, middle, height, f"{len(values)} networks", color=draw.BLUE, **shape)
    dashed = {"color": draw.INK, "dash": "dash"}
    grid = np.linspace(-4, 4, 161)
    gauss = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    draw.line(figure, grid, gauss, "Gaussian of variance 1", **dashed)
    upper = np.triu_indices(data.sizes["place"])
    predicted, found = data.process_predicted.values[upper], data.process_covariance.values[upper]
    error = np.sqrt((1 + predicted**2) / len(values))
    marks = {"error": error, "color": draw.ORANGE, "panel": 2}
    draw.points(figure, predicted, found, "pairs of points", **marks)
    ends = [float(predicted.min()), 1.0]
    draw.line(figure, ends, ends, "equal", panel=2, **dashed)
    return figure


def _kernel_noise(dataset: Data) -> Figure:
    data = ran(dataset, "kernel-noise")
    widths, noise = data.noise_width.values, data.noise.values.T
    figure = draw.axes(
        "width h",
        "relative change of the tangent kernel",
        log="xy",
        ticks=widths,
        caption="How much the tangent kernel at the start differs from one random network to the "
        "next (norm of the difference from the mean, over the mean's; points are networks). It "
        "falls as 1/√h, so that wide networks share one kernel, that of infinite width: their mean "
        "tends to it.",
    )
    draw.cloud(figure, widths, noise, "fluctuation", color=draw.BLUE)
    limit = {"mode": "lines+markers", "color": draw.ORANGE}
    draw.points(figure, widths, data.limit_distance, "mean from infinite width", **limit)
    draw.guide(figure, widths, -0.5, (widths[0], noise[:, 0].mean()), "slope -1/2")
    return figure


def _gradients(dataset: Data) -> Figure:
    """Sizes of gradients by layer [Geiger 2020, eqs. 20 and 21]."""
    data = ran(dataset, "layers")
    widths, sizes = data.layer_width.values, data.gradient_size.values  # (seed, width, layer)
    last = sizes.shape[2] - 1
    figure = draw.axes(
        "width h",
        "rms of ∂f/∂W",
        log="xy",
        ticks=widths,
        caption="Size of the gradient of the output by one weight at the start. Weights of the "
        "first layer and of the readout count as 1/√h, those between as 1/h, because there are h² "
        "of them (points are networks).",
    )
    for layer, color, own in draw.each(data.gradient_size, "weight_layer"):
        name = "first layer" if layer == 0 else "readout" if layer == last else f"layer {layer + 1}"
        draw.cloud(figure, widths, own, name, color=color)
    for layer, slope, name in ((last, -0.5, "slope -1/2"), (1, -1.0, "slope -1")):
        draw.guide(figure, widths, slope, (widths[0], sizes[:, 0, layer].mean()), name)
    return figure


def _speeds(dataset: Data) -> Figure:
    """Speeds of pre-activations by layer [Geiger 2020, fig. 11]."""
    data = ran(dataset, "layers")
    widths = data.layer_width.values
    speed = data.preact_speed.isel(layer_scale=ALPHAS.index(1.0))  # (width, layer, seed)
    figure = draw.axes(
        "width h",
        "rms of dz/dt at t = 0 (1/flow time)",
        log="xy",
        ticks=widths,
        caption="How fast the pre-activations of each hidden layer start to move (α = 1). All "
        "layers slow down as 1/√h: with α fixed wide networks change less and less inside while "
        "their output learns at the same rate, which is lazy training.",
    )
    for layer, color, own in draw.each(speed, "hidden_layer"):
        draw.cloud(figure, widths, own.T, f"layer {layer + 1}", color=color)
    top = (widths[0], 1.3 * float(speed[0, -1].mean()))
    draw.guide(figure, widths, -0.5, top, "slope -1/2")
    return figure


FIGURES = {
    "Random networks are Gaussian": _process,
    "The tangent kernel averages itself": _kernel_noise,
    "Gradients by layer": _gradients,
    "Speed of the pre-activations [Geiger 2020, fig. 11]": _speeds,
}
