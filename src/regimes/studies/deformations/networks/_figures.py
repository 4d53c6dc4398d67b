"""R_f of small networks against their error, by depth, by displacement and by noise."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations import _pictures
from regimes.studies.deformations._networks import KINDS, LABELS

_INTERPOLATIONS = (("bilinear", "solid"), ("gaussian", "dash"))
_TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}


def _first(dataset: Data) -> str:
    return str(judge.need(dataset, "R").images.values[0])


def _ran(dataset: Data, images: str, name: str = "R") -> list[tuple[str, Data]]:
    found = []
    for network in judge.need(dataset, name).network.values:
        try:
            at = judge.where_ran(dataset, "seed", name, images=images, network=network)
        except judge.Missing:
            continue
        found.append((str(network), at))
    return found


def _error(dataset: Data) -> Figure:
    images = _first(dataset)
    rows: list[dict[str, Any]] = [
        {
            "label": LABELS[network],
            "kind": KINDS[network],
            "R": at.R.transpose("seed", "when").values[:, 1],
            "error": at.error.values,
        }
        for network, at in _ran(dataset, images)
    ]
    return _pictures.error_against_stability(
        rows, f"Six small networks on {_TITLES.get(images, images)}."
    )


def _depth(dataset: Data) -> Figure:
    rows = [
        (LABELS[network], at.profile.transpose("seed", "when", "layer").values)
        for network, at in _ran(dataset, _first(dataset), "profile")
        if network != "lenet"  # one number alone
    ]
    return _pictures.profiles(rows)


def _displacements(dataset: Data) -> Figure:
    caption = (
        "R_f of trained networks against the typical displacement of a pixel, for images read "
        "between pixels in two ways: the mean of the four neighbours (solid) and Gaussian weights "
        "(dashed). From a pixel on the two agree; below, what is measured is the interpolation. "
        "Geometric means over networks with standard errors."
    )
    figure = draw.axes("displacement (pixels)", "R_f", log="xy", caption=caption)
    ran = _ran(dataset, _first(dataset), "R_interpolated")
    for (network, at), color in zip(ran, draw.COLORS, strict=False):
        values = at.R_interpolated.transpose("seed", "interpolation", "delta")
        for k, (name, dash) in enumerate(_INTERPOLATIONS):
            draw.curve(
                figure, values.isel(interpolation=k), "delta", f"{LABELS[network]}, {name}",
                color=color, dash=dash, center="geometric",
            )  # fmt: skip
    draw.level(figure, y=1.0)
    return figure


def _noise(dataset: Data) -> Figure:
    caption = (
        "How much the output changes under noise of a given size, over the size squared: a flat "
        "line is a linear answer. Dashed before training, solid after it. Images have a norm of "
        "about nine. Medians over images, geometric means over networks."
    )
    titles = ("size of the noise", "|f(x + noise) - f(x)|² / size²")
    figure = draw.axes(*titles, log="xy", caption=caption)
    ran = _ran(dataset, _first(dataset), "shaken")
    for (network, at), color in zip(ran, draw.COLORS, strict=False):
        values = at.shaken.transpose("seed", "when", "noise") / at.noise**2
        for k, (when, dash) in enumerate((("before", "dash"), ("trained", "solid"))):
            draw.curve(
                figure, values.isel(when=k), "noise", f"{LABELS[network]}, {when}",
                color=color, dash=dash, center="geometric",
            )  # fmt: skip
    return figure


FIGURES = {
    "Error against relative stability": _error,
    "Relative stability by depth": _depth,
    "Displacement and interpolation": _displacements,
    "The answer to noise": _noise,
}
