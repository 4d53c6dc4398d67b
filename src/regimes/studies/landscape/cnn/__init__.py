"""Convolutional networks on CIFAR-10 against their channels [Geiger 2020b, sec. 8, fig. 8]."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape._images import class_errors, classes, networks


@dataclass(frozen=True)
class Params:
    """Scanned: channels f, and seeds side by side. Fixed: the rest."""

    channels: tuple[int, ...] = (2, 4, 8)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    files: str = "least"
    shrink: int = 1
    n_train: int = 60
    n_test: int = 100
    batch: int = 20
    epochs: int = 5
    scaled: float = 1.0  # the rate is this over f
    group: int = 2  # networks of an ensemble
    look: int = 1  # epochs between looks at the training points


_CPU = Params(
    channels=(2, 4, 8, 16, 32),
    seed=tuple(range(6)),
    images="cifar10",
    files="all",
    shrink=4,
    n_train=1000,
    n_test=2000,
    batch=250,
    epochs=500,
    group=3,
    look=10,
)
AXES = (Axis("channels"), Axis("seed", stacked=True))


@study(
    "landscape/cnn",
    version=1,
    dtype="float32",
    sizes={
        "smoke": {"main": Params(), "longer": Params(channels=(2, 4), epochs=8)},
        "cpu": {
            "main": _CPU,
            "longer": replace(_CPU, channels=(4, 8, 16), epochs=1000, scaled=10.0),
        },
        # eight thousand colour images are at hand, of the papers' fifty
        "paper": {
            "main": replace(
                _CPU,
                channels=(4, 8, 16, 24, 32, 48, 64),
                seed=tuple(range(6)),
                files="split",
                shrink=1,
                n_train=8000,
                n_test=2000,
                epochs=200,
                scaled=10.0,
            )
        },
    },
    axes={"main": AXES, "longer": AXES},
    units={"error": "fraction", "train_error": "fraction", "group_error": "fraction"},
    watch={"ensemble_error": "min"},
)
class Cnn:
    """The same picture for convolutional networks on colour images.

    With few channels the training points are not fitted; beyond that the error of single networks
    goes on falling, and the mean prediction of several narrow ones is as good as any.

    The paper: [Geiger 2020b, sec. 8].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All seeds of one number of channels, stochastic descent on the linear hinge."""
        import regimes as rg

        data = classes(params, point)
        per_epoch = -(-params.n_train // params.batch)
        start = networks(data, point.channels, point.seed, point)
        run = rg.flow.descend(
            start,
            data,
            rate=params.scaled / point.channels,
            batch_size=params.batch,
            loss=rg.flow.hinge(1.0),
            subtract_init=False,
            divide_by="1",
            until="fitted",
            events=("fitted",),
            max_steps=params.epochs * per_epoch,
            check_every=params.look * per_epoch,
            seed=point.seed[0],
            checkpoint=point.checkpoint(),
        )
        found = class_errors(run, data, params.group)
        best = float(found.pop("ensemble_error"))
        each = {
            name: Array("seed", values) for name, values in found.items() if name != "group_error"
        }
        return TrialResult(
            {
                "ensemble_error": best,
                "parameters": sum(v[0].numel() for v in start.parameters.values()),
            },
            each | {"group_error": Array("group", found["group_error"])},
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Convolutions of f by f channels."""
        return float(point.channels * (point.channels + 10) * params.epochs)
