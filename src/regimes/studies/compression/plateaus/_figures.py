"""Both plateaus with their predictions."""

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression.plateaus._claims import predicted_slope


def _plateaus(dataset: Data) -> Figure:
    caption = (
        "Left: the time until a tenth of the points is fitted. At small alpha the weights grow "
        "exponentially first, so t* grows only as log(1/alpha), at the rate that the fastest fixed "
        "point of a neuron predicts (dotted, one point matched). At large alpha it is the frozen "
        "kernel's (dashed, nothing fitted). Right: how much the informative direction is amplified "
        "by then: a plateau for alpha -> 0, limited by the number of points, and 1 in the lazy "
        "regime. Mean and standard error over seeds."
    )
    panels = ("t* in units of tau", "amplification Λ at t*")
    figure = draw.axes("alpha", "", log="xy", panels=panels, legend="below", caption=caption)
    figure.update_xaxes(dtick=4)
    ran = judge.where_ran(dataset, "p", "t_star").sortby("alpha")
    for p, color, here in draw.each(ran, "p"):
        draw.curve(figure, here.t_star, "alpha", f"p = {p}", color=color)
        draw.curve(figure, here.amplification, "alpha", f"p = {p}", color=color, panel=2)
    first, alpha = ran.isel(p=0).mean("seed"), ran.alpha.values
    small, large = alpha[alpha <= 1e-4], alpha[alpha >= 0.1]
    if len(small):
        matched = judge.nearest(first, alpha=1e-6)
        rise = predicted_slope(ran) * np.log(float(matched.alpha) / small)
        name = "slope of the fastest fixed point"
        draw.line(figure, small, float(matched.t_star) + rise, name, color=draw.INK, dash="dot")
    if len(large):
        frozen = float(first.frozen_t_star) / large
        draw.line(figure, large, frozen, "frozen kernel, 1/alpha", color=draw.INK, dash="dash")
    return figure


FIGURES = {"Time to fit, and amplification by then": _plateaus}
