"""Modes and contacts of packings."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.packings import MODES


def _modes(dataset: Data) -> Figure:
    caption = (
        "Density of the frequencies, roots of the eigenvalues of the Hessian, of packings of soft "
        "discs at several energies above jamming. At jamming soft modes go on down to almost zero; "
        "with more overlap the plateau ends at a frequency that rises."
    )
    data = judge.need(dataset, "modes").sortby("energy")
    figure = draw.axes("frequency", "density", log="xy", caption=caption)
    edges = np.geomspace(*MODES, 10 * round(np.log10(MODES[1] / MODES[0])) + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    for energy, color, own in draw.each(data, "energy"):
        counts = np.nansum(own.modes.transpose("seed", "packing", "frequency").values, (0, 1))
        density = counts / max(counts.sum(), 1) / np.diff(edges)
        seen = counts > 3
        draw.line(figure, middle[seen], density[seen], f"U/n = {energy:.0e}", color=color)
    return figure


def _contacts(dataset: Data) -> Figure:
    caption = (
        "Contacts beyond the isostatic number against the energy per disc, a point for every "
        "packing. At jamming there are none: the number of contacts is that of the degrees of "
        "freedom, and one more."
    )
    own = judge.need(dataset, "contacts")
    figure = draw.axes("U/n", "contacts / isostatic contacts", log="x", caption=caption)
    rest = own.converged.values == 1
    share = (own.contacts / (own.freedom + 1)).values[rest]
    draw.points(figure, own.overlap_energy.values[rest], share, "packings", size=5)
    draw.level(figure, y=1.0, text="isostatic")
    return figure


FIGURES = {"Modes of packings": _modes, "Contacts of packings": _contacts}
