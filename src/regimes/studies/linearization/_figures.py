"""Both models against the index of the eigenfunction."""

from __future__ import annotations

from regimes.lab import Data, Figure, Values, draw
from regimes.studies.linearization._judging import settings

PERCENT, INDEX = "test accuracy (%)", "j, counted from 1"
MODELS = {"network": draw.BLUE, "linear": draw.ORANGE}
TOLD = {"network": "network", "linear": "linearisation"}


def _against_index(own: Data, name: str) -> Values:
    """One variable against j + 1, without the images' own labels."""
    return own[name].sel(index=own.index >= 0).assign_coords(index=own.index[own.index >= 0] + 1)


def panels(
    dataset: Data, variables: dict[str, str], y: str, caption: str, log: str, optimiser: str
) -> Figure:
    """One panel for each kind of images and network; variable -> model."""
    every = list(settings(dataset, *variables, optimiser=optimiser))
    figure = draw.axes(
        INDEX,
        y,
        panels=[where for where, _ in every],
        log=log,
        caption=caption,
        columns=min(3, len(every)),
    )
    for panel, (_, own) in enumerate(every, 1):
        for name, model in variables.items():
            values = _against_index(own, name)
            scaled = 100 * values if name.startswith("accuracy") else values
            draw.curve(figure, scaled, "index", TOLD[model], color=MODELS[model], panel=panel)
            if name.startswith("accuracy") and -1 in own.index:
                level = 100 * float(own[name].sel(index=-1).mean())
                draw.level(figure, y=level, color=MODELS[model], panel=panel)
    return figure
