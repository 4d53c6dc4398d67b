"""Error and R_f from scratch and after other images."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations.transfer import STARTS

_NAMES = ("from scratch", "tuned slowly", "tuned at the rate of a fresh start")


def _both(dataset: Data) -> Figure:
    at = judge.where_ran(dataset, "seed", "R")
    caption = (
        "Test error on Fashion-MNIST against relative stability R_f of small ResNets that learned "
        "1,000 of its images from scratch, or after they had learned the digits of MNIST, slowly "
        "or at the same rate. Every mark is a network."
    )
    figure = draw.axes("R_f", "test error", log="xy", caption=caption)
    for k in range(len(STARTS)):
        x, y = (at[name].isel(start=k).values for name in ("R", "error"))
        draw.points(figure, x, y, _NAMES[k], color=draw.COLORS[k], size=9)
    return figure


FIGURES = {"Error and stability after transfer": _both}
