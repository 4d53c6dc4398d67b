"""Accuracy, steps and distances of both models against the index of the eigenfunction."""

from __future__ import annotations

from regimes.lab import Data, Figure, draw
from regimes.studies.linearization._figures import INDEX, MODELS, PERCENT, panels
from regimes.studies.linearization._judging import settings


def _accuracy(optimiser: str) -> object:
    def figure(dataset: Data) -> Figure:
        caption = (
            "Test accuracy on the sign of eigenfunction j of the tangent kernel at the start, "
            "mean over seeds with standard errors. Both models find later eigenfunctions harder, "
            "and the linearisation is ahead on most. Dotted: the same models on the images' own "
            "labels."
        )
        variables = {f"accuracy_{model}": model for model in MODELS}
        return panels(dataset, variables, PERCENT, caption, "x", optimiser)

    return figure


def _steps(dataset: Data) -> Figure:
    caption = (
        "Steps of SGD until the training loss of the network is 0.01, looked at after every "
        "epoch; means over the seeds that got there. Later eigenfunctions take longer."
    )
    return panels(
        dataset,
        {"until_low_network": "network"},
        "steps to a loss of 0.01",
        caption,
        "xy",
        "momentum",
    )


def _distance(dataset: Data) -> Figure:
    caption = (
        "How far the parameters are from their start after training, in Euclidean distance. Both "
        "models go farther for later eigenfunctions."
    )
    variables = {f"distance_{model}": model for model in MODELS}
    return panels(dataset, variables, "|theta - theta_0|", caption, "xy", "momentum")


def _cosine(dataset: Data) -> Figure:
    caption = (
        "How far they have turned: one minus the cosine between the parameters after training and "
        "those of the start. It grows with j, more so for the network."
    )
    variables = {f"cosine_{model}": model for model in MODELS}
    return panels(dataset, variables, "cosine distance", caption, "xy", "momentum")


def _norms(dataset: Data) -> Figure:
    caption = (
        "Squared norm of sign(phi_j) in the kernel's function space (blue), which orders tasks by "
        "difficulty, and the lower bound from the alignment alone (orange), which is loose."
    )
    every = list(settings(dataset, "norm", "lower_bound"))
    figure = draw.axes(
        INDEX,
        "squared norm",
        panels=[w for w, _ in every],
        log="xy",
        caption=caption,
        columns=min(3, len(every)),
    )
    for panel, (_, own) in enumerate(every, 1):
        places = own.mode.values + 1
        for name, told, color in (
            ("norm", "norm", draw.BLUE), ("lower_bound", "lower bound", draw.ORANGE)
        ):  # fmt: skip
            draw.line(figure, places, own[name].mean("seed").values, told, color=color, panel=panel)
    return figure


FIGURES = {
    "Accuracy on eigenfunctions": _accuracy("momentum"),
    "Steps to a low loss": _steps,
    "Distance travelled": _distance,
    "Angle travelled": _cosine,
    "Accuracy with Adam": _accuracy("adam"),
    "Norms of the targets": _norms,
}
