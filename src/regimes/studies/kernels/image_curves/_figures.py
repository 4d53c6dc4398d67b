"""Learning curves of regression, with the exponents that others quote."""

from __future__ import annotations

from functools import partial

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels._pixels import TITLES
from regimes.studies.kernels.image_curves._claims import QUOTED

NAMES = {"laplace": "Laplace kernel", "gaussian": "Gaussian kernel"}


def _curves(dataset: Data, task: str) -> Figure:
    here = judge.where_ran(dataset, "seed", "mse", task=task)
    caption = (
        f"Squared test error of kernel regression without a ridge on {TITLES[task]}, against the "
        "number of images learned from; medians over draws, bars hold the middle half of them. "
        "Both kernels have a length of 1000 grey levels."
    )
    figure = draw.axes("training images n", "mean squared error", log="xy", caption=caption)
    for kernel, color, part in draw.each(here.mse, "kernel"):
        _pictures.learning(figure, part, "size", NAMES[kernel], color=color)
    for name, (low, high) in QUOTED.items() if task == "mnist" else ():
        first = here.mse.isel(kernel=0)
        told = f"{name}: {low:.2g}" + (f" to {high:.2g}" if high > low else "")
        _pictures.beside(figure, first, "size", -(low + high) / 2, told, visible="legendonly")
    return figure


FIGURES = {
    "MNIST": partial(_curves, task="mnist"),
    "CIFAR-10": partial(_curves, task="cifar10"),
    "CIFAR-10, another split": partial(_curves, task="cifar10-other"),
}
