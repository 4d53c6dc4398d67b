"""N* against the margin when the norm of the output is held [Geiger 2020b, sec. 6]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape import _networks, _tasks, _training


@dataclass(frozen=True)
class Params:
    """Scanned: margin, width; a seed is a network and its points. Fixed: the rest."""

    margin: tuple[float, ...] = (0.0, 0.4)
    width: tuple[int, ...] = (3, 10)
    seed: tuple[int, ...] = (0, 1, 2)
    depth: int = 2
    d: int = 10
    n_train: int = 20
    steps: int = 200


_CPU = Params(
    margin=(0.0, 0.1, 0.2, 0.4),
    width=(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20),
    seed=tuple(range(16)),
    n_train=300,
    steps=40_000,
)


@study(
    "landscape/output-norm",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": _CPU,
        "paper": Params(
            margin=_CPU.margin,
            width=(8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40),
            seed=_CPU.seed,
            n_train=1000,
            steps=200_000,
        ),
    },
    axes=["margin", Axis("width", unit="neurons"), Axis("seed", stacked=True)],
)
class OutputNorm:
    """With outputs of norm 1 a margin costs parameters.

    A network whose output may grow reaches any margin once its signs are right. Divided by its norm
    over the training points it does not: the larger the margin, the more parameters it takes.

    The paper: [Geiger 2020b, sec. 6].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Networks of one width, random labels, outputs divided by their norm."""
        import torch

        import regimes as rg

        place = {"dtype": point.dtype, "device": point.device}
        data = [_tasks.random_task(params.n_train, params.d, seed, **place) for seed in point.seed]
        start = _networks.networks(params.d, point.width, params.depth, list(point.seed), **place)
        run = _training.adam_fast(
            start,
            data,
            steps=params.steps,
            loss=rg.flow.NormalisedHinge(point.margin),
            check_every=20,
            checkpoint=point.checkpoint(),
        )
        outputs = run.outputs_train[..., 0]
        norm = outputs.square().mean(1, keepdim=True).sqrt()
        labels = torch.stack([each.y_train for each in data])
        missed = (point.margin - labels * outputs / norm > 0).double().mean(1)
        return TrialResult(
            {"parameters": _networks.weights_of(params.d, point.width, params.depth)},
            {
                "fitted": Array("seed", run.fitted.double()),
                "missed": Array("seed", missed),
                "steps": Array("seed", run.steps.double()),
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Narrow networks take all their steps."""
        return 1.0 / point.width
