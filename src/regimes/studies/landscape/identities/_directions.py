"""N_eff of trained networks and of such that lost theirs, and networks without a signal."""

from __future__ import annotations

from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Ensemble
from regimes.studies.landscape import _networks, _tasks, _training

SILENT = -100.0  # a bias below all that unit weights make of points at distance sqrt(d)
OUTPUT_BIAS = "layers.{}.bias"


def directions(params: Any, point: Point) -> TrialResult:
    """LAND-32: N_eff on the training points, after training and at the start."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    seeds = point.seed
    data = _tasks.tasks("parity", seeds, params.n_train, images=params.images, **place)
    names = ("count", "start_count", "always_on", "always_off", "steps")
    kept: dict[str, list[Any]] = {name: [] for name in names}
    totals, hidden = [], []
    for network in params.network:
        depth, width = map(int, network.split("x"))
        start = _networks.networks(_tasks.COMPONENTS, width, depth, seeds, **place)
        run = _training.adam_fast(start, data, steps=params.steps)
        end = start.moved_to(run.parameters)
        # every network is seen on its own points
        own = [
            rg.tangent.effective_parameters(end.select([i]), each.x_train)
            for i, each in enumerate(data)
        ]
        first = [
            rg.tangent.effective_parameters(start.select([i]), each.x_train).count
            for i, each in enumerate(data)
        ]
        for name in ("count", "always_on", "always_off"):
            kept[name].append([float(getattr(each, name)) for each in own])
        kept["start_count"].append([float(each) for each in first])
        kept["steps"].append(run.steps.double().tolist())
        totals.append(own[0].total)
        hidden.append(depth * width)
    arrays = {name: Array(("network", "trained"), values) for name, values in kept.items()}
    arrays["total"] = Array("network", totals)
    arrays["hidden"] = Array("network", hidden)
    arrays["depth"] = Array("network", [int(network.split("x")[0]) for network in params.network])
    return TrialResult(arrays=arrays)


def collapsed(params: Any, point: Point) -> TrialResult:
    """LAND-33: N_eff less what it is reduced to, zero in every case."""
    d, h = params.d, params.width
    x = _tasks.random_task(params.points, d, point.seed[0]).x_train
    kinds: dict[str, tuple[dict[str, Any], int]] = {
        "dead": ({"depth": 2}, 1),
        "linear, L = 1": ({"depth": 1, "activation": "linear"}, d + 1),
        "linear, L = 2": ({"depth": 2, "activation": "linear"}, d + 1),
        "linear, L = 3": ({"depth": 3, "activation": "linear"}, d + 1),
        "square, L = 1": ({"depth": 1, "activation": _square, "normalize": False}, _forms(d)),
    }
    apart = []
    for name, (options, expected) in kinds.items():
        # deep networks of few neurons: the rank does not grow with the width
        width = h if name.startswith("square") else min(h, 12)
        members = _networks.networks(d, width, seeds=point.seed, **options)
        if name == "dead":
            members = _silenced(members)
        count = rg.tangent.effective_parameters(members, x).count
        apart.append((count.double() - expected).tolist())
    return TrialResult(arrays={"apart": Array(("kind", "reduced"), apart)})


def silent(params: Any, point: Point) -> TrialResult:
    """LAND-34: what moves when no neuron of the first layer is on at any point."""
    place: dict[str, Any] = {"dtype": point.dtype, "device": point.device}
    depth = 2
    start = _silenced(
        _networks.networks(_tasks.COMPONENTS, params.width, depth, point.seed, **place)
    )
    data = _tasks.tasks("random", point.seed, params.n_train, **place)
    run = _training.adam(start, data, steps=params.steps)
    bias = OUTPUT_BIAS.format(depth)
    others = [
        (run.parameters[name] - value).abs().flatten(1).amax(1)
        for name, value in start.parameters.items()
        if name != bias
    ]
    moved = np.max([each.cpu().numpy() for each in others], 0)
    own = (run.parameters[bias] - start.parameters[bias]).abs().flatten(1).amax(1)
    return TrialResult(
        arrays={
            "moved": Array("silenced", moved),
            "bias_moved": Array("silenced", own),
            "loss": Array("silenced", run.losses[:, -1]),
            "fitted": Array("silenced", run.fitted.double()),
        }
    )


def _silenced(members: Ensemble) -> Ensemble:
    """The same networks with a first layer that is off wherever the points are."""
    import torch

    name = "layers.0.bias"
    off = torch.full_like(members.parameters[name], SILENT)
    return members.moved_to({**members.parameters, name: off})


def _square(z: Any) -> Any:
    return z * z


def _forms(d: int) -> int:
    """Quadratic forms with linear and constant terms."""
    return (d + 1) * (d + 2) // 2
