"""Learning curves with smooth kernels [Spigler 2020, fig. 7]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Tensor

JITTERS = (0.0, 1e-7)


@dataclass(frozen=True)
class Params:
    """Scanned: seed. The three pairs of a trial share no sizes, so each has its own."""

    seed: tuple[int, ...] = (0, 1)
    d: int = 3
    sigma: float = 3.0
    smooth_sizes: tuple[int, ...] = (8, 27, 64)
    rough_sizes: tuple[int, ...] = (50, 100, 200)
    mixed_sizes: tuple[int, ...] = (50, 100, 200)
    n_test: int = 100
    features: int = 500  # waves of a smooth target


@study(
    "kernels/smooth-students",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            tuple(range(16)),
            6,
            6.0,
            (8, 27, 64, 125, 216, 343, 512),
            (100, 200, 216, 400, 800, 1600),
            (50, 100, 200, 400, 800, 1600),
            500,
            4096,
        ),
        "paper": Params(
            tuple(range(16)),
            6,
            6.0,
            (8, 27, 64, 125, 216, 343, 512, 729, 1000, 1331, 1728, 2197),
            (100, 200, 216, 400, 800, 1600, 3200, 6400, 12_800),
            (50, 100, 200, 400, 800, 1600, 3200, 6400),
            1000,
            8192,
        ),
    },
    axes=[Axis("seed")],
    units=dict.fromkeys(("smooth", "rough", "mixed", "mixed_float32"), "1"),
)
class SmoothStudents:
    """What a perfectly smooth kernel does on the sphere S^6.

    A Gaussian kernel learns a field of its own kind faster than any power of n. A rough field it
    should learn with the exponent 1/d; on random points without a ridge its Gram is singular to
    rounding instead, and the error hardly falls, until something small is added to the diagonal.

    The paper: [Spigler 2020, app. D, fig. 7].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All pairs on one draw of points."""
        import torch

        sigma, tops = params.sigma, (params.smooth_sizes, params.rough_sizes, params.mixed_sizes)
        most = max(max(sizes) for sizes in tops)
        drawn = rg.data.sphere_points(most + params.n_test, params.d, point.seed).to(point.device)
        train, test = drawn[:most], drawn[most:]
        gauss, laplace = rg.kernels.Gaussian(sigma), rg.kernels.Laplace(sigma)
        rough = rg.kernels.teacher_error(laplace, laplace, train, test, params.rough_sizes)
        arrays = {"rough": rough.numpy()}
        field = rg.data.fourier_field(
            params.d + 1, sigma, features=params.features, seed=point.seed
        )
        z, z_test = field(train)[0], field(test)[0]
        smooth, residual, rank = [], [], []
        for n in params.smooth_sizes:
            found = rg.kernels.regression(gauss(train[:n]), z[:n])
            error = found.predict(gauss(test, train[:n])) - z_test
            smooth.append(float(error.square().mean()))
            residual.append(found.residual)
            rank.append(float(found.rank))
        arrays |= {"smooth": np.array(smooth), "smooth_residual": np.array(residual)}
        arrays |= {"smooth_rank": np.array(rank)}
        # fields of a Laplace kernel cannot be averaged over where the Gram has no inverse: drawn
        sizes = params.mixed_sizes
        top = max(sizes)
        both = torch.cat([train[:top], test])
        target = rg.data.gaussian_field(both, laplace, seed=point.seed)[0]
        mixed = [
            _errors(train[:top], test, target, sizes, gauss, jitter, torch.float64)
            for jitter in JITTERS
        ]
        arrays["mixed"] = np.array(mixed)
        single = _errors(train[:top], test, target, sizes, gauss, 0.0, torch.float32)
        arrays["mixed_float32"] = np.array(single)
        dims: dict[str, tuple[str, ...]] = {
            "mixed": ("jitter", "mixed_size"),
            "mixed_float32": ("mixed_size",),
            "rough": ("rough_size",),
        }
        return TrialResult(
            arrays={
                "smooth_size": Array("smooth_size", params.smooth_sizes),
                "rough_size": Array("rough_size", params.rough_sizes),
                "mixed_size": Array("mixed_size", sizes),
                "jitter": Array("jitter", JITTERS),
                **{
                    name: Array(dims.get(name, ("smooth_size",)), values)
                    for name, values in arrays.items()
                },
            }
        )


def _errors(
    x: Tensor,
    x_test: Tensor,
    target: Tensor,
    sizes: Sequence[int],
    kernel: Any,
    jitter: float,
    dtype: Any,
) -> list[float]:
    """Squared errors of regression on the first n points."""
    K, k, top = kernel(x).to(dtype), kernel(x_test, x).to(dtype), len(x)
    z = target.to(dtype)
    errors = []
    for n in sizes:
        found = rg.kernels.regression(K[:n, :n], z[:n], jitter=jitter)
        errors.append(float((found.predict(k[:, :n]) - z[top:]).double().square().mean()))
    return errors
