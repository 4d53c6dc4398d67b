"""A network trained and probed before and after: what several studies of the theme store."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Dataset, Module
from regimes.studies.deformations import _training

START, END = 0, 1  # before and after training, along the dimension "when"


def trained(
    name: str,
    net: Module,
    made: Dataset,
    *,
    steps: int,
    probes: int,
    point: Point,
    profile: int = 0,
    mean: bool = False,
    cuts: tuple[float, ...] = (3.0,),
    **options: Any,
) -> TrialResult:
    """Train a network, and probe it on test images before and after.

    Args:
        name: of the network.
        net: the network itself.
        made: the images.
        steps: of the optimiser.
        probes: test images.
        point: of the trial.
        profile: so many images for a profile by depth; 0 for none.
        mean: whether R_f is found by means too.
        cuts: c of the deformations; the first is that of D_f and G_f.
        **options: of `_training.train`.
    """
    x, few, seed = made.x_test[:probes], made.x_test[:profile], point.seed

    def probed() -> dict[str, Any]:
        found = [_training.three(net, x, seed, c=c) for c in cuts]
        each: dict[str, Any] = {key: found[0][key] for key in (*_training.THREE, "V")}
        each["R_c"] = [one["R"] for one in found]
        if mean:
            each["R_mean"] = _training.three(net, x, seed, statistic="mean")["R"]
        if profile:
            each["profile"] = _training.profile(net, few, seed)
        return each

    first = probed()
    run = _training.train(name, net, made, steps=steps, point=point, **options)
    last = probed()
    dims = {"R_c": ("when", "c"), "profile": ("when", "layer")}
    return TrialResult(
        {
            "error": run.test_error,
            "train_loss": run.train_loss,
            "train_error": run.train_error,
            "points": len(made.x_train),
            "parameters": sum(each.numel() for each in net.parameters()),
        },
        {
            **{key: Array(dims.get(key, "when"), [first[key], last[key]]) for key in first},
            "c": Array("c", cuts),
        },
    )
