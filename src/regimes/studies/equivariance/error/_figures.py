"""The error against bandwidth and depth."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, Figure, draw, judge

_NAMES = {
    "exact": "no ReLU, double precision",
    "linear": "no ReLU",
    "relu": "ReLU",
    "relu2": "ReLU on a grid twice as fine",
    "relu3": "ReLU on a grid three times as fine",
}


def _against(dataset: Data, along: str, across: str, name: str, caption: str) -> Figure:
    label = {"b": "bandwidth b", "layers": "layers"}[along]
    figure = draw.axes(
        label, "relative error", log="y", caption=caption, legend="below", height=640
    )
    at: Any = judge.need(dataset, name)
    for act, color in zip(_NAMES, draw.COLORS, strict=False):
        if act not in at.act.values:
            continue
        one = at.sel(act=act)
        for i, other in enumerate(one[across].values):
            curve = one[name].sel({across: other}).mean("seed", skipna=True)
            curve = curve.dropna(along)
            if not curve.size:
                continue
            layers = f"{other} layer{'s' if other != 1 else ''}"
            said = layers if across == "layers" else f"b = {other}"
            figure.add_scatter(
                x=curve[along].values,
                y=curve.values,
                mode="lines+markers",
                line={"color": color, "dash": draw.DASHES[i % len(draw.DASHES)]},
                name=f"{_NAMES[act]}, {said}",
            )
    return figure


def _bandwidth(dataset: Data) -> Figure:
    caption = (
        "What acting before a network of correlations differs from acting after it, relative to "
        "the output, against the bandwidth of the grid. Without ReLU it is rounding. ReLU makes "
        "frequencies that the grid cannot hold, and turning the output then costs some tenths."
    )
    return _against(dataset, "b", "layers", "delta", caption)


def _depth(dataset: Data) -> Figure:
    caption = (
        "The same against depth, but measured below the bandlimit alone, so that turning the "
        "output costs nothing. What is left is made by ReLU inside the network: it grows with "
        "depth, and falls where ReLU acts on a finer grid."
    )
    return _against(dataset, "layers", "b", "spectral", caption)


FIGURES = {"Error against bandwidth": _bandwidth, "Error below the bandlimit": _depth}
