"""A training run, its complexity and its measures of capacity."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

from regimes.lab import Point, TrialResult
from regimes.studies._types import Dataset
from regimes.studies.alignment import _descents, _tasks

SIDE = 32  # pixels that VGG needs
MEASURES = (
    "n_params",
    "vc",
    "l1max",
    "fro",
    "l3_1.5",
    "path_1",
    "path_1.5",
    "path_2",
    "spectral",
    "spec_l21",
    "spec_fro",
    "overparam",
    "fisher_rao",
)


def trial(params: Any, point: Point) -> TrialResult:
    """Train until the cross-entropy of the whole training set is small twice in a row."""
    from regimes import observe

    made, net = _start(params, point)
    start = copy.deepcopy(net)
    n, x, y = params.probe, made.x_train, made.y_train
    watch = observe.KernelObserver(
        net,
        (x[:n], y[:n]),
        when=observe.LogSteps(params.first, 1.3),
        wanted=observe.Wanted(ratios=(), layers=False),
        refresh=params.refresh,
    )
    epoch = max(1, len(x) // params.batch)
    low = [False]

    def fitted(step: int) -> bool:
        if step % epoch:
            return False
        before, low[0] = low[0], _descents.loss(x, y)(net) < params.target
        return before and low[0]

    steps = _descents.descend(
        net,
        made,
        rate=params.rate,
        steps=params.max_steps,
        batch=min(params.batch, len(x)),
        seed=point.seed,
        each_step=watch.step,
        stop=fitted,
    )
    record = watch.finish()
    train = _descents.accuracy(x, y)(net)
    test = _descents.accuracy(made.x_test, made.y_test)(net)
    margin = observe.margin_percentile(net.eval(), (x, y))
    # without a positive margin no measure that is divided by it means anything
    measures = dict.fromkeys(MEASURES, math.nan)
    if margin > 0:
        measures |= observe.capacity_measures(net, start, (x, y), margin)
    return TrialResult(
        {
            "gap": train - test,
            "train_error": 1 - train,
            "loss": _descents.loss(x, y)(net),
            "fitted": low[0],
            "steps_taken": steps,
            "margin": margin,
            "alignment": float(record["train/alignment"][-1]),
            **{
                name: float(record[name][-1])
                for name in ("complexity", "complexity_coarse", "path_length")
            },
            **{name: measures[name] for name in MEASURES},
        }
    )


def _start(params: Any, point: Point) -> tuple[Dataset, Any]:
    options: dict[str, Any] = {
        "seed": point.seed,
        "dtype": point.dtype,
        "device": point.device,
        "flat": point.block != "channels",
        "noise": point.corruption if point.block == "corruption" else 0.0,
    }
    made = _tasks.task(params.images, params.n_train, params.n_test, **options)
    if point.block == "channels":
        made = _enlarged(made)
        net = _tasks.network(params.network, made, seed=point.seed, width=point.base)
    else:
        width = point.width if point.block == "width" else params.hidden
        net = _tasks.network("mlp", made, seed=point.seed, depth=2, width=width)
    return made, net


def _enlarged(made: Dataset) -> Dataset:
    """Images of 32 x 32 pixels: smaller ones are enlarged without smoothing."""
    import torch.nn.functional as F

    if made.x_train.shape[-1] == SIDE:
        return made
    large: dict[str, Any] = {
        name: F.interpolate(getattr(made, name), (SIDE, SIDE), mode="nearest")
        for name in ("x_train", "x_test")
    }
    return dataclasses.replace(made, **large)


def cost(params: Any, point: Point) -> float:
    """Relative seconds of a run."""
    if point.block == "channels":
        return 20.0
    return 1.0 + 10.0 * point.corruption if point.block == "corruption" else 1.0
