"""Accuracy against the number of chains, and against the width of the CNN."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.equivariance.proteins import MODELS

_NAMES = {"steerable": "steerable", "cnn": "CNN", "cnn/4": "CNN, 1/4", "cnn/16": "CNN, 1/16"}


def _chains(dataset: Data) -> Figure:
    caption = (
        "Accuracy on chains in random orientations against the number of training chains of every "
        "class; dotted: each training chain is shown in one orientation only."
    )
    figure = draw.axes("chains of a class", "accuracy", log="x", caption=caption)
    for model, color in zip(MODELS, draw.COLORS, strict=False):
        for turned, dash in ((True, "solid"), (False, "dot")):
            try:
                at = judge.need(dataset, "accuracy", model=model, turned=turned)
            except judge.Missing:
                continue
            name = _NAMES[model] + ("" if turned else ", not turned")
            draw.curve(figure, at.accuracy, "per_class", name, color=color, dash=dash)
    return figure


def _sizes(dataset: Data) -> Figure:
    caption = (
        "Accuracy on chains in random orientations against the number of parameters of the "
        "network, at the largest number of training chains; bars are standard errors over seeds."
    )
    figure = draw.axes("parameters", "accuracy", log="x", caption=caption)
    largest = int(judge.need(dataset, "accuracy").per_class.max())
    for model, color in zip(MODELS, draw.COLORS, strict=False):
        place = {"model": model, "per_class": largest, "turned": True}
        try:
            at = judge.where_ran(dataset, "seed", "accuracy", **place)
        except judge.Missing:
            continue
        found = judge.mean_of(at.accuracy.values)
        parameters = float(at.parameters.values[0])
        draw.points(
            figure, [parameters], [found.value], _NAMES[model], error=[found.error], color=color,
            size=9,
        )  # fmt: skip
    return figure


FIGURES = {"Training chains": _chains, "Size of the network": _sizes}
