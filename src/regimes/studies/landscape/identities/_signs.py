"""Odd traces of Hp over random labels."""

from __future__ import annotations

from typing import Any

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Tensor
from regimes.studies.landscape import _networks, _tasks

DEPTH, POWERS = 2, (3, 5)


def signs(params: Any, point: Point) -> TrialResult:
    """LAND-37: normalised odd traces for many draws of the labels, and the negated network.

    All points weigh alike in Hp, whose slopes are -y: with those of the hinge at its start, which
    hold f itself, a part remains that does not change its sign with the labels.
    """
    import torch

    from regimes._random import generator

    odd, weighed, flips = [], [], []
    for seed in point.seed:
        net = _networks.networks(params.width, params.width, DEPTH, [seed] * params.draws)
        x = _tasks.random_task(params.n_train, params.width, seed).x_train
        draws = generator(seed, "landscape/identities")
        y = torch.randn(params.draws, params.n_train, generator=draws, dtype=torch.float64).sign()
        inputs = x.expand(params.draws, *x.shape)
        spectra = {
            name: rg.curvature.hessian(net, inputs, y, loss, own=True).spectrum("network")
            for name, loss in (("alike", _slope), ("hinge", rg.flow.quadratic_hinge(0.5)))
        }
        odd.append([_moment(spectra["alike"], power) for power in POWERS])
        weighed.append([_moment(spectra["hinge"], power) for power in POWERS])
        last = {f"layers.{DEPTH}.{name}" for name in ("weight", "bias")}
        flipped = net.moved_to({k: -v if k in last else v for k, v in net.parameters.items()})
        other = rg.curvature.hessian(flipped, inputs, y, _slope, own=True).spectrum("network")
        apart = (spectra["alike"] + other.flip(1)).abs().amax() / other.abs().amax()
        flips.append(float(apart))
    dims = ("start", "power", "draw")
    return TrialResult(
        arrays={
            "odd": Array(dims, odd),
            "weighed_odd": Array(dims, weighed),
            "flipped": Array("start", flips),
        }
    )


def _slope(f: Tensor, y: Tensor) -> Tensor:
    """A loss of slope -y wherever the output is."""
    return -y * f


def _moment(spectrum: Tensor, power: int) -> list[float]:
    """Return tr Hp^n / tr |Hp|^n of each draw; 0 where Hp is."""
    found = spectrum.pow(power).sum(1) / spectrum.abs().pow(power).sum(1).clamp_min(1e-300)
    values: list[float] = found.tolist()
    return values
