"""Errors against the channels."""

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.landscape.cnn._claims import curves


def _errors(dataset: Data) -> Figure:
    blocks = set(judge.need(dataset, "error").block.values)
    own = curves(dataset, "longer" if "longer" in blocks else "main")
    caption = (
        "Training error, test error of single networks and of ensembles (the mean output of "
        "several) against the channels f of a convolutional network on CIFAR-10. Single networks "
        "go on improving long after they fit all training points; an ensemble gains most where "
        "they just fit."
    )
    figure = draw.axes("channels f", "error (%)", log="x", ticks=own.channels, caption=caption)
    for name, told, color in (
        ("train_error", "training", draw.SLATE),
        ("error", "test, single networks", draw.ORANGE),
    ):
        draw.curve(figure, 100 * own[name], "channels", told, color=color)
    draw.curve(
        figure,
        100 * own.group_error,
        "channels",
        "test, ensembles",
        draws="group",
        color=draw.BLUE,
    )
    return figure


FIGURES = {"Errors against the channels": _errors}
