"""What the spectrum of a Gram says about the learning curve [Spigler 2020, figs. 3 and 9]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.kernels._pixels import pixels


@dataclass(frozen=True)
class Params:
    """Scanned: task and seed. A seed draws the images of all Grams and curves."""

    task: tuple[str, ...] = ("digits",)
    seed: tuple[int, ...] = (0, 1)
    points: tuple[int, ...] = (400, 800)  # in the Gram
    modes: int = 40  # kept of each Gram
    sizes: tuple[int, ...] = (64, 128, 256)  # of the learning curve
    n_test: int = 200
    sigma: float = 1000.0


@study(
    "kernels/image-spectra",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            ("mnist", "cifar10", "cifar10-other"),
            tuple(range(8)),
            (1500, 3000, 4500),
            300,
            (128, 256, 512, 1024, 2048),
            1000,
        ),
        "paper": Params(
            ("mnist", "cifar10", "cifar10-other"),
            tuple(range(3)),
            (1500, 3000, 4500, 9000, 20_000),
            900,
            (128, 256, 512, 1024, 2048, 4096, 8192),
            1500,
        ),
    },
    axes=["task", Axis("seed")],
    units={"tail": "1", "eigenvalue": "1", "mse": "1"},
)
class ImageSpectra:
    """The exponent of a learning curve, foretold by kernel principal components.

    The Gram of a Laplace kernel on some thousand images has eigenvectors that the label projects
    on. What the first n of them leave of the label falls as the error of a regression on n images
    does: the exponent can be read from a spectrum before anything is learned.

    The paper: [Spigler 2020, sec. 6, figs. 3 and 9, app. J].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Grams of several sizes, and the curve, of one draw."""
        x, y = pixels(point.task)
        kernel = rg.kernels.Laplace(params.sigma)
        points = tuple(n for n in params.points if n <= len(x))
        tails, values = [], []
        for n in points:
            tail = rg.curves.spectral_tail(
                (x, y),
                kernel,
                n,
                1,
                top=min(params.modes, n // 5),
                seed=point.seed,
                device=point.device,
            )
            spare = params.modes - len(tail.ranks)
            tails.append(np.pad(tail.power[0], (0, spare), constant_values=np.nan))
            values.append(np.pad(tail.eigenvalues[0], (0, spare), constant_values=np.nan))
        curve = rg.curves.learning_curve(
            (x, y),
            kernel,
            tuple(n for n in params.sizes if n <= len(x) - params.n_test),
            1,
            n_test=params.n_test,
            seed=point.seed,
            device=point.device,
        )
        return TrialResult(
            arrays={
                "points": Array("points", points),
                "rank": Array("rank", np.arange(1, params.modes + 1)),
                "tail": Array(("points", "rank"), tails),
                "eigenvalue": Array(("points", "rank"), values),
                "size": Array("size", curve.sizes),
                "mse": Array("size", curve.errors[0]),
            }
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the largest Gram."""
        return float(max(params.points) ** 2)
