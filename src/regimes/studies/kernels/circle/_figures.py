"""Learning curves of Matern fields on the circle."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels.circle._claims import FLOOR


def _curves(dataset: Data) -> Figure:
    here = judge.where_ran(dataset, "seed", "mse")
    caption = (
        "Squared error of regression with a Laplace kernel on the circle, averaged over Matern "
        "fields of smoothness nu; medians over draws of the points, bars hold the middle half. "
        "Grey: the slopes min(2 nu, 4)."
    )
    figure = draw.axes(_pictures.SIZE, "mean squared error", log="xy", caption=caption)
    for nu, color, part in draw.each(here.mse, "nu"):
        part = part.where(part > FLOOR)
        _pictures.learning(figure, part, "size", f"nu = {nu:g}", color=color)
        _pictures.beside(figure, part, "size", -min(2 * float(nu), 4.0), "predicted slopes")
    return figure


FIGURES = {"Smoothness": _curves}
