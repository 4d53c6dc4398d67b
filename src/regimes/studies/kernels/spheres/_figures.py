"""Learning curves on spheres, and exponents against the dimension."""

from __future__ import annotations

from functools import partial

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels.spheres._claims import FLOOR, PREDICTED, _slope

TEACHERS = {"laplace": "as rough as the kernel", "gaussian": "perfectly smooth"}


def _curves(dataset: Data, teacher: str, scale: float) -> Figure:
    here = judge.where_ran(dataset, "seed", "mse", teacher=teacher, scale=scale)
    length = "equal to the dimension d" if scale == 0 else f"of {scale:g}"
    caption = (
        "Squared error of regression with a Laplace kernel on points of spheres of dimension d, "
        f"averaged over targets that are Gaussian fields, {TEACHERS[teacher]}; both kernels with a "
        f"length {length}. Medians over draws of the points; grey, the predicted slopes."
    )
    figure = draw.axes(_pictures.SIZE, "mean squared error", log="xy", caption=caption)
    for d, color, part in draw.each(here.mse, "d"):
        part = part.where(part > FLOOR)
        _pictures.learning(figure, part, "size", f"d = {int(d)}", color=color)
        _pictures.beside(figure, part, "size", -PREDICTED[teacher](int(d)), "predicted slopes")
    return figure


def _exponents(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "mse")
    caption = (
        "Exponents fitted over all sizes up to n_max, against the dimension, for targets as rough "
        "as the kernel (left) and smooth ones (right); dashed, what is predicted for large n."
    )
    panels = [TEACHERS[teacher] for teacher in PREDICTED]
    title = ("dimension d", "dimension d")
    figure = draw.axes(title, "exponent", caption=caption, panels=panels)
    for panel, (teacher, predicted) in enumerate(PREDICTED.items(), 1):
        errors = here.mse.sel(teacher=teacher).isel(scale=0).transpose("d", "seed", "size")
        errors = errors.dropna("d", how="all")
        n, d = errors["size"].values, errors.d.values.astype(float)
        for most, color in zip(n[2:], draw.shades(len(n) - 2), strict=True):
            found = [_slope(n, each[~np.isnan(each).any(1)], most) for each in errors.values]
            name = f"n up to {int(most)}"
            style = "lines+markers"
            draw.points(figure, d, found, name, mode=style, color=color, panel=panel)
        goal = [predicted(each) for each in d]
        draw.line(figure, d, goal, "predicted", color=draw.SOFT, dash="dash", panel=panel)
    return figure


FIGURES = {
    "Rough targets": partial(_curves, teacher="laplace", scale=0.0),
    "Smooth targets": partial(_curves, teacher="gaussian", scale=0.0),
    "Exponents and dimension": _exponents,
    "Rough targets, length 10": partial(_curves, teacher="laplace", scale=10.0),
    "Smooth targets, length 10": partial(_curves, teacher="gaussian", scale=10.0),
}
