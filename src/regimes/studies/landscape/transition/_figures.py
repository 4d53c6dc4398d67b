"""N* against P, the map of N and P, N* in the course of training, ranks of H0."""

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, judge, rows
from regimes.studies.landscape.transition import _scans as scans

X = "training points P (number of points)"
Y = "weights needed to fit, N* (number of weights)"
LINES: tuple[tuple[str, dict[str, Any], str], ...] = (  # block, settings, name
    ("size", {}, "random labels, L = 2, d = 10"),
    ("depth", {"depth": 2}, "random labels, L = 2, d = h"),
    ("depth", {"depth": 3}, "random labels, L = 3, d = h"),
    ("dimension", {"inputs": 8}, "random labels, d = 8"),
    ("dimension", {"inputs": 16}, "random labels, d = 16"),
    ("dimension", {"inputs": 24}, "random labels, d = 24"),
    ("parity", {"depth": 2}, "digits, L = 2"),
    ("parity", {"depth": 1}, "digits, L = 1"),
    ("parity", {"depth": 3}, "digits, L = 3"),
    ("large", {"depth": 2}, "random labels, L = 2, d = h"),
    ("large", {"depth": 3}, "random labels, L = 3, d = h"),
    ("large", {"depth": 5}, "random labels, L = 5, d = h"),
)


def _needed(dataset: Data) -> Figure:
    caption = (
        "Number of weights from which networks fit P points; bars reach from the last size at "
        "which half of the runs end with more than N/10 unmet points to the next. Random labels "
        "need weights in proportion to the points, with any depth or number of inputs; digits need "
        "fewer. No network may need more than 4 P (solid line)."
    )
    figure = draw.axes(X, Y, log="xy", caption=caption)
    shown = 0
    for k, (block, settings, name) in enumerate(LINES):
        try:
            found = scans.stars(dataset, block, **settings)
        except judge.Missing:
            continue
        p, n = (
            np.array(each) for each in zip(*((s.points, s.found.n) for s in found), strict=True)
        )
        low, high = np.array([each.found.bracket for each in found]).T
        style = {"mode": "lines+markers", "color": draw.COLORS[k % len(draw.COLORS)]}
        draw.points(figure, p, n, name, error=(n - low, high - n), **style)
        shown += 1
    if not shown:
        raise judge.Missing("no scan reaches from widths that jam to such that fit")
    ends = np.array([200.0, 2500.0])
    draw.guide(figure, ends, 1, (ends[0], 0.4 * ends[0]), "slope 1", color=draw.INK)
    draw.line(figure, ends, 4 * ends, "bound N* = 4 P", color=draw.INK)
    return figure


def _map(dataset: Data) -> Figure:
    caption = (
        "Share of the runs that fit, for every number of weights and of points: random labels, two "
        "hidden layers, ten inputs. The line is N*, where half of the runs fit."
    )
    table = rows(dataset, "map")
    weights, points = (np.unique(table[name].values) for name in ("weights", "n_train"))
    fitted = np.full((table.sizes["seed"], len(weights), len(points)), np.nan)
    for k in range(table.sizes["trial"]):
        one = table.isel(trial=k)
        i = int(np.searchsorted(weights, one.weights.item()))
        j = int(np.searchsorted(points, one.n_train.item()))
        known = one.classes.notnull() & (one.classes != scans.DEAD)
        fitted[:, i, j] = (one.classes <= 1).astype(float).where(known).values
    found = rg.measure.fit_map(weights, points, fitted)
    import xarray as xr

    share = xr.DataArray(found.share, {"n": weights, "p": points}, ("n", "p"))
    figure = draw.axes(X, "number of weights N", log="xy", caption=caption, ticks=points)
    draw.heat_map(figure, share, "p", "n", "share that fits")
    known = np.isfinite(found.star)
    style = {"mode": "lines+markers", "color": draw.RED}
    draw.points(figure, points[known], found.star[known], "N*", **style)
    return figure


def _in_time(dataset: Data) -> Figure:
    caption = (
        "The same scan of widths read at several moments of the training: N* falls while the "
        "networks train and settles. Bars are the brackets."
    )
    known = []
    for moment in judge.need(dataset, "unfitted_at").moment.values:
        try:
            known.append((moment, scans.star(dataset, "time", moment=int(moment))))
        except judge.Missing:
            continue
    if not known:
        raise judge.Missing("no moment at which the widths hold a transition")
    t = np.array([moment for moment, _ in known], dtype=float)
    n = np.array([each.found.n for _, each in known])
    low, high = np.array([each.found.bracket for _, each in known]).T
    figure = draw.axes("steps of Adam (number of steps)", Y, log="xy", caption=caption)
    style = {"mode": "lines+markers", "color": draw.ORANGE}
    draw.points(figure, t, n, "random labels, P = 1000", error=(n - low, high - n), **style)
    return figure


def _ranks(dataset: Data) -> Figure:
    caption = (
        "Rank of the Gauss-Newton part H0 of the Hessian at the end of training, as a share of all "
        "parameters; one mark per run. Far below N* (dotted) the unmet points hold nearly every "
        "direction, at N* a finite share of them, beyond it none."
    )
    star = scans.star(dataset, "rank")
    figure = draw.axes(
        "number of weights N", "rank of H0 over parameters (no unit)", caption=caption
    )
    runs = star.runs
    n = np.broadcast_to(runs.weights.values, (runs.sizes["seed"], runs.sizes["trial"]))
    rank = runs["rank"].transpose("seed", "trial").values
    draw.points(figure, n.ravel(), rank.ravel(), "runs", color=draw.BLUE, opacity=0.6)
    draw.level(figure, x=star.found.n)
    return figure


FIGURES = {
    "Weights needed to fit": _needed,
    "The map of weights and points": _map,
    "N* in the course of training": _in_time,
    "Rank of H0": _ranks,
}
