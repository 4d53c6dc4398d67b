"""Learning curves with smooth kernels."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels.smooth_students._claims import FLOOR


def _mixed(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "mixed")
    caption = (
        "Squared error of a Gaussian kernel on a rough field, points on a sphere of six "
        "dimensions: without a ridge in float64 and float32, and with something small on the "
        "diagonal. Medians over draws, bars hold the middle half. Grey: the predicted slope -1/6, "
        "which is that of lattices."
    )
    figure = draw.axes(_pictures.SIZE, "mean squared error", log="xy", caption=caption)
    for jitter, color, part in draw.each(here.mixed, "jitter"):
        name = f"jitter {jitter:g}" if jitter else "no ridge"
        _pictures.learning(figure, part, "mixed_size", name, color=color)
    single = {"color": draw.SLATE, "dash": "dot"}
    _pictures.learning(figure, here.mixed_float32, "mixed_size", "no ridge, float32", **single)
    _pictures.beside(figure, here.mixed.isel(jitter=-1), "mixed_size", -1 / 6, "slope -1/6")
    return figure


def _faster(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "smooth")
    caption = (
        "Squared error of a Gaussian kernel on a smooth field against the cube root of n, with a "
        "logarithmic error: a straight line is faster than any power. Medians over draws, bars "
        "hold the middle half; what is left out is below rounding."
    )
    figure = draw.axes("n^(1/3)", "mean squared error", log="y", caption=caption)
    x = np.cbrt(here.smooth_size.values.astype(float))
    values = here.smooth.where(here.smooth > FLOOR)
    draw.curve(figure, values, "smooth_size", "", x=x, center="median", color=draw.BLUE)
    return figure


def _pairs(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "smooth")
    caption = (
        "Squared errors where target and kernel are alike: both smooth (Gauss), or both rough "
        "(Laplace). Medians over draws, bars hold the middle half."
    )
    figure = draw.axes(_pictures.SIZE, "mean squared error", log="xy", caption=caption)
    smooth = here.smooth.where(here.smooth > FLOOR)
    _pictures.learning(figure, smooth, "smooth_size", "both Gauss", color=draw.BLUE)
    _pictures.learning(figure, here.rough, "rough_size", "both Laplace", color=draw.ORANGE)
    return figure


FIGURES = {
    "A rough field": _mixed,
    "A smooth field": _faster,
    "Two pairs": _pairs,
}
