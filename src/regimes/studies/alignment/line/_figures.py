"""Modes on a line."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge

INIT = "torch_default"


def _map(dataset: Data) -> Figure:
    at = judge.need(dataset, "magnitudes", init=INIT)
    caption = (
        "Size of the Fourier modes (upwards, cycles over the line) of every eigenvector (across, "
        "by rank) of the centred tangent kernel of one random deep network: the ordered half are "
        "single waves whose frequency rises with the rank."
    )
    figure = draw.axes("rank of the eigenvector", "frequency", caption=caption)
    values = at.magnitudes.assign_coords(
        rank=np.arange(1, at.sizes["rank"] + 1), frequency=np.arange(at.sizes["frequency"])
    )
    draw.heat_map(figure, values, "rank", "frequency", "size")
    return figure


def _vectors(dataset: Data) -> Figure:
    at = judge.need(dataset, "vectors", init=INIT)
    caption = "Eigenvectors 1, 6 and 21 of that kernel, counted by eigenvalue from the largest."
    caption += " They are waves, the slow ones first."
    figure = draw.axes("x", "eigenvector", caption=caption)
    x = np.linspace(0, 1, at.sizes["place"])
    for row, rank, color in zip(at.vectors.values, (1, 6, 21), draw.COLORS, strict=False):
        if np.isfinite(row).all():
            draw.line(figure, x, row, f"rank {rank}", color=color)
    return figure


def _spectra(dataset: Data) -> Figure:
    caption = (
        "Eigenvalues relative to the largest, medians over seeds with bars over the middle half: "
        "centred and not, for two ways to start the weights."
    )
    figure = draw.axes("rank", "eigenvalue / largest", log="xy", caption=caption)
    for init, color, at in draw.each(judge.need(dataset, "values_centred"), "init"):
        for name, dash in (("centred", "solid"), ("plain", "dot")):
            values = at[f"values_{name}"]
            shares = values / values.isel(rank=0)
            x = np.arange(1, shares.sizes["rank"] + 1)
            shares = shares.where(shares > 1e-12)
            draw.curve(
                figure,
                shares,
                "rank",
                f"{init}, {name}",
                x=x,
                center="median",
                color=color,
                dash=dash,
            )
    return figure


FIGURES = {
    "Frequencies of the eigenvectors": _map,
    "Eigenvectors": _vectors,
    "Eigenvalues": _spectra,
}
