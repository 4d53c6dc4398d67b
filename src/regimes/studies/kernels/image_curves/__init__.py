"""Learning curves of kernel regression on images [Spigler 2020, fig. 1]."""

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


@study(
    "kernels/image-curves",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            ("mnist", "cifar10", "cifar10-other"),
            tuple(range(16)),
            (128, 256, 512, 1024, 2048, 4096),
            1000,
        ),
        "paper": Params(
            ("mnist", "cifar10", "cifar10-other"),
            tuple(range(3)),
            (128, 256, 512, 1024, 2048, 4096, 8000, 16_000, 32_000, 50_000),
            2000,
        ),
    },
    axes=["task", Axis("kernel", stacked=True), Axis("seed")],
    units={"mse": "1"},
)
class ImageCurves:
    """How fast regression with a kernel learns images, without a ridge.

    Laplace and Gaussian kernels with a length of 1000 on pixels from 0 to 255 learn to tell even
    digits from odd ones, and two groups of classes of small photographs. The squared error falls as
    a power of the number of images, which hardly depends on the kernel: much faster than the number
    of pixels would allow, and slower than parametric rates.

    The paper: [Spigler 2020, sec. 3, fig. 1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both kernels on one draw of images."""
        x, y = pixels(point.task)
        sizes = tuple(n for n in params.sizes if n <= len(x) - params.n_test)
        kernels = covariances(point.kernel, params.sigma)
        found = rg.curves.learning_curves(
            (x, y),
            kernels,
            sizes,
            1,
            n_test=params.n_test,
            seed=point.seed,
            device=point.device,
        ).values()
        names = {"mse": "errors", "condition": "condition", "residual": "residual"}
        dims = ("kernel", "size")
        return TrialResult(
            {"duplicates": next(iter(found)).duplicates, "pixels": x.shape[1]},
            {
                "size": Array("size", sizes),
                **{
                    name: Array(dims, [getattr(curve, own)[0] for curve in found])
                    for name, own in names.items()
                },
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Distances and a factor."""
        return float(max(params.sizes) ** 2 * (1.0 if point.task == "mnist" else 4.0))
