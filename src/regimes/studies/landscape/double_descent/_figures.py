"""Errors, fluctuations and norms against the number of parameters."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.double_descent._curves import Curves, curves, mean

PARAMETERS = "parameters N (weights)"
PERCENT = "test error (%)"
SHOWN = (0.5, 1.0, 1.6, 1e9)  # N / N* of the courses that are drawn


def _curve(
    figure: Figure, own: Curves, values: np.ndarray, name: str, color: str, **options: object
) -> None:
    """Mean over the first axis with bars of one standard error, against N."""
    middle = values.mean(0)
    error = values.std(0, ddof=1) / len(values) ** 0.5 if len(values) > 1 else None
    x = options.pop("x", own.weights)
    draw.points(figure, x, middle, name, error=error, mode="lines+markers", color=color, **options)


def _cusp(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "Test error of networks on the parity of digits against their number of parameters N: "
        "single networks trained until every training point has its margin (orange), the mean "
        "output of several networks (blue), and single networks at the best moment of their "
        "training (green). Single networks are worst where they can only just fit (dotted: N*, "
        "where half of them do); ensembles and early stopping have no such peak. Bars: one "
        "standard error over networks."
    )
    figure = draw.axes(PARAMETERS, PERCENT, log="x", caption=caption, legend="below")
    size = own.seeds // len(own.groups)
    _curve(figure, own, 100 * own.values["error"], "single networks", draw.ORANGE)
    _curve(figure, own, 100 * own.groups, f"mean of {size} networks", draw.BLUE)
    _curve(figure, own, 100 * own.values["early_error"], "stopped at their best", draw.GREEN)
    draw.level(figure, x=own.star, text="N*")
    return figure


def _training(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "Share of training points on the wrong side at the end of training (orange) and share of "
        "networks that reach every margin (blue), against N. Both tell where networks begin to "
        "fit (dotted: N*)."
    )
    figure = draw.axes(PARAMETERS, "share (%)", log="x", caption=caption, legend="below")
    _curve(figure, own, 100 * own.values["train_error"], "misclassified points", draw.ORANGE)
    _curve(figure, own, 100 * own.values["fitted"], "networks that fit", draw.BLUE)
    draw.level(figure, x=own.star, text="N*")
    return figure


def _courses(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "Test error in the course of training (means over networks) for networks below, at, just "
        "above and far above N*. Around N* the error rises again after its minimum, while the "
        "last points are fitted; far above it hardly does, and training ends early."
    )
    figure = draw.axes("steps of training", PERCENT, log="x", caption=caption, legend="below")
    marks = own.table.mark.values
    course = own.table.course_error.transpose("trial", "mark").values
    ends = np.median(own.values["steps"], 0)
    at = dict.fromkeys(int(np.abs(np.log(own.weights / own.star / s)).argmin()) for s in SHOWN)
    for k, color in zip(at, draw.COLORS, strict=False):
        run = marks <= max(ends[k], marks[0])
        name = f"N = {own.weights[k]:.0f} = {own.weights[k] / own.star:.2g} N*"
        draw.line(figure, marks[run], 100 * course[k][run], name, color=color)
    return figure


def _overfitting(dataset: Data) -> Figure:
    caption = (
        "What training to the end adds to the error (error at the end less the smallest on the "
        "way) against N / N*, for several numbers P of training points and depths L. The peaks "
        "lie at the transition."
    )
    figure = draw.axes("N / N*", "overfitting (% of test points)", log="x", caption=caption)
    names = {"main": "P = 1000, L = 2", "half": "P = 500, L = 2", "deep": "P = 500, L = 3"}
    for (block, name), color in zip(names.items(), draw.COLORS, strict=False):
        if block not in judge.need(dataset, "error").block.values:
            continue
        own = curves(dataset, block)
        name = name if own.n_train < 10_000 else f"P = {own.n_train:g}"
        over = 100 * (own.values["error"] - own.values["early_error"])
        _curve(figure, own, over, name, color, x=own.weights / own.star)
    draw.level(figure, x=1.0)
    return figure


def _fluctuations(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "How much the outputs of networks with different starts differ from their mean (root mean "
        "square over points and networks) against N, on training and on test points. The "
        "differences are largest at the transition (dotted: N*) and fall beyond it; the dashed "
        "line is N^(-1/4), the law for wide networks."
    )
    figure = draw.axes(
        PARAMETERS, "fluctuation of the output", log="xy", caption=caption, legend="below"
    )
    for name, told, color in (
        ("apart_test", "test points", draw.ORANGE),
        ("apart_train", "training points", draw.BLUE),
    ):
        rms = np.sqrt(np.square(own.values[name]).mean(0))
        draw.points(figure, own.weights, rms, told, mode="lines+markers", color=color)
        if name == "apart_test":
            past = own.weights[own.past(2.0)]
            draw.guide(figure, past, -0.25, (float(past[-1]), float(rms[-1])), "N^(-1/4)")
    draw.level(figure, x=own.star, text="N*")
    return figure


def _gain(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "By how much the mean of all networks is better than one of them, against N (left), and "
        "the distance of a network's decision boundary from that of the mean against its estimate "
        "from outputs and slopes (right; the line is equality). Dashed: N^(-1/2)."
    )
    figure = draw.axes(
        (PARAMETERS, "|delta f| / |grad f|"),
        ("gain (share of test points)", "distance of the boundary"),
        log="xy",
        panels=("gain of the ensemble", "boundary"),
        caption=caption,
        legend="below",
    )
    gain = own.values["error"].mean(0) - own.together
    seen = gain > 0
    draw.points(
        figure, own.weights[seen], gain[seen], "gain", mode="lines+markers", color=draw.BLUE
    )
    far = own.weights[own.past(1.5) & seen]
    if len(far):
        draw.guide(figure, far, -0.5, (float(far[0]), float(gain[seen][-len(far)])), panel=1)
    x, y = (mean(own.values[k]) for k in ("distance_overall", "distance"))
    past = own.past(1.0)
    draw.points(figure, x[past], y[past], "N > N*", color=draw.ORANGE, panel=2)
    ends = x[past].min(), x[past].max()
    draw.line(figure, ends, ends, "equality", color=draw.SOFT, panel=2)
    return figure


def _norms(dataset: Data) -> Figure:
    own = curves(dataset, "main")
    caption = (
        "Mean square of the output on test points against N at three times of training (medians "
        "over networks). It is largest at the transition (dotted: N*), the more so the longer the "
        "training: the narrowest networks that fit reach their margins by a large output."
    )
    figure = draw.axes(
        PARAMETERS, "mean square of the output", log="xy", caption=caption, legend="below"
    )
    course = np.median(own.table.square_course.transpose("seed", "third", "trial").values, 0)
    for time, values, color in zip(own.table.third.values, course, draw.COLORS, strict=False):
        draw.points(
            figure,
            own.weights,
            values,
            f"after {time:g} steps",
            mode="lines+markers",
            color=color,
        )
    draw.level(figure, x=own.star, text="N*")
    return figure


FIGURES = {
    "The cusp, with and without averaging": _cusp,
    "Early stopping": _courses,
    "Overfitting at the transition": _overfitting,
    "Fluctuations of the output": _fluctuations,
    "Ensembles and boundaries": _gain,
    "Norm of the output": _norms,
    "Where networks begin to fit": _training,
}
