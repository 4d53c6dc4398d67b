"""Amplification in time, and against the number of points [Paccolat 2021, fig. 5]."""

from itertools import cycle

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.compression._attractors import fastest_attractor
from regimes.studies.compression.amplification._claims import TIMES


def _in_time(dataset: Data) -> Figure:
    caption = (
        "The informative direction is amplified exponentially, then sampling noise in the other "
        "directions stops it: a plateau, reached before the first points are fitted at t*. After "
        "t* the network fits points near the interfaces and Λ rises and fluctuates, without harm."
    )
    figure = draw.axes("time t / t*", "amplification Λ", log="y", caption=caption)
    followed = (
        judge.need(dataset, "course").course.stack(place=("d", "p")).dropna("place", how="all")
    )
    for k, color in zip(range(followed.sizes["place"]), cycle(draw.COLORS), strict=False):
        course = followed.isel(place=k)
        for _, _, run in draw.each(course, "seed"):
            draw.line(figure, TIMES, run, "single runs", color=draw.SOFT, width=1, opacity=0.5)
        name = f"d = {int(course.d)}, p = {int(course.p)}, geometric mean"
        draw.line(figure, TIMES, np.exp(np.log(course).mean("seed")), name, color=color, width=3)
    draw.level(figure, x=1.0, text="t*")
    return figure


def _against_p(dataset: Data) -> Figure:
    caption = (
        "Amplification of the informative direction when the first points are fitted, against the "
        "number of training points. It grows as their square root, as the theory of the fastest "
        "fixed point with sampling noise predicts without a free parameter (dashed)."
    )
    title = "amplification Λ* at t*"
    figure = draw.axes("training points p", title, log="xy", caption=caption)
    for d, color, here in draw.each(judge.need(dataset, "amplification"), "d"):
        name, style = f"d = {d}, median and quartiles", {"color": color, "mode": "markers"}
        found = draw.curve(figure, here.amplification, "p", name, center="median", size=9, **style)
        fastest, p = fastest_attractor(d), here.p.values[np.isfinite(found)]
        predicted = [rg.theory.median_amplification(fastest, int(each)) for each in p]
        draw.line(figure, p, predicted, f"d = {d}, theory (no fit)", color=color, dash="dash")
    return figure


FIGURES = {
    "Amplification in time": _in_time,
    "Amplification against the number of points": _against_p,
}
