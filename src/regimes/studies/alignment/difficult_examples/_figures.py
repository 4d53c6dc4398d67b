"""Alignment on easy and difficult points, and their ratio."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Figure, draw, judge

KINDS = {
    "random": "random labels",
    "shuffled": "pixels in another order",
    "kmnist": "images of another kind",
}


def _curves(figure: Figure, at: Data, name: str, label: str, panel: int, **options: str) -> None:
    steps = np.maximum(at.steps.isel(seed=0).values.astype(float), 1)
    draw.curve(figure, at[name], "point", label, x=steps, mode="lines", panel=panel, **options)


def _places(dataset: Data) -> list[tuple[str, int, Data]]:
    found = []
    for kind in judge.need(dataset, "steps").kind.values:
        for depth in dataset.depth.values:
            at = dataset.sel(kind=kind, depth=depth).dropna("seed", how="all", subset=["steps"])
            if at.sizes["seed"]:
                at = at.dropna("point", how="all", subset=["steps"])
                found.append((str(kind), int(depth), at))
    return found


def _figure(dataset: Data, y: str, caption: str, names: dict[str, str]) -> Figure:
    places = _places(dataset)
    titles = [f"{KINDS[kind]}, depth {depth}" for kind, depth, _ in places]
    rows = -(-len(titles) // 2)
    figure = draw.axes(
        "steps",
        y,
        log="x",
        panels=titles,
        columns=2,
        caption=caption,
        legend="below",
        height=300 * rows + 120,
    )
    for panel, (_, _, at) in enumerate(places, start=1):
        for (name, label), color in zip(names.items(), draw.COLORS, strict=False):
            _curves(figure, at, name, label, panel, color=color)
    return figure


def _alignment(dataset: Data) -> Figure:
    caption = (
        "Alignment of the tangent kernel with the labels of 100 easy and 100 difficult training "
        "points in the course of training, means over seeds with standard errors, the start at "
        "step 1. The panel's title says what is difficult, and how many weight matrices the "
        "network has."
    )
    names = {"alignment_easy": "easy", "alignment_difficult": "difficult"}
    return _figure(dataset, "alignment", caption, names)


def _ratio(dataset: Data) -> Figure:
    caption = (
        "Ratio of the two alignments: how much more the kernel is turned towards easy points than "
        "towards difficult ones."
    )
    found = judge.need(dataset, "alignment_easy", "alignment_difficult")
    made = dataset.assign(ratio=found.alignment_easy / found.alignment_difficult)
    return _figure(made, "easy / difficult", caption, {"ratio": "ratio"})


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Share of easy and of difficult training points that the network puts into the class it "
        "is trained on, in the course of training: difficult ones are learned last, by heart."
    )
    names = {"accuracy_easy": "easy", "accuracy_difficult": "difficult"}
    return _figure(dataset, "accuracy", caption, names)


FIGURES = {
    "Alignment of easy and difficult points": _alignment,
    "Ratio of the two": _ratio,
    "What is learned": _accuracy,
}
