"""Verdicts on the error of equivariance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()


def _of(dataset: Data, act: str, b: int, layers: int, name: str = "delta") -> Any:
    """The seeds of one network, or nothing where it was not run."""
    try:
        at = judge.where_ran(dataset, "seed", name, act=act, b=b, layers=layers)
    except judge.Missing:
        return None
    return at[name].values.astype(float)


def _scan(dataset: Data, act: str, name: str = "delta") -> dict[tuple[int, int], Any]:
    """Values by bandwidth and depth, those that were run."""
    at = judge.need(dataset, name, act=act)
    found = {}
    for b in at.b.values:
        for layers in at.layers.values:
            values = _of(dataset, act, int(b), int(layers), name)
            if values is not None:
                found[int(b), int(layers)] = values
    return found


def _paired(a: Any, b: Any) -> tuple[Any, Any]:
    n = min(len(a), len(b))
    return a[:n], b[:n]


@claim("EQU-07", "double precision, no ReLU: error at most 1e-13")
def _exact(dataset: Data) -> judge.Parts:
    found = _scan(dataset, "exact")
    worst = max(found, key=lambda key: found[key].max())
    yield judge.below("largest error", float(found[worst].max()), 1e-13)
    return f"at b = {worst[0]}, {worst[1]} layers; {len(found)} networks a seed"


@claim("EQU-08", "no ReLU: grows with depth at each b, and from least to largest b; below 1e-5")
def _growth(dataset: Data) -> judge.Parts:
    found = _scan(dataset, "linear")
    depths = sorted({layers for _, layers in found})
    widths = sorted({b for b, _ in found})
    if len(depths) < 2 or len(widths) < 2:
        raise judge.Missing("needs two depths and two bandwidths")
    for b in widths:
        for low, high in pairwise([depth for depth in depths if (b, depth) in found]):
            less, more = _paired(found[b, low], found[b, high])
            ratio = judge.log_mean(more / less)
            yield judge.above(f"growth from {low} to {high} layers at b = {b}", ratio, 1.0)
    for depth in depths:
        less, more = _paired(found[widths[0], depth], found[widths[-1], depth])
        name = f"growth from b = {widths[0]} to {widths[-1]}, {depth} layers"
        yield judge.above(name, judge.log_mean(more / less), 1.0)
    yield judge.below("largest error", float(max(each.max() for each in found.values())), 1e-5)
    return None


@claim("EQU-09", "with ReLU: above 1e4 times the linear error; flat in depth, at most doubled")
def _relu(dataset: Data) -> judge.Parts:
    found, linear = _scan(dataset, "relu"), _scan(dataset, "linear")
    widths = [b for b in sorted({b for b, _ in found}) if b >= 8] or sorted({b for b, _ in found})
    ratios = []
    for b in widths:
        depths = sorted(layers for width, layers in found if width == b)
        for depth in depths:
            if (b, depth) in linear:
                over, under = _paired(found[b, depth], linear[b, depth])
                ratios.append(over / under)
        first = found[b, depths[0]]
        growth = [judge.log_mean(np.divide(*_paired(found[b, depth], first))) for depth in depths]
        largest = max(growth, key=lambda each: each.value)
        yield judge.below(f"largest over {depths[0]} layer, b = {b}", largest, 2.0)
    if not ratios:
        raise judge.Missing("needs the linear error at the same places")
    yield judge.above("least ratio to the linear error", float(min(map(np.min, ratios))), 1e4)
    values = [each.mean() for (b, _), each in found.items() if b in widths]
    return f"errors {min(values):.2g} to {max(values):.2g}"


@claim("EQU-10", "below the bandlimit, ReLU on 2 and 3 times finer grids: error / 8 and / 25")
def _oversampled(dataset: Data) -> judge.Parts:
    found = {act: _scan(dataset, act, "spectral") for act in ("relu", "relu2")}
    for act in ("relu3",):
        try:
            found[act] = _scan(dataset, act, "spectral")
        except judge.Missing:
            found[act] = {}
    for act, factor in (("relu2", 8.0), ("relu3", 25.0)):
        for place, values in found[act].items():
            if place in found["relu"]:
                plain, fine = _paired(found["relu"][place], values)
                name = f"error / that of {act}, b = {place[0]}, {place[1]} layers"
                yield judge.above(name, judge.log_mean(plain / fine), factor)
    b = max(b for b, _ in found["relu"])
    told = ", ".join(
        f"{values.mean():.2g} ({layers})"
        for (width, layers), values in sorted(found["relu"].items())
        if width == b
    )
    return (
        f"below the bandlimit the error of plain ReLU grows with depth, b = {b}: {told} layers: "
        "aliasing inside the layers adds to that of turning the output"
    )
