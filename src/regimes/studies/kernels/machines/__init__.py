"""Learning curves of soft-margin machines on images [Spigler 2020, fig. 1]."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.kernels._covariances import KERNELS, covariances
from regimes.studies.kernels._pixels import pixels


@dataclass(frozen=True)
class Params:
    """Scanned: task, kernel (both in a trial) and seed.

    Sizes that a set of images cannot give are left out.
    """

    task: tuple[str, ...] = ("digits",)
    seed: tuple[int, ...] = (0, 1)
    sizes: tuple[int, ...] = (64, 128, 256)
    n_test: int = 200
    sigma: float = 1000.0
    kernel: tuple[str, ...] = KERNELS
    penalty: float = 1e4


@study(
    "kernels/machines",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(("mnist", "cifar10"), tuple(range(24)), (128, 256, 512, 1024, 2048), 4000),
        "paper": Params(
            ("mnist", "cifar10"),
            tuple(range(4)),
            (128, 256, 512, 1024, 2048, 4096, 8192, 16_384),
            1800,
        ),
    },
    axes=["task", Axis("kernel", stacked=True), Axis("seed")],
    units={"error": "fraction", "violation": "1"},
)
class Machines:
    """How fast support vector machines learn images, with the kernels of regression.

    Machines with soft margins (C = 10,000) and the same kernels, on the same draws of images as a
    regression beside them. The fraction of wrong labels falls with nearly the exponent of the
    squared error of regression, slightly faster.

    The paper: [Spigler 2020, sec. 3, fig. 1, app. A].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both kernels and both machines on one draw of images."""
        x, y = pixels(point.task)
        sizes = tuple(n for n in params.sizes if n <= len(x) - params.n_test)
        kernels = covariances(point.kernel, params.sigma)
        found = {
            machine: list(
                rg.curves.learning_curves(
                    (x, y),
                    kernels,
                    sizes,
                    1,
                    machine=machine,
                    n_test=params.n_test,
                    penalty=params.penalty,
                    seed=point.seed,
                    device=point.device,
                ).values()
            )
            for machine in ("svm", "regression")
        }
        dims = ("kernel", "size")
        return TrialResult(
            arrays={
                "size": Array("size", sizes),
                "error": Array(dims, [curve.errors[0] for curve in found["svm"]]),
                "violation": Array(dims, [curve.residual[0] for curve in found["svm"]]),
                "mse": Array(dims, [curve.errors[0] for curve in found["regression"]]),
            }
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Distances, of images of so many pixels."""
        return float(max(params.sizes) ** 2 * (1.0 if point.task == "mnist" else 4.0))
