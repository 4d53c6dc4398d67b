"""Hinge and cross-entropy on the same convolutional network [Geiger 2019, sec. II.B]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape._images import class_errors, classes, networks

LOSSES = ("quadratic_hinge", "cross_entropy")


@dataclass(frozen=True)
class Params:
    """Scanned: loss, and seeds side by side. Fixed: the rest."""

    loss: tuple[str, ...] = LOSSES
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    files: str = "least"
    shrink: int = 1
    n_train: int = 60
    n_test: int = 100
    channels: int = 4
    batch: int = 20
    epochs: int = 5
    hinge_rate: float = 0.5
    entropy_rate: float = 0.05


@study(
    "landscape/loss-swap",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(10)),
            images="mnist",
            files="all",
            shrink=2,
            n_train=2000,
            n_test=5000,
            channels=16,
            batch=50,
            epochs=40,
        ),
        "paper": Params(
            seed=tuple(range(6)),
            images="cifar10",
            files="split",
            n_train=8000,
            n_test=2000,
            channels=96,
            batch=100,
            epochs=40,
        ),
    },
    axes=["loss", Axis("seed", stacked=True)],
    units={"error": "fraction", "train_error": "fraction"},
)
class LossSwap:
    """A convolutional network trained with the hinge is as good as with the cross-entropy.

    Same networks, starts, batches and schedule: momentum 0.9, the rate lowered to zero linearly.
    The rates themselves differ, as the two losses have gradients of different sizes: the hinge of
    ten outputs is averaged over them.

    The paper: [Geiger 2019, sec. II.B].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All seeds of one loss."""
        import regimes as rg

        data = classes(params, point)
        start = networks(data, params.channels, point.seed, point)
        hinge = point.loss == "quadratic_hinge"
        steps = params.epochs * -(-params.n_train // params.batch)
        run = rg.flow.descend(
            start,
            data,
            rate=params.hinge_rate if hinge else params.entropy_rate,
            optimiser="momentum",
            schedule=rg.flow.linear_decay(steps),
            batch_size=params.batch,
            loss=rg.flow.quadratic_hinge(1.0) if hinge else "cross_entropy",
            subtract_init=False,
            divide_by="1",
            until=None,
            events=(),
            max_steps=steps,
            check_every=steps,
            seed=point.seed[0],
            checkpoint=point.checkpoint(),
        )
        found = class_errors(run, data, len(point.seed))
        names = ("error", "train_error")
        return TrialResult(
            {"ensemble_error": float(found["ensemble_error"])},
            {name: Array("seed", found[name]) for name in names},
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Both losses cost the same."""
        return 1.0
