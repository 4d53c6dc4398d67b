"""Shares of runs that fail against N, and the size of the weights in the course of training."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge, rows
from regimes.studies.landscape.losses import _scans as scans

X = "number of weights N"


def _failing(dataset: Data) -> Figure:
    caption = (
        "Share of the runs that do not fit P = 500 points with random labels: with the hinge those "
        "with more than N/10 unmet points, with cross-entropy those with any misclassified point. "
        "Both losses give up at nearly the same number of weights."
    )
    figure = draw.axes(X, "share of the runs that fail (no unit)", log="x", caption=caption)
    names = {"hinge": "square hinge", "entropy": "cross-entropy, batch normalisation"}
    _draw(figure, dataset, [(block, {}, name) for block, name in names.items()])
    return figure


def _margins(dataset: Data) -> Figure:
    caption = (
        "The same with the output divided by its root mean square over the training points, P = "
        "300: a larger margin of the normalised output needs more weights."
    )
    figure = draw.axes(X, "share of the runs that fail (no unit)", log="x", caption=caption)
    known = np.unique(judge.need(dataset, "unmet").margin.values)
    known = known[np.isfinite(known)]
    _draw(figure, dataset, [("norm", {"margin": m}, f"margin {m:g}") for m in known.tolist()])
    return figure


def _growth(dataset: Data) -> Figure:
    caption = (
        "Size of all weights against the steps taken, over its size after an eighth of the "
        "training. Cross-entropy has no point at which it rests; with the hinge the weights stand "
        "still once every margin is reached."
    )
    table = rows(dataset, "growth")
    title = "size of the weights over that at an eighth (no unit)"
    figure = draw.axes("share of the steps", title, log="x", caption=caption)
    names = {"hinge": "square hinge", "cross_entropy": "cross-entropy"}
    for k, kind in enumerate(table.kind.values):
        norm = table.norm.isel(trial=k).transpose("seed", "octave")
        draw.curve(figure, norm / norm.isel(octave=0), "octave", names[kind], color=draw.COLORS[k])
    return figure


def _draw(figure: Figure, dataset: Data, lines: list[tuple[str, dict[str, float], str]]) -> None:
    for (block, settings, name), color in zip(lines, draw.COLORS, strict=False):
        runs, flags = scans.failed(dataset, block, **settings)
        share = np.nanmean(flags, 0)
        style = {"mode": "lines+markers", "color": color}
        draw.points(figure, runs.weights.values, share, name, **style)


FIGURES = {
    "Cross-entropy and hinge": _failing,
    "A margin of the normalised output": _margins,
    "Weights that grow on": _growth,
}
