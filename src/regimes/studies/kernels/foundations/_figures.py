"""Spectra, the generic formula, smoothness of fields."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, ran


def _spectra(dataset: Data) -> Figure:
    at = ran(dataset, "spectra")
    caption = (
        "Exact eigenvalues of the Laplace kernel on the circle and on the sphere S^2 in decreasing "
        "order. Grey: slopes -(d+1)/d, which are -2 and -3/2."
    )
    figure = draw.axes("rank", "eigenvalue", log="xy", caption=caption)
    rank = at.spectrum_rank.values.astype(float)
    for name, d, color in (("circle", 1, draw.BLUE), ("sphere", 2, draw.ORANGE)):
        values = at[f"{name}_eigenvalue"].values
        draw.points(figure, rank, values, name, color=color)
        draw.guide(figure, rank, -(d + 1) / d, (rank[0], 1.5 * values[0]), "slope -(d+1)/d")
    return figure


def _formula(dataset: Data) -> Figure:
    at = ran(dataset, "simulation")
    caption = (
        "Error of regression on random points, averaged over fields, against n: simulation "
        "(marks, medians over draws) and the generic formula with exact spectra (lines). On the "
        "sphere they nearly agree; on the circle the formula has the right slope and too small a "
        "prefactor, as gaps between points vary there."
    )
    figure = draw.axes("training points n", "mean squared error", log="xy", caption=caption)
    names = ("S^2, Laplace", "circle, Laplace", "circle, Matern 1", "circle, Matern 4")
    n = at.simulated_n.values
    for k, (name, color) in enumerate(zip(names, draw.COLORS, strict=False)):
        found = np.median(at.simulated.isel(simulated_case=k).transpose("seed", ...).values, 0)
        draw.points(figure, n, found, name, color=color)
        draw.line(figure, n, at.formula.isel(simulated_case=k).values, color=color)
    return figure


def _differences(dataset: Data) -> Figure:
    at = ran(dataset, "smoothness")
    caption = (
        "Variance of second differences of Matern fields over a step, against the step in units of "
        "the length: the slope is min(2 nu, 4), so that it counts mean-square derivatives."
    )
    figure = draw.axes("step / length", "variance of differences", log="xy", caption=caption)
    variance = at.difference_variance.transpose("field", "difference", "step_size").values
    for nu, row, color in zip(at.nu.values, variance[:, -1], draw.COLORS, strict=False):
        mark = {"mode": "lines+markers", "color": color}
        draw.points(figure, at.step.values, row, f"nu = {nu:g}", **mark)
    return figure


FIGURES = {
    "Exact spectra": _spectra,
    "Formula and simulation": _formula,
    "Smoothness of fields": _differences,
}
