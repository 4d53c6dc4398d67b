"""Random features: the error's peak, what ensembles do to it, and an implicit ridge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes.random_features._figures import FIGURES
from regimes.studies.regimes.random_features._models import (
    effective_ridge,
    make_task,
    minimum_norm,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

FEW, PEAK, PAST, MANY = 0.5, 1.0, 5 / 3, 25.0  # h/P of 30, 60, 100 and 1500 features for P = 60
BEYOND = 13 / 12  # 65 features: from here on the error is expected to fall
RIDGE = 2.0  # h/P of REG-69
ENOUGH = 40  # training points, below which nothing is decided
CLOSE = 0.2  # relative distance that counts as close to the root of REG-69


@dataclass(frozen=True)
class Params:
    """Scanned: ratio h/P, stacked seed (a training set each). Fixed: sizes of both tasks."""

    ratio: tuple[float, ...] = (FEW, PEAK, BEYOND, PAST, RIDGE, MANY)
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
    ratio=(1 / 6, 1 / 3, FEW, 0.75, 0.9, PEAK, BEYOND, 1.25, PAST, RIDGE, 3.0, 5.0, 10.0, MANY),
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
    axes=[Axis("ratio"), Axis("seed", stacked=True)],
    judges=("REG-67", "REG-68", "REG-69"),
)
class RandomFeatures:
    """A linear readout on random relu features, with as many features as you like.

    The test error has a peak where features and training points are equally many, and falls again
    beyond. Averages over draws of the features have no such peak, and are what kernel ridge
    regression with a larger ridge gives.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both tasks at one number of features."""
        seeds = list(point.seed)
        width = max(1, round(point.ratio * params.points))
        tasks = [
            make_task(params.d, params.points, params.n_test, params.noise, seed, point.device)
            for seed in seeds
        ]
        fits = minimum_norm(tasks, seeds, width, params.members, params.noise)
        wide = max(1, round(point.ratio * params.ridge_points))
        ridges = [
            effective_ridge(
                make_task(
                    params.ridge_d, params.ridge_points, 500, params.noise, seed, point.device
                ),
                seed,
                wide,
                params.ridge_draws,
                params.ridge,
            )
            for seed in range(params.ridge_sets)
        ]
        return TrialResult(
            {
                "width": width,
                "points": params.points,
                "ridge": params.ridge,
                "bias": fits.bias,
                "variance_initialisation": fits.initialisation,
                "variance_sampling": fits.sampling,
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

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """As far as the scan has come."""
        if "error" not in dataset:
            return {}
        return {title: draw(dataset) for title, draw in FIGURES.items()}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """All three; undecided where numbers of features are missing."""
        return [_peak(dataset), _ensembles(dataset), _ridge(dataset)]


def _at(dataset: xr.Dataset, name: str, ratio: float) -> np.ndarray | None:
    """The values at one h/P, seeds first, or None where it has not run."""
    found = np.flatnonzero(np.abs(dataset.ratio.values / ratio - 1) < 1e-6)
    if name not in dataset or len(found) == 0:
        return None
    values = dataset[name].isel(ratio=int(found[0])).values
    return None if np.isnan(values).all() else values


def _undecided(dataset: xr.Dataset, *ratios: float) -> str:
    """What is missing of these h/P, or that there are too few points."""
    missing = [ratio for ratio in ratios if _at(dataset, "error", ratio) is None]
    if missing:
        return f"h/P = {', '.join(f'{ratio:.3g}' for ratio in missing)} has not run"
    points = float(np.nanmax(dataset.points.values))
    return "" if points >= ENOUGH else f"{points:g} training points are fewer than {ENOUGH}"


def _ratio(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Ratio of medians, and its error by resampling training sets, the same for both."""
    draw = np.random.default_rng(0)
    many = draw.integers(len(one), size=(400, len(one)))
    ratios = [np.median(one[rows]) / np.median(other[rows]) for rows in many]
    return float(np.median(one) / np.median(other)), float(np.std(ratios))


def _peak(dataset: xr.Dataset) -> Claim:
    expected = "median error at h=P > 20 times that at h=P/2; falls beyond"
    why = _undecided(dataset, FEW, PEAK, BEYOND, MANY)
    if why:
        return Claim.unclear("REG-67", expected, why=why)
    ratios = [r for r in sorted(dataset.ratio.values) if _at(dataset, "error", r) is not None]
    error = {r: np.asarray(_at(dataset, "error", r)) for r in ratios}
    few, peak = (min(ratios, key=lambda r: abs(r - goal)) for goal in (FEW, PEAK))
    tail = [r for r in ratios if r > BEYOND - 1e-6]
    steps = [_ratio(error[b], error[a]) for a, b in pairwise(tail)]
    high, worst = _ratio(error[peak], error[few]), max(steps)
    medians = ", ".join(f"{np.median(error[r]):.3g} ({r:.3g})" for r in ratios)
    return claim_of_parts(
        "REG-67",
        [
            Part("peak over h=P/2", high[0], low=20.0, error=high[1]),
            Part("beyond, each over the one before", worst[0], high=1.0, error=worst[1]),
        ],
        why=(
            f"median error (at h/P): {medians}; {error[peak].shape[0]} training sets, "
            f"{error[peak].shape[1]} draws of the features each"
        ),
    )


def _ensembles(dataset: xr.Dataset) -> Claim:
    expected = "h/P = 1.67 over 25: ensembles < 1.6, single > 3"
    why = _undecided(dataset, PAST, MANY)
    if why:
        return Claim.unclear("REG-68", expected, why=why)
    pairs = {
        name: [np.asarray(_at(dataset, name, r)) for r in (PAST, MANY)]
        for name in ("ensemble_error", "error")
    }
    flat, steep = (_ratio(*pair) for pair in pairs.values())
    medians = "; ".join(
        f"{name.replace('_', ' ')} {np.median(one):.3g} and {np.median(two):.3g}"
        for name, (one, two) in pairs.items()
    )
    return claim_of_parts(
        "REG-68",
        [
            Part("ensembles", flat[0], high=1.6, error=flat[1]),
            Part("single", steep[0], low=3.0, error=steep[1]),
        ],
        why=(
            f"medians at h/P = 1.67 and 25: {medians}; ensembles of "
            f"{pairs['error'][0].shape[1]}, {len(pairs['error'][0])} training sets"
        ),
    )


def _ridge(dataset: xr.Dataset) -> Claim:
    expected = "best ridge > lambda, residual < 6 %, close to the root"
    why = _undecided(dataset, RIDGE)
    if why:
        return Claim.unclear("REG-69", expected, why=why)
    fitted, residual, same, doubt, root = (
        np.asarray(_at(dataset, f"ridge_{name}", RIDGE))
        for name in ("fitted", "residual", "same", "doubt", "root")
    )
    used = float(np.nanmax(dataset.ridge.values))

    def part(name: str, values: np.ndarray, low: float, high: float) -> Part:
        error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else None
        return Part(name, float(values.mean()), low, high, error)

    parts = [
        part("ridge over lambda", fitted / used, 1.0, np.inf),
        part("residual", residual, -np.inf, 0.06),
        part("over the root", fitted / root, 1 - CLOSE, 1 + CLOSE),
    ]
    return claim_of_parts(
        "REG-69",
        parts,
        why=(
            f"lambda = {used:g}, fitted {fitted.mean():.4f}, root {root.mean():.4f}, "
            f"{len(fitted)} training sets; with lambda itself the residual would be "
            f"{same.mean():.1%}; the mean of the draws is known to {doubt.mean():.1%}"
        ),
    )
