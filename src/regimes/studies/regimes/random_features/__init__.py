"""Random features: the error's peak, what ensembles do to it, and an implicit ridge."""

from dataclasses import dataclass, replace

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.regimes.random_features._claims import JUDGED
from regimes.studies.regimes.random_features._models import (
    Task,
    effective_ridge,
    make_task,
    minimum_norm,
)


@dataclass(frozen=True)
class Params:
    """Scanned: ratio h/P, stacked seed (a training set each). Fixed: sizes of both tasks."""

    ratio: tuple[float, ...] = JUDGED
    seed: tuple[int, ...] = tuple(range(4))
    d: int = 5
    points: int = 12
    members: int = 4
    n_test: int = 100
    noise: float = 0.3
    ridge_d: int = 10
    ridge_points: int = 20
    ridge: float = 1e-2
    ridge_draws: int = 40
    ridge_sets: int = 2


CPU = Params(
    ratio=tuple(sorted((1 / 6, 1 / 3, 0.75, 0.9, 1.25, 3.0, 5.0, 10.0, *JUDGED))),
    seed=tuple(range(60)),
    d=20,
    points=60,
    members=10,
    n_test=1000,
    ridge_points=40,
    ridge_draws=800,
    ridge_sets=6,
)


@study(
    "regimes/random-features",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": CPU,
        "paper": replace(CPU, d=200, points=2000, seed=tuple(range(6)), n_test=4000),
    },
    axes=["ratio", Axis("seed", stacked=True)],
)
class RandomFeatures:
    """A linear readout on random relu features, with as many features as you like.

    The test error has a peak where features and training points are equally many, and falls again
    beyond. Averages over draws of the features have no such peak, and are what kernel ridge
    regression with a larger ridge gives.

    The papers: [Geiger 2021b, sec. 8.1], [Mei 2021], [d'Ascoli 2020], [Jacot 2020].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both tasks at one number of features."""

        def tasks(d: int, points: int, n_test: int, seeds: list[int]) -> list[Task]:
            noise, device = params.noise, point.device
            return [make_task(d, points, n_test, noise, seed, device) for seed in seeds]

        seeds = list(point.seed)
        sets = seeds[: params.ridge_sets]  # those the averages are made for
        width = max(1, round(point.ratio * params.points))
        made = tasks(params.d, params.points, params.n_test, seeds)
        fits = minimum_norm(made, seeds, width, params.members, params.noise)
        wide = max(1, round(point.ratio * params.ridge_points))
        ridges = [
            effective_ridge(task, seed, wide, params.ridge_draws, params.ridge)
            for seed, task in zip(
                sets, tasks(params.ridge_d, params.ridge_points, 500, sets), strict=True
            )
        ]
        return TrialResult(
            {
                "width": width,
                "points": params.points,
                "ridge": params.ridge,
                "bias": fits.sources.bias,
                "variance_initialisation": fits.sources.members,
                "variance_sampling": fits.sources.sets,
                "variance_noise": fits.noise,
            },
            arrays={
                "error": Array(("seed", "member"), fits.error),
                "ensemble_error": Array("seed", fits.ensemble),
                **{
                    f"ridge_{name}": Array("ridge_set", [getattr(each, name) for each in ridges])
                    for name in ("fitted", "residual", "same", "doubt", "root")
                },
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Both the fits and the averages are proportional to the number of features."""
        return 0.2 + point.ratio
