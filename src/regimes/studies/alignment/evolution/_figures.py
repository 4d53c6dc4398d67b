"""Spectrum, rank and alignment against steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regimes.lab import Data, Figure, Values, draw, judge

NAMES = {"mlp": "perceptron", "vgg19": "VGG19", "resnet18": "ResNet18"}
TITLES = {
    "clean": "true labels",
    "slow": "true labels, small rate",
    "noisy20": "20 % random labels",
    "noisy50": "half the labels random",
}


def _settings(dataset: Data) -> list[tuple[str, str]]:
    if "steps" not in dataset:
        raise judge.Missing("no trial has finished")
    ran = dataset.steps.notnull().any(["seed", "point"])
    found = [
        (str(network), str(setting))
        for network in dataset.network.values
        for setting in dataset.setting.values
        if bool(ran.sel(network=network, setting=setting))
    ]
    if not found:
        raise judge.Missing("no trial has finished")
    return found


def _panels(
    dataset: Data, y: str, caption: str, drawn: Callable[[Figure, Data, int], None], log: str = "x"
) -> Figure:
    places = _settings(dataset)
    several = len({network for network, _ in places}) > 1
    titles = [
        (f"{NAMES.get(network, network)}<br>" if several else "") + TITLES[setting]
        for network, setting in places
    ]
    figure = draw.axes(
        "steps",
        y,
        log=log,
        panels=titles,
        columns=3,
        caption=caption,
        legend="below",
        height=340 * -(-len(titles) // 3) + 120,
        margin={"t": 90 if several else 60},  # two lines of title below the buttons
    )
    for panel, (network, setting) in enumerate(places, start=1):
        at = judge.where_ran(dataset, "seed", "steps", network=network, setting=setting)
        drawn(figure, at.dropna("point", how="all", subset=["steps"]), panel)
    return figure


def _curve(figure: Figure, at: Data, values: Values, name: str, panel: int, **options: str) -> None:
    steps = np.maximum(at.steps.isel(seed=0).values.astype(float), 1)
    draw.curve(figure, values, "point", name, x=steps, mode="lines", panel=panel, **options)


def _spectrum(dataset: Data) -> Figure:
    caption = (
        "Largest, mean and median eigenvalue of the centred tangent kernel on 100 training points "
        "(solid) and test points (dashed) in the course of training; means over seeds with their "
        "standard errors, the start at step 1. The largest grow most, and early."
    )

    def drawn(figure: Figure, at: Data, panel: int) -> None:
        for name, color in zip(("max", "mean", "median"), draw.COLORS, strict=False):
            for probe, dash in (("train", "solid"), ("test", "dash")):
                label = f"{name}, {probe}"
                _curve(figure, at, at[f"{name}_{probe}"], label, panel, color=color, dash=dash)

    return _panels(dataset, "eigenvalue", caption, drawn, log="xy")


def _rank(dataset: Data) -> Figure:
    caption = (
        "Effective rank of the centred kernel (its largest possible value is the number of "
        "eigenvalues, about 1000 for 100 points in ten classes) and, scaled to the start of the "
        "rank, nothing else: it falls at once while the network learns, and with random labels it "
        "climbs again when they are fitted."
    )

    def drawn(figure: Figure, at: Data, panel: int) -> None:
        for probe, dash in (("train", "solid"), ("test", "dash")):
            values = at[f"effective_rank_{probe}"]
            _curve(figure, at, values, f"{probe} points", panel, color=draw.COLORS[0], dash=dash)

    return _panels(dataset, "effective rank", caption, drawn)


def _shares(dataset: Data) -> Figure:
    caption = (
        "Share of the trace that the 40, 80 and 160 largest eigenvalues hold, on training points: "
        "a few directions come to dominate."
    )

    def drawn(figure: Figure, at: Data, panel: int) -> None:
        for k, color in zip((40, 80, 160), draw.COLORS, strict=False):
            if f"trace_ratio_{k}_train" in at:
                values = at[f"trace_ratio_{k}_train"]
                _curve(figure, at, values, f"{k} largest", panel, color=color)

    return _panels(dataset, "share of the trace", caption, drawn)


def _accuracy(dataset: Data) -> Figure:
    caption = (
        "Share of points in their class: on training points, whose labels are those that are "
        "trained on, and on test points, whose labels are true."
    )

    def drawn(figure: Figure, at: Data, panel: int) -> None:
        for probe, color in (("train", draw.COLORS[0]), ("test", draw.COLORS[1])):
            _curve(figure, at, at[f"accuracy_{probe}"], f"{probe} points", panel, color=color)

    return _panels(dataset, "accuracy", caption, drawn)


def _aligned(dataset: Data) -> Figure:
    caption = (
        "Alignment of the kernel with the labels of the same points (1 would be a kernel that "
        "knows nothing but the labels): centred (solid) and as it is (dotted), on training points "
        "with the labels that are trained on and on test points with true labels."
    )

    def drawn(figure: Figure, at: Data, panel: int) -> None:
        for probe, color in (("train", draw.COLORS[0]), ("test", draw.COLORS[1])):
            _curve(figure, at, at[f"alignment_{probe}"], f"{probe} points", panel, color=color)
            plain = at[f"alignment_uncentred_{probe}"]
            _curve(figure, at, plain, f"{probe}, not centred", panel, color=color, dash="dot")

    return _panels(dataset, "alignment", caption, drawn)


def _layers(probe: str) -> Callable[[Data], Figure]:
    def figure(dataset: Data) -> Figure:
        caption = (
            f"Alignment of the kernel of every layer with the labels of {probe} points, from the "
            "first layer (dark) to the last (light); means over seeds."
        )

        def drawn(figure: Figure, at: Data, panel: int) -> None:
            layers = at[f"layer_alignment_{probe}"]
            layers = layers.isel(layer=layers.notnull().any(["seed", "point"]).values)
            for k, color in enumerate(draw.shades(layers.sizes["layer"])):
                _curve(figure, at, layers.isel(layer=k), f"layer {k + 1}", panel, color=color)

        return _panels(dataset, "alignment of a layer", caption, drawn)

    return figure


FIGURES = {
    "Accuracy": _accuracy,
    "Eigenvalues": _spectrum,
    "Effective rank": _rank,
    "Share of the largest eigenvalues": _shares,
    "Alignment with the labels": _aligned,
    "Alignment of layers, training points": _layers("train"),
    "Alignment of layers, test points": _layers("test"),
}
