"""N* against P, unfitted points per parameter against N/N*, and |f| against N - N*."""

from collections.abc import Iterator
from itertools import cycle

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.regimes.jamming import _scans as scans

COLORS = {"parity": draw.GREEN, "random": draw.ORANGE}
NAMES = {"parity": "digits, odd or even", "random": "random labels"}


def _needed(dataset: Data) -> Figure:
    caption = (
        "Number of weights from which most networks fit P points; the bars reach from the last "
        "width at which half of the runs end with more than N/10 points unfitted to the next. "
        "Labels at random need parameters in proportion to the points, digits fewer, and less for "
        "each further point: what has been learned already fits most of it."
    )
    x, y = (
        "training points P (number of points)",
        "parameters needed to fit, N* (number of weights)",
    )
    scan = scans.whole(dataset)
    figure = draw.axes(x, y, log="xy", ticks=scan.n_train, caption=caption)
    figure.update_yaxes(dtick="D2")
    for labels, stars in _stars(scan):
        p, middle, color = stars.p, stars.middle, COLORS[labels]
        style = {"mode": "lines+markers", "color": color}
        bracket = (middle - stars.low, stars.high - middle)
        draw.points(figure, p, middle, NAMES[labels], error=bracket, **style)
        if len(p) > 1:
            slope = 1.0 if labels == "random" else 0.75
            name = f"slope {slope:g} (paper)"
            draw.guide(figure, p, slope, (p[0], 0.75 * middle[0]), name, color=color)
    return figure


def _unfitted(dataset: Data) -> Figure:
    caption = (
        "How many points are short of their margin, for each weight, at the end of training; one "
        "mark per run, open where the run is dead (no gradient reaches its unfitted points). To "
        "the left of N* (dotted) many points are unfitted; at N* the number falls to zero from a "
        "finite value instead of fading, and below one per parameter (solid line): fewer "
        "constraints than parameters hold a jammed network."
    )
    x = "parameters over those needed, N/N* (no unit)"
    y = "unfitted points per parameter, N_Delta/N (no unit)"
    figure = draw.axes(x, y, log="x", caption=caption)
    figure.update_yaxes(rangemode="tozero")
    scan = scans.whole(dataset)
    symbols = dict(zip(scan.n_train.values, cycle(draw.SYMBOLS), strict=False))
    for labels, stars in _stars(scan):
        for p, middle in zip(stars.p, stars.middle, strict=True):
            runs = scans.cut(scan, labels, p).stack(run=("width", "seed"))
            dead = (runs.dead == 1).values
            draw.points(
                figure,
                runs.parameters.values / middle,
                runs.share.values,
                f"{NAMES[labels]}, P = {int(p)}",
                color=COLORS[labels],
                symbol=np.where(dead, f"{symbols[p]}-open", symbols[p]),
                opacity=0.7,
            )
    draw.level(figure, x=1, color=draw.INK)
    draw.level(figure, y=1, dash="solid")
    return figure


def _norms(dataset: Data) -> Figure:
    caption = (
        "Root mean square of the output on test points after training, medians over seeds, against "
        "the number of weights beyond the N* at which half of the runs fit. Networks that can only "
        "just fit do so with outputs far above the margin of 1 that is asked of them; "
        "[Geiger 2021b, eq. 9.3] expects |f| to diverge as 1/(N - N*) (dashed). Where exactly N* "
        "lies matters much for the leftmost points."
    )
    found = scans.norms(dataset)
    past = found.weights > found.star
    beyond, size = found.weights[past] - found.star, np.sqrt(found.square[past])
    x = "parameters beyond those needed, N - N* (weights)"
    y = "size of the output, |f| (units of the margin)"
    figure = draw.axes(x, y, log="xy", caption=caption)
    figure.update_yaxes(dtick="D2")
    name = f"digits, P = {found.p:.0f}, N* = {found.star:.0f}"
    factor = np.exp(found.error[past] / 2)
    bars = (size * (1 - 1 / factor), size * (factor - 1))
    style = {"mode": "lines+markers", "color": COLORS["parity"]}
    draw.points(figure, beyond, size, name, error=bars, **style)
    inside = found.window(found.star)[past]
    if inside.any():
        line = beyond[inside]
        level = float(np.exp(np.mean(np.log(size[inside] * line))))
        name = "slope -1 [Geiger 2021b], where 0.1 < N/N* - 1 < 3"
        draw.guide(figure, line, -1, (line[0], level / line[0]), name, color=draw.INK)
    return figure


def _stars(scan: Data) -> Iterator[tuple[str, scans.Stars]]:
    """Labels and their N*, of those whose scan holds one."""
    found = {labels: scans.n_star(scan, labels) for labels in COLORS}
    if not any(len(stars.p) for stars in found.values()):
        raise judge.Missing("no scan reaches from widths that jam to such that fit")
    return ((labels, stars) for labels, stars in found.items() if len(stars.p))


FIGURES = {
    "Parameters needed to fit": _needed,
    "Unfitted points at jamming": _unfitted,
    "Output near jamming": _norms,
}
