"""Parity of digits with a deep network, and with its kernels [Paccolat 2021, fig. 8]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.compression._modes import MODES, mode_arrays
from regimes.studies.compression.digit_parity import _nets as nets

# Every third of the paper's sizes 42, 51, 61, ..., 6944: 51, 87, 151, ..., 6944.
PAPER_P = tuple(round(6944 / 1.2**n) for n in range(27, -1, -3))


@dataclass(frozen=True)
class Params:
    """Scanned: p and seed. Fixed: the rest."""

    p: tuple[int, ...] = (40, 80)
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"  # or "mnist"
    n_test: int | None = 100  # None: all that two sets of p images leave
    width_factor: int = 1
    alpha: float = 2e-3
    softness: float = 3.0  # beta of the soft hinge
    output: float = 1.0  # largest change of a prediction in a step
    gradient: float = 0.1  # and of the gradient
    max_steps: int = 15
    points: int = 100  # images unseen by the network on which eigenvectors are taken
    cube_points: int = 300  # points of the clouds that test the estimator of dimension
    cube_draws: int = 1  # such clouds per seed
    ridges: tuple[float, ...] = (0.01,)


@study(
    "compression/digit-parity",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            p=(100, 200, 400, 800),
            seed=tuple(range(8)),
            n_test=None,
            width_factor=2,
            max_steps=12_000,
            points=900,
            cube_points=2000,
            cube_draws=3,
        ),
        "paper": Params(
            p=PAPER_P,
            seed=tuple(range(5)),
            images="mnist",
            n_test=10_000,
            width_factor=10,
            max_steps=10_000,
            points=2000,
            cube_points=2000,
            cube_draws=3,
        ),
    },
    axes=[Axis("p", unit="images"), Axis("seed", stacked=True)],
    units={
        "error": "fraction",
        "paired_error": "fraction",
        "information": "bits",
        "information_centered": "bits",
        "satisfied": "fraction",
        "kernel_satisfied": "fraction",
    },
    watch={"paired_error": "min"},
    dtype="float32",
)
class DigitParity:
    """A deep convolutional network learns whether a digit is even, and so do its kernels.

    The network is trained in the feature regime. Its tangent kernel and the kernel of its last
    layer, taken before and after, then learn as hard-margin machines: the kernel after training
    should learn from new images as well as the network did, the one before it much worse.

    The paper: [Paccolat 2021, sec. 5.2 and figs. 8 to 10].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the seeds side by side, then learn with the four kernels of each."""
        sets = [
            nets.digit_parity(params.images, point.p, params.n_test, seed, point.dtype)
            for seed in point.seed
        ]
        start = nets.networks(
            sets[0], params.width_factor, point.seed, dtype=point.dtype, device=point.device
        )
        run = nets.train(params, start, sets)
        end = start.moved_to(run.parameters)
        trained = [nets.member(end, i) for i in range(len(sets))]
        frozen = [
            nets.frozen_kernels(nets.member(start, i), trained[i], each, params.points)
            for i, each in enumerate(sets)
        ]
        errors, satisfied = nets.learn(frozen)
        pairs = list(zip(trained, sets, strict=True))
        own = [[nets.network_error(net, each.unseen)] for net, each in pairs]
        look = partial(rg.measure.label_modes, r=MODES, ridges=params.ridges)
        found = [[look(one.fresh, one.y_fresh) for one in each] for each in frozen]
        arrays = {
            "error": Array(("seed", "curve"), np.concatenate([own, errors], axis=1)),
            "paired_error": Array("seed", [nets.network_error(n, each.test) for n, each in pairs]),
            "kernel_satisfied": Array(("seed", "kernel"), satisfied),
            "dimension": Array(
                ("seed", "kernel"),
                [
                    [rg.measure.effective_dimension(one.fresh, gram=True).value for one in each]
                    for each in frozen
                ],
            ),
            "cube_dimension": Array(("seed", "cube"), nets.cube_dimensions(params, point)),
            "label": Array("sample", frozen[0][0].y_fresh),
            "satisfied": Array("seed", run.history["satisfied"][:, -1]),
            "fitted": Array("seed", run.fitted),
            "t_end": Array("seed", run.times[:, -1]),
            "steps": Array("seed", run.steps),
        }
        sizes = {"n_test": len(sets[0].test.y), "pixels": sets[0].test.x[0].numel()}
        return TrialResult(sizes, arrays=mode_arrays(found) | arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Images passed through the network."""
        return float(len(point.seed) * params.max_steps * (point.p + 100))
