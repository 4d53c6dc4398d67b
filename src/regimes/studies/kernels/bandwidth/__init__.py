"""Learning curves for kernels of very different lengths [Spigler 2020, fig. 5]."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.kernels._pixels import pixels

_MEDIAN_OF = 1000  # images whose distances give the unit of length


@dataclass(frozen=True)
class Params:
    """Scanned: ratio, the length over the median distance of two images, and seed."""

    ratio: tuple[float, ...] = (0.04, 0.4, 4.0, 40.0)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    sizes: tuple[int, ...] = (64, 128, 256)
    n_test: int = 200


@study(
    "kernels/bandwidth",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            images="mnist",
            sizes=(128, 256, 512, 1024, 2048, 4096),
            n_test=1000,
        ),
        "paper": Params(
            seed=tuple(range(8)),
            images="mnist",
            sizes=(128, 256, 512, 1024, 2048, 4096, 8192, 16_384),
            n_test=2000,
        ),
    },
    axes=["ratio", Axis("seed")],
    units={"mse": "1", "distance": "grey levels"},
)
class Bandwidth:
    """What the length of a kernel changes: a factor of the error, and not the exponent.

    Regression with Laplace kernels on MNIST, their length from a twenty-fifth of the distance of
    two images to forty times that. A kernel narrower than any distance learns nothing at all.

    The paper: [Spigler 2020, app. B, fig. 5]; lengths in units of the median distance, see
    docs/themes/kernels.md, "Images".
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One length on one draw of images."""
        import torch

        x, y = pixels(params.images)
        some = x[:_MEDIAN_OF].to(point.device)
        distance = float(torch.pdist(some).median())
        curve = rg.curves.learning_curve(
            (x, y),
            rg.kernels.Laplace(point.ratio * distance),
            params.sizes,
            1,
            n_test=params.n_test,
            seed=point.seed,
            device=point.device,
        )
        return TrialResult(
            {"distance": distance},
            {
                "size": Array("size", params.sizes),
                "mse": Array("size", curve.errors[0]),
                "condition": Array("size", curve.condition[0]),
            },
        )
