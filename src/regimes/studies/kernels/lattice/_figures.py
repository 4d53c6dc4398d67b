"""Errors on lattices with their local slopes."""

from __future__ import annotations

from functools import partial

import numpy as np

import regimes as rg
from regimes.lab import Data, Figure, draw, ran
from regimes.studies.kernels.lattice._claims import slopes

PLACES = {1: "line", 2: "plane", 3: "space"}


def _slopes(dataset: Data, d: int) -> Figure:
    at, name = ran(dataset, "theorem"), PLACES[d]
    caption = (
        f"Local slopes of the exact error on lattices of N^{d} points, from each N to the next, "
        "for targets and kernels whose spectra fall with exponents (alpha_T, alpha_S). Dashed: "
        "min(alpha_T - d, 2 alpha_S)."
    )
    figure = draw.axes("points N along a direction", "slope in N", log="x", caption=caption)
    found, N = slopes(at[f"{name}_error"], at[f"{name}_N"]), at[f"{name}_N"].values
    middle = np.sqrt(N[:-1] * N[1:])
    cases = zip(at[f"{name}_teacher"].values, at[f"{name}_student"].values, strict=True)
    for (teacher, student), row, color in zip(cases, found, draw.COLORS, strict=False):
        told = f"({teacher:g}, {student:g})"
        draw.points(figure, middle, row, told, mode="lines+markers", color=color)
        goal = d * rg.theory.beta(float(teacher), float(student), d)
        draw.level(figure, y=goal, color=color, dash="dash")
    return figure


def _logarithm(dataset: Data) -> Figure:
    at = ran(dataset, "relations")
    caption = (
        "Local slopes where roughness of the target and of the kernel set the same exponent, 4: a "
        "logarithm keeps them below it at every N that can be reached."
    )
    figure = draw.axes("points N", "slope in N", log="x", caption=caption)
    N = at.N.values
    middle, found = np.sqrt(N[:-1] * N[1:]), slopes(at.log_error, at.N)
    draw.points(figure, middle, found, "(5, 2)", mode="lines+markers", color=draw.BLUE)
    draw.level(figure, y=4.0, text="predicted")
    return figure


def _tails(dataset: Data) -> Figure:
    at = ran(dataset, "relations")
    caption = (
        "Error on a lattice over the power of the target in modes that the lattice cannot see. A "
        "constant, pi^2/6, where the target's roughness limits (2, 2); it grows where the kernel's "
        "does (8, 2), whose error comes from modes that the lattice does see."
    )
    figure = draw.axes("points N", "error / power above N/2", log="xy", caption=caption)
    ratio = (at.tail_error / at["tail"]).transpose("tail_case", "size").values
    for row, name, color in zip(ratio, ("(2, 2)", "(8, 2)"), draw.COLORS, strict=False):
        draw.points(figure, at.N.values, row, name, mode="lines+markers", color=color)
    draw.level(figure, y=float(np.pi**2 / 6))
    return figure


FIGURES = {
    **{f"Slopes, d = {d}": partial(_slopes, d=d) for d in PLACES},
    "Where both limit": _logarithm,
    "Error and unseen modes": _tails,
}
