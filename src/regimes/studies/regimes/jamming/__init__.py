"""How many parameters fit how many points, and what the landscape is like there.

REG-58, REG-59 and REG-60 are about the networks, losses and data of [Geiger 2019], [Spigler 2019]
and [Geiger 2020b]. These are used here, not those of the other studies of this theme; see
docs/themes/regimes.md, "Fits that stop, and jamming".
"""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.regimes import _runs
from regimes.studies.regimes._training import cost_of_steps
from regimes.studies.regimes.jamming import _training as training
from regimes.studies.regimes.jamming._ends import ends
from regimes.studies.regimes.jamming._hessian import negative_shares

MARGIN = {"fast": 0.5, "constant": 1.0}  # LAND-10 and LAND-39; harmless by scaling
GUESS = {"parity": (170.0, 0.75), "random": (440.0, 0.85)}  # N* ~ a (P/1000)^c, to aim at


@dataclass(frozen=True)
class Params:
    """Scanned: labels, trainer, n_train, width and seed. Fixed: the rest."""

    labels: tuple[str, ...] = training.LABELS
    trainer: tuple[str, ...] = training.TRAINERS
    n_train: tuple[int, ...] = (30, 60)
    width: tuple[int, ...] = (2, 3, 5)
    seed: tuple[int, ...] = (0, 1)
    around: float = 100.0  # widths whose N is within this factor of the expected N* are run
    images: str = "digits"
    n_test: int = 200
    steps: int = 100  # of the fast trainer
    constant_steps: int = 100
    norm_points: int = 30  # P of the runs at a constant rate, whose output is looked at
    norm_widths: tuple[int, ...] = (2, 5)
    hessian_width: int = 4  # of the networks whose Hessian is taken
    hessian_seeds: int = 1


@study(
    "regimes/jamming",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(250, 500, 1000, 2000),
            width=(*range(3, 17), 18, 20, 22, 24, 26, 28, 34, 40),
            seed=tuple(range(6)),
            around=1.5,
            images="mnist",
            n_test=5000,
            steps=60_000,
            constant_steps=40_000,
            norm_points=1000,
            norm_widths=(7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 28, 34, 40),
            hessian_width=12,
            hessian_seeds=8,
        ),
        "paper": Params(
            n_train=(500, 1000, 2000, 5000, 10_000),
            width=tuple(sorted({round(5 * 1.08**k) for k in range(50)})),
            seed=tuple(range(10)),
            around=1.8,
            images="mnist",
            n_test=50_000,
            steps=2_000_000,
            constant_steps=2_000_000,
            norm_points=10_000,
            norm_widths=tuple(sorted({round(5 * 1.08**k) for k in range(10, 50)})),
            hessian_width=20,
            hessian_seeds=20,
        ),
    },
    axes=[
        "labels",
        "trainer",
        Axis("n_train", unit="points"),
        Axis("width", unit="neurons"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction", "parameters": "weights", "unfitted": "points"},
)
class Jamming:
    """The narrowest network that fits P points, for digits and for random labels.

    Random labels need a number of parameters N* in proportion to P, structured ones fewer, and ever
    fewer for each further point. Just below N* the points that are not fitted are fewer than the
    parameters, but not many fewer: most parameters are held by a constraint. Just above N* the
    points are fitted at the price of an output that diverges as N* is approached.

    The papers: [Geiger 2019], [Spigler 2019], [Geiger 2020b], [Geiger 2021, sec. 2].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Networks of one width, some seeds, to their end."""
        place = {"dtype": point.dtype, "device": point.device}
        data = training.task(point.labels, params.images, point.n_train, params.n_test, **place)
        start = training.networks(point.width, point.seed, **place)
        fast = point.trainer == "fast"
        steps = params.steps if fast else params.constant_steps
        margin = MARGIN[point.trainer]
        run = training.train(
            start,
            data,
            steps=steps,
            margin=margin,
            lowered=fast,
            checkpoint=point.checkpoint(),
        )
        kept = _runs.by_seed(ends(start, run, data, margin))
        negative = negative_shares(data, params.hessian_width, params.hessian_seeds, point.dtype)
        return TrialResult(
            {"parameters": training.weights_of(point.width), "margin": margin},
            kept | {"negative": Array(("activation", "draw"), negative)},
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Widths around the expected N*; at a constant rate those whose output is looked at."""
        if point.trainer == "constant":
            asked = point.width in params.norm_widths and point.n_train == params.norm_points
            return bool(asked and point.labels == "parity")
        share = training.weights_of(point.width) / _expected(point)
        return bool(1 / params.around <= share <= params.around)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Networks of more than 2 N* fit early."""
        steps = params.steps if point.trainer == "fast" else params.constant_steps
        early = training.weights_of(point.width) > 2 * _expected(point)
        taken = steps * (0.2 if early else 1.0)
        return cost_of_steps(point, taken, point.n_train, point.width, calls=1e6)


def _expected(point: Point) -> float:
    scale, power = GUESS[point.labels]
    return scale * (point.n_train / 1000) ** power
