"""Learning curves of fields on spheres [Spigler 2020, figs. 2 and 6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.kernels._covariances import KERNELS, covariances

SCALES = (0.0, 10.0)  # lengths of both kernels: 0 stands for the dimension d


@dataclass(frozen=True)
class Params:
    """Scanned: d, the dimension of the sphere, and seed; teacher and length in each trial."""

    d: tuple[int, ...] = (1, 2)
    seed: tuple[int, ...] = (0, 1)
    teacher: tuple[str, ...] = KERNELS
    scale: tuple[float, ...] = SCALES
    sizes: tuple[int, ...] = (32, 64, 128)
    n_test: int = 100


@study(
    "kernels/spheres",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            (1, 2, 3, 5, 8), tuple(range(32)), sizes=(64, 128, 256, 512, 1024), n_test=500
        ),
        "paper": Params(
            (1, 2, 3, 5, 10),
            tuple(range(3)),
            sizes=(64, 256, 1024, 2048, 4096, 8192, 16_384),
            n_test=1000,
        ),
    },
    axes=[
        "d",
        Axis("teacher", stacked=True),
        Axis("scale", stacked=True),
        Axis("seed"),
    ],
    units={"mse": "1"},
)
class Spheres:
    """Regression with a Laplace kernel on targets that are Gaussian fields on spheres.

    The target is as rough as the kernel, or perfectly smooth. A rough one is learned with the
    exponent 1/d, d the dimension of the sphere: the curse of dimension. A smooth one with
    2 (1 + 1/d), which the kernel's own roughness sets. Errors are averages over all targets.

    The paper: [Spigler 2020, secs. 4 and 5, figs. 2 and 6].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Every teacher and length on one draw of points."""
        top = max(params.sizes)
        drawn = rg.data.sphere_points(top + params.n_test, point.d, point.seed).to(point.device)
        errors = np.empty((len(point.teacher), len(point.scale), len(params.sizes)))
        for j, scale in enumerate(point.scale):
            sigma = scale or float(point.d)
            student = rg.kernels.Laplace(sigma)
            for i, teacher in enumerate(covariances(point.teacher, sigma).values()):
                errors[i, j] = rg.kernels.teacher_error(
                    teacher, student, drawn[:top], drawn[top:], params.sizes
                ).numpy()
        return TrialResult(
            arrays={
                "size": Array("size", params.sizes),
                "mse": Array(("teacher", "scale", "size"), errors),
            }
        )
