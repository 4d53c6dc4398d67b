"""Figures of the foundations that train."""

import numpy as np

from regimes.lab import Data, Figure, draw, ran
from regimes.studies.regimes.foundations._training_claims import variance_error


def _moved(dataset: Data) -> Figure:
    data = ran(dataset, "maximal-update")
    widths, moves = data.move_width.values, data.moved.values  # (form, width, layer, seed)
    figure = draw.axes(
        "width h",
        "rms change of z at the end",
        log="xy",
        panels=["mean-field, √h α = 1", "NTK, α = 100"],
        ticks=widths,
        caption="How far training moves the pre-activations of three hidden layers (points are "
        "networks). In the mean-field form, the same as maximal update, every layer moves by an "
        "amount that does not depend on the width: features are learnt at any width. With a fixed "
        "output scale α the change falls as 1/√h: the network becomes lazy.",
    )
    for panel, form in enumerate(moves, start=1):
        for layer in range(form.shape[1]):
            name, color = f"layer {layer + 1}", draw.COLORS[layer]
            draw.cloud(figure, widths, form[:, layer].T, name, color=color, panel=panel)
    top = 1.5 * moves[1, 0].max()
    draw.guide(figure, widths, -0.5, (widths[0], top), "slope -1/2", panel=2)
    logs = np.log10(moves)
    ends = [(form.min(), form.max()) for form in logs]
    reach = 0.55 * max(high - low for low, high in ends) + 0.1  # one span, so that flat looks flat
    for panel, (low, high) in enumerate(ends, start=1):
        middle = (low + high) / 2
        span = [middle - reach, middle + reach]
        figure.update_yaxes(range=span, **draw.place(figure, panel))
    return figure


def _descent(dataset: Data) -> Figure:
    data = ran(dataset, "small-steps")
    rates = float(data.step_end) / data.step_count.values
    figure = draw.axes(
        "learning rate (flow time per step)",
        "distance from the flow / way gone",
        log="xy",
        ticks=[float(f"{rate:.3g}") for rate in rates],
        caption="Where the weights are at one and the same time, by descent with ever shorter "
        "steps (points: networks) and by SGD with batches of a tenth of the points (points: "
        "orderings). Both tend to the gradient flow; the error of plain descent is proportional to "
        "the step.",
    )
    steady = data.descent_distance.values.T
    draw.cloud(figure, rates, steady, "gradient descent", color=draw.BLUE)
    draw.cloud(figure, rates, data.sgd_distance.values.T, "SGD", color=draw.ORANGE)
    mean = {"mode": "lines+markers", "color": draw.GREEN}
    draw.points(figure, rates, data.sgd_mean_distance, "mean of the SGD weights", **mean)
    draw.guide(figure, rates, 1.0, (rates[0], steady[:, 0].mean()), "slope 1")
    return figure


def _density(dataset: Data) -> Figure:
    data = ran(dataset, "mean-field")
    widths, variance = data.field_width.values, data.field_variance.values
    figure = draw.axes(
        "width h",
        "variance of F over networks",
        log="xy",
        ticks=widths,
        caption="Networks of one hidden layer, trained in the feature regime (√h α = 0.1) from "
        "different random weights: the variance of what they predict on test points. A network is "
        "a sample of h neurons from one density, so it falls as 1/h (bars: one standard error).",
    )
    line = {"mode": "lines+markers", "color": draw.BLUE}
    draw.points(figure, widths, variance, "measured", error=variance_error(data), **line)
    draw.guide(figure, widths, -1.0, (widths[0], variance[0]), "slope -1")
    return figure


FIGURES = {
    "How far layers move": _moved,
    "Descent and flow": _descent,
    "Fluctuations of the mean field": _density,
}
