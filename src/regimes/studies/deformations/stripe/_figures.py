"""R_f of the stripe against the number of points, and the error it goes with."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge


def _curves(dataset: Data, name: str, title: str, slope: float, told: str, caption: str) -> Figure:
    judge.need(dataset, name)
    figure = draw.axes("training points P", title, log="xy", caption=caption)
    for d, color in zip(dataset.d.values, draw.COLORS, strict=False):
        if not bool(dataset[name].sel(d=d).notnull().any()):
            continue
        at = judge.where_ran(dataset, "p", name, d=d)
        middle = draw.curve(figure, at[name], "p", f"d = {d}", center="median", color=color)
        p = at.p.values.astype(float)
    draw.guide(figure, p, slope, (p[-1], 0.7 * middle[-1]), told)
    return figure


def _stability(dataset: Data) -> Figure:
    caption = (
        "Relative stability R_f of networks whose task is decided by one of d coordinates: how "
        "much the output changes under noise in the others alone, over how much it changes under "
        "noise of the same size in all. It is about one before training, and falls as 1/P (grey): "
        "the more points, the better a network knows what not to look at. Medians over seeds, bars "
        "over the middle half."
    )
    return _curves(dataset, "R", "R_f", -1.0, "1/P", caption)


def _weights(dataset: Data) -> Figure:
    caption = (
        "How much larger the weights along the informative direction are than along the others. "
        "The others shrink as P^(-1/2), the noise of a sample of P points, so that this grows as "
        "P^(1/2) (grey). Medians over seeds, bars over the middle half."
    )
    return _curves(dataset, "amplification", "amplification Λ", 0.5, "sqrt(P)", caption)


def _error(dataset: Data) -> Figure:
    judge.need(dataset, "R", "error")
    caption = (
        "Test error of every network against its relative stability, for all seeds and numbers of "
        "training points: those that ignore more of what does not matter err less."
    )
    figure = draw.axes("R_f", "test error", log="xy", caption=caption)
    for k, d in enumerate(dataset.d.values):
        at = dataset.sel(d=d)
        x, y = (at[name].values.ravel() for name in ("R", "error"))
        draw.points(figure, x, y, f"d = {d}", color=draw.COLORS[k], size=6)
    return figure


FIGURES = {
    "Relative stability and the number of points": _stability,
    "Weights along and across": _weights,
    "Error and relative stability": _error,
}
