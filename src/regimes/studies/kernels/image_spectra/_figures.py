"""Tails of spectra on top of learning curves, and eigenvalues that converge."""

from __future__ import annotations

from functools import partial

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, judge
from regimes.studies.kernels import _pictures
from regimes.studies.kernels._pixels import TITLES


def _tails(dataset: Data, task: str) -> Figure:
    here = judge.where_ran(dataset, "seed", "tail", task=task)
    caption = (
        f"{TITLES[task]}. Power of the label beyond the n-th eigenvector of Grams of several sizes "
        "(means over draws), and the squared error of regression on n images, moved vertically to "
        "begin on the longest tail: they fall alike, so a spectrum tells the exponent."
    )
    figure = draw.axes("rank, or training images n", "power", log="xy", caption=caption)
    last = None
    for points, color, part in draw.each(here["tail"], "points"):
        kept = part.dropna("rank", how="all")
        if not kept.sizes["rank"]:
            continue
        chosen = np.unique(np.geomspace(1, kept.sizes["rank"], 60).round().astype(int)) - 1
        last = kept.isel(rank=chosen).mean("seed")
        name = f"tail, {int(points)} images"
        draw.line(figure, last["rank"].values, last.values, name, color=color)
    curve = here.mse.dropna("size", how="all")
    if last is not None and curve.sizes["size"]:
        first = float(curve["size"].min())
        place = np.interp(first, last["rank"].values, last.values)
        moved = curve * (place / float(curve.isel(size=0).median()))
        _pictures.learning(figure, moved, "size", "error of regression, moved", color=draw.RED)
    return figure


def _ratios(dataset: Data, task: str) -> Figure:
    here = judge.where_ran(dataset, "seed", "eigenvalue", task=task)
    top = here.eigenvalue.dropna("points", how="all").isel(points=-1)
    caption = (
        f"{TITLES[task]}. Eigenvalues of Grams of growing size over those of the largest, every "
        "tenth of the first hundred: where they reach 1 the spectrum has converged. High ranks "
        "need more images."
    )
    figure = draw.axes("images in the Gram", "eigenvalue over the last", log="x", caption=caption)
    ranks = [r for r in (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100) if r in here["rank"].values]
    for rank, color in zip(ranks, draw.shades(len(ranks)), strict=True):
        ratio = (here.eigenvalue / top).sel(rank=rank)
        _pictures.learning(figure, ratio, "points", f"rank {rank}", color=color)
    draw.level(figure, y=1.0)
    return figure


def _density(dataset: Data) -> Figure:
    caption = (
        "Density of the eigenvalues of the largest Gram of Laplace kernels, times lambda to the "
        "power theta = 1 + d/(d+1) with effective dimensions d = 15 (MNIST) and 35 (CIFAR-10): "
        "level where the density is that of a kernel on a space of d dimensions."
    )
    title = "density of eigenvalues x lambda^theta"
    figure = draw.axes("eigenvalue lambda", title, log="xy", caption=caption)
    for task, d, color in (("mnist", 15, draw.BLUE), ("cifar10", 35, draw.ORANGE)):
        here = judge.where_ran(dataset, "seed", "eigenvalue", task=task)
        kept = here.eigenvalue.dropna("points", how="all").isel(points=-1)
        values = kept.dropna("rank", how="all").values
        values = values[np.isfinite(values) & (values > 0)]
        bins = np.geomspace(values.min(), values.max(), 25)
        counts, _ = np.histogram(values, bins)
        middle = np.sqrt(bins[:-1] * bins[1:])
        seen = counts > 0
        height = counts / np.diff(bins) * middle ** rg.theory.density_exponent(d + 1, d)
        mark = {"color": color, "mode": "lines+markers"}
        draw.points(figure, middle[seen], height[seen], f"{task}, d = {d}", **mark)
    return figure


FIGURES = {
    "MNIST: tail and curve": partial(_tails, task="mnist"),
    "CIFAR-10: tail and curve": partial(_tails, task="cifar10"),
    "CIFAR-10, another split": partial(_tails, task="cifar10-other"),
    "MNIST: eigenvalues": partial(_ratios, task="mnist"),
    "CIFAR-10: eigenvalues": partial(_ratios, task="cifar10"),
    "Density of eigenvalues": _density,
}
