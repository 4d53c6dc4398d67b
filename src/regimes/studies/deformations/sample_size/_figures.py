"""R_f, D_f, G_f and the error against the number of training images."""

from __future__ import annotations

from regimes.lab import Data, Figure, Values, draw, judge
from regimes.studies.deformations._networks import LABELS
from regimes.studies.deformations._runs import END, START


def _curves(dataset: Data, name: str, when: int = END) -> list[tuple[str, Values]]:
    found = []
    for network in judge.need(dataset, name).network.values:
        try:
            at = judge.where_ran(dataset, "n_train", name, network=network)
        except judge.Missing:
            continue
        values = at[name].isel(when=when) if "when" in at[name].dims else at[name]
        values = values.dropna("n_train", how="any")
        if values.size:
            found.append((LABELS[str(network)], values))
    if not found:
        raise judge.Missing("no network has run with all seeds")
    return found


def _stability(dataset: Data) -> Figure:
    caption = (
        "Relative stability R_f against the number of training images P, at the same number of "
        "steps for all. Dashed before training. Convolutional networks with skips become blind to "
        "deformations as they see more images; a slope of -1 (grey) is the paper's for ResNets. "
        "Geometric means over networks with standard errors."
    )
    figure = draw.axes("training images P", "R_f", log="xy", caption=caption)
    for when, dash in ((START, "dash"), (END, "solid")):
        for (name, values), color in zip(_curves(dataset, "R", when), draw.COLORS, strict=False):
            told = f"{name}, before" if when == START else name
            middle = draw.curve(
                figure, values, "n_train", told, color=color, dash=dash, center="geometric"
            )
    P = values.n_train.values.astype(float)
    draw.guide(figure, P, -1.0, (P[-1], 0.6 * float(middle[-1])), "1/P")
    draw.level(figure, y=1.0)
    return figure


def _apart(dataset: Data) -> Figure:
    caption = (
        "What R_f = D_f/G_f is made of, against the number of training images. Left D_f, the "
        "change under deformations; right G_f, the change under noise of the same size, both over "
        "the change between images. Functions that fit more images are rougher: G_f grows. "
        "Geometric means over networks with standard errors."
    )
    panels = ("deformations", "noise")
    figure = draw.axes(
        "training images P", ("D_f", "G_f"), log="xy", panels=panels, caption=caption,
        legend="below", height=480,
    )  # fmt: skip
    for panel, letter in enumerate("DG", start=1):
        for (name, values), color in zip(_curves(dataset, letter), draw.COLORS, strict=False):
            draw.curve(
                figure, values, "n_train", name, panel=panel, color=color, center="geometric"
            )
    return figure


def _trajectories(dataset: Data) -> Figure:
    caption = (
        "Test error against R_f as the number of training images grows (from right to left). Every "
        "mark is a training-set size, geometric means over networks: more images move all networks "
        "down one curve."
    )
    figure = draw.axes("R_f", "test error", log="xy", caption=caption)
    pairs = zip(_curves(dataset, "R"), _curves(dataset, "error"), draw.COLORS, strict=False)
    for (name, R), (_, error), color in pairs:
        x, y = (
            draw.centred(each.transpose("seed", "n_train").values, "geometric")[0]
            for each in (R, error)
        )
        draw.points(figure, x, y, name, mode="lines+markers", color=color, size=8)
    return figure


FIGURES = {
    "Relative stability and training images": _stability,
    "Deformations and noise apart": _apart,
    "Error and relative stability": _trajectories,
}
