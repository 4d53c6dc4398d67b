"""Error against R_f, and R_f by depth, of the networks of the field."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, Figure, draw, judge
from regimes.studies.deformations import _pictures
from regimes.studies.deformations._networks import KINDS, LABELS
from regimes.studies.deformations._runs import END
from regimes.studies.deformations.zoo._claims import fits

_DEPTHS = ("fc4", "lenet", "alexnet", "vgg11bn", "vgg19bn", "resnet18", "resnet50",
           "efficientnet_b0")  # fmt: skip


def _ran(dataset: Data, name: str = "R") -> list[tuple[str, Data]]:
    found = []
    for network in judge.need(dataset, name).network.values:
        try:
            found.append((str(network), judge.where_ran(dataset, "seed", name, network=network)))
        except judge.Missing:
            continue
    return found


def _label(network: str, at: Data) -> str:
    """The network's name, and whether verdicts leave it out for it does not fit its images."""
    return LABELS[network] + ("" if fits(at) else ", not fitted")


def _error(dataset: Data) -> Figure:
    rows: list[dict[str, Any]] = [
        {
            "label": _label(network, at),
            "kind": KINDS[network],
            "counts": fits(at),
            "R": at.R.transpose("seed", "when").values[:, END],
            "error": at.error.values,
        }
        for network, at in _ran(dataset)
    ]
    what = (
        "Networks of the field, trained alike on 8,000 images of CIFAR-10. Those that do not fit "
        "them after their steps are marked so, and no verdict and no line rests on them."
    )
    return _pictures.error_against_stability(rows, what)


def _depth(dataset: Data) -> Figure:
    rows = [
        (_label(network, at), at.profile.transpose("seed", "when", "layer").values)
        for network, at in _ran(dataset, "profile")
        if network in _DEPTHS
    ]
    return _pictures.profiles(rows)


def _apart(dataset: Data) -> Figure:
    caption = (
        "What R_f is made of. Left: test error against D_f, how much the output changes under "
        "deformations. Right: against G_f, how much it changes under noise of the same size. Good "
        "networks are not the ones that change least: they change under noise, and less under "
        "deformations. Every mark is a network with its seed."
    )
    panels = ("deformations", "noise")
    figure = draw.axes(
        ("D_f", "G_f"), "test error", log="xy", panels=panels, shared="y", caption=caption,
        legend="below", height=480,
    )  # fmt: skip
    for k, (network, at) in enumerate(_ran(dataset)):
        for panel, name in enumerate(("D", "G"), start=1):
            x = at[name].transpose("seed", "when").values[:, END]
            draw.points(
                figure, x, at.error.values, _label(network, at), panel=panel, size=9,
                color=draw.COLORS[k % len(draw.COLORS)],
                symbol=("circle", "square", "diamond")[k // len(draw.COLORS) % 3],
            )  # fmt: skip
    return figure


FIGURES = {
    "Error against relative stability": _error,
    "Relative stability by depth": _depth,
    "Deformations and noise apart": _apart,
}
