"""Learning curves of machines, beside those of regression."""

from __future__ import annotations

from functools import partial

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels._pixels import TITLES


def _curves(dataset: Data, task: str) -> Figure:
    here = judge.where_ran(dataset, "seed", "error", task=task)
    caption = (
        f"Fraction of test images that a soft-margin machine gets wrong on {TITLES[task]}, and the "
        "squared error of regression with the same kernel on the same images (dashed); medians "
        "over draws, bars hold the middle half."
    )
    figure = draw.axes("training images n", "test error", log="xy", caption=caption)
    names = {"laplace": "Laplace", "gaussian": "Gauss"}
    for kernel, color, part in draw.each(here, "kernel"):
        told = names[kernel]
        _pictures.learning(figure, part.error, "size", f"{told}, machine", color=color)
        _pictures.learning(
            figure, part.mse, "size", f"{told}, regression", color=color, dash="dash"
        )
    return figure


FIGURES = {
    "MNIST": partial(_curves, task="mnist"),
    "CIFAR-10": partial(_curves, task="cifar10"),
}
