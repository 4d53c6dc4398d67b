"""Accuracy and distance against the number of images."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw
from regimes.studies.linearization._judging import settings

MODELS = {"network": ("network", draw.BLUE), "linear": ("linearisation", draw.ORANGE)}


def _panels(dataset: Data, name: str, y: str, caption: str, factor: float = 1.0) -> Figure:
    every = list(settings(dataset, *(f"{name}_{model}" for model in MODELS)))
    panels = [where for where, _ in every]
    figure = draw.axes("training images", y, panels=panels, log="x", caption=caption)
    for panel, (_, own) in enumerate(every, 1):
        for model, (told, color) in MODELS.items():
            values = factor * own[f"{name}_{model}"]
            draw.curve(figure, values, "n_train", told, color=color, panel=panel)
    return figure


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Test accuracy on the images' own labels against the number of training images, mean over "
        "seeds with standard errors: with more images the network errs less and less beside its "
        "linearisation."
    )
    return _panels(dataset, "accuracy", "test accuracy (%)", caption, 100.0)


def _distance(dataset: Data) -> Figure:
    caption = "How far the parameters are from their start after training: more images, farther."
    return _panels(dataset, "distance", "|theta - theta_0|", caption)


FIGURES = {"Accuracy against images": _accuracy, "Distance against images": _distance}
