"""Learning curves of Matern fields on the circle [Spigler 2020, fig. 8]."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study


@dataclass(frozen=True)
class Params:
    """Scanned: nu, the smoothness of the teacher, and seed."""

    nu: tuple[float, ...] = (0.5, 2.5)
    seed: tuple[int, ...] = (0, 1)
    sizes: tuple[int, ...] = (32, 64, 128)
    n_test: int = 100
    sigma: float = 2.0


@study(
    "kernels/circle",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            (0.5, 1.0, 1.5, 2.0, 2.5, 4.0), tuple(range(144)), (32, 64, 128, 256, 512), 500
        ),
        "paper": Params(
            (0.5, 1.0, 1.5, 2.0, 2.5, 4.0),
            tuple(range(24)),
            (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
            1000,
        ),
    },
    axes=["nu", Axis("seed")],
    units={"mse": "1"},
)
class Circle:
    """Smoother targets are learned faster, up to what the kernel can follow.

    Matern fields on the circle, from rough to smooth, are learned by a Laplace kernel. The exponent
    is twice the smoothness of the field until the student's own roughness stops it at four.

    The paper: [Spigler 2020, app. C, fig. 8].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One field on one draw of points."""
        top = max(params.sizes)
        drawn = rg.data.sphere_points(top + params.n_test, 1, point.seed).to(point.device)
        errors = rg.kernels.teacher_error(
            rg.kernels.Matern(params.sigma, point.nu),
            rg.kernels.Laplace(params.sigma),
            drawn[:top],
            drawn[top:],
            params.sizes,
        )
        return TrialResult(
            arrays={"size": Array("size", params.sizes), "mse": Array("size", errors.numpy())}
        )
