"""Learning curves for several lengths of the kernel."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures


def _curves(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "mse")
    caption = (
        "Squared test error of regression with Laplace kernels of several lengths, in units of the "
        "median distance of two images; medians over draws, bars hold the middle half. Wide "
        "kernels share one slope; the narrowest sees no two images as near and learns nothing."
    )
    figure = draw.axes("training images n", "mean squared error", log="xy", caption=caption)
    for ratio, color, part in draw.each(here.mse, "ratio"):
        _pictures.learning(figure, part, "size", f"length {ratio:g} distances", color=color)
    return figure


FIGURES = {"Lengths": _curves}
