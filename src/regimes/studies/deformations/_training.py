"""Networks of the theme trained and probed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from regimes.lab import Point
from regimes.studies._types import Dataset, Module, Tensor
from regimes.studies.deformations._networks import block_names, kind

THREE = ("R", "D", "G")


def train(
    name: str,
    net: Module,
    made: Dataset,
    *,
    steps: int,
    point: Point,
    checkpoint: str | None = "run",
    evaluate: int = 2000,
    **options: Any,
) -> Any:
    """Train in place as docs/themes/deformations.md, "Training", has it for this network.

    Args:
        name: of the network.
        net: the network itself.
        made: the images.
        steps: of the optimiser.
        point: of the trial: seed and checkpoint.
        checkpoint: its name in the trial; None keeps none.
        evaluate: training images on which the loss at the end is measured.
        **options: of `flow.train_images`; they go before.
    """
    from regimes import flow

    what = kind(name)
    rule: dict[str, Any] = {"rate": what.rate, "evaluate": evaluate, "seed": point.seed}
    if what.adam:
        rule |= {"optimiser": "adam", "schedule": "constant", "weight_decay": 0.0}
    kept = None if checkpoint is None else point.checkpoint(checkpoint)
    return flow.train_images(net, made, steps=steps, checkpoint=kept, **{**rule, **options})


def augmentation(
    name: str, seed: int, *, mirror: bool = False
) -> Callable[[Tensor], Tensor] | None:
    """None, shifts by four pixels, or the deformations of [Petrini 2021, fig. 12]."""
    from regimes import data

    if name == "none":
        return None
    if name == "shift":
        return data.ShiftAugment(4, mirror=mirror, seed=seed)
    return data.DeformationAugment(1e-2, 1, seed=seed)


def three(net: Module, x: Tensor, seed: int, **settings: Any) -> dict[str, float]:
    """R_f, D_f and G_f of a network, and the scale V they are measured by.

    A network that answers the same to most images has no scale: NaN, and V = 0.
    """
    from regimes import measure

    try:
        found = measure.stability(net, x, seed=seed, **settings)
    except measure.NoScaleError:
        return dict.fromkeys((*THREE, "radius"), math.nan) | {"V": 0.0}
    values = {name: float(getattr(found, f"{name}_f")) for name in THREE}
    return values | {"V": float(found.found.scale), "radius": found.probe.radius}


def profile(net: Module, x: Tensor, seed: int) -> list[float]:
    """R_f after every block of a network, from the first layer to the output."""
    from regimes import measure

    found = measure.layer_stability(net, x, layers=block_names(net), seed=seed)
    return [float(each.R_f) for each in found.values()]
