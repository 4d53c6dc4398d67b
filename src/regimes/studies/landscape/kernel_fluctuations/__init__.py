"""Noise of the tangent kernel at the start, its change in training, and the noise of the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape import _spread, _tasks


@dataclass(frozen=True)
class Start:
    """Scanned: width, and seeds side by side. Fixed: the rest."""

    width: tuple[int, ...] = (8, 16, 32)
    seed: tuple[int, ...] = tuple(range(10))
    depth: int = 2
    points: int = 10
    images: str = "digits"


@dataclass(frozen=True)
class Trained:
    """Scanned: whether the initial function is left out, width, and seeds side by side."""

    subtract_init: tuple[bool, ...] = (True, False)
    width: tuple[int, ...] = (16, 32, 128)
    seed: tuple[int, ...] = tuple(range(6))
    depth: int = 1
    points: int = 6
    images: str = "digits"
    n_test: int = 100
    rate: float = 0.1
    steps: int = 1000


_START = Start(width=(32, 64, 128, 256, 512), seed=tuple(range(200)), points=20, images="mnist")
_TRAINED = Trained(
    width=(64, 128, 256, 512, 1024),
    seed=tuple(range(60)),
    points=20,
    images="mnist",
    n_test=1000,
    steps=40_000,
)
SIZES: dict[str, dict[str, Any]] = {
    "smoke": {
        "start": Start(),
        "shallow": Trained(),
        "deep": Trained(subtract_init=(True,), depth=2, width=(16, 32, 64)),
    },
    "cpu": {
        "start": _START,
        "shallow": _TRAINED,
        "deep": replace(
            _TRAINED,
            subtract_init=(True,),
            depth=2,
            width=(64, 128, 256, 512),
            seed=tuple(range(20)),
        ),
    },
    "paper": {
        "start": replace(_START, width=(16, 32, 64, 128, 256, 512, 1024), points=100),
        "shallow": replace(_TRAINED, width=(64, 128, 256, 512, 1024, 2048, 4096)),
        "deep": replace(_TRAINED, subtract_init=(True,), depth=2),
    },
}
TRAINED = ("subtract_init", Axis("width", unit="neurons"), Axis("seed", stacked=True))


@study(
    "landscape/kernel-fluctuations",
    version=1,
    sizes=SIZES,
    axes={
        "start": (Axis("width", unit="neurons"), Axis("seed", stacked=True)),
        "shallow": TRAINED,
        "deep": TRAINED,
    },
)
class KernelFluctuations:
    """Where the fluctuations of trained networks come from.

    The tangent kernel of a network of width h differs from its mean over initialisations by
    h^(-1/2), and moves in training by 1/h only. What it learned therefore differs from one network
    to the next by h^(-1/2), while what is left of its initial function does not depend on h.

    The paper: [Geiger 2020b, sec. 5, S.I. C and D].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """Networks of one width, at their start or trained."""
        return _start(params, point) if point.block == "start" else _trained(params, point)

    @staticmethod
    def cost(params: Any, point: Point) -> float:
        """Wide networks take longer."""
        return float(point.width**2 * len(point.seed))


def _networks(params: Any, point: Point, d: int) -> Any:
    import torch

    import regimes as rg

    return rg.nets.stack(
        lambda seed: rg.nets.FullyConnected(
            d,
            point.width,
            params.depth,
            seed=seed,
            dtype=getattr(torch, point.dtype),
            device=point.device,
        ),
        point.seed,
    )


def _data(params: Any, point: Point, n_test: int) -> Any:
    return _tasks.parity_task(
        params.images, params.points, n_test, dtype=point.dtype, device=point.device
    )


def _start(params: Start, point: Point) -> TrialResult:
    """LAND-59: relative fluctuation of the kernel, Frobenius norms."""
    import regimes as rg

    x = _data(params, point, 1).x_train
    grams = rg.tangent.stacked_gram(_networks(params, point, x.shape[1]), x)
    found = rg.measure.kernel_fluctuation(grams)
    unbiased = (len(grams) / (len(grams) - 1)) ** 0.5
    return TrialResult(arrays={"kernel_apart": Array("seed", unbiased * found.each)})


def _trained(params: Trained, point: Point) -> TrialResult:
    """LAND-60 and LAND-62: descent on the hinge until every margin is reached."""
    import regimes as rg

    data = _data(params, point, params.n_test)
    start = _networks(params, point, data.in_shape[0])
    run = rg.flow.descend(
        start,
        data,
        rate=params.rate,
        optimiser="gd",
        loss=rg.flow.hinge(1.0),
        subtract_init=point.subtract_init,
        divide_by="1",
        until="fitted",
        events=("fitted",),
        max_steps=params.steps,
        check_every=10,
        checkpoint=point.checkpoint(),
    )
    end = start.moved_to(run.parameters)
    grams = rg.tangent.stacked_gram(start, data.x_train)
    noise = rg.measure.kernel_fluctuation(grams)
    unbiased = (len(grams) / (len(grams) - 1)) ** 0.5
    functions = _spread.Functions(end, start if point.subtract_init else None)
    each = {
        "kernel_apart": unbiased * noise.each,
        "kernel_change": rg.tangent.stacked_change(start, end, data.x_train),
        "apart_test": rg.measure.output_fluctuation(functions(data.x_test)).each,
        "fitted": run.fitted.double(),
        "steps": run.steps.double(),
    }
    return TrialResult(arrays={name: Array("seed", values) for name, values in each.items()})
