"""A block as arrays over seeds and widths, N*, and statistics that resample the seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import regimes as rg
from regimes.lab import Data, judge, rows

RESAMPLES = 200
WHOLE = 10_000  # training points of the papers
EACH = (
    "fitted",
    "train_error",
    "error",
    "early_error",
    "steps",
    "square",
    "apart_test",
    "apart_train",
    "steepness",
    "distance",
    "distance_overall",
    "ensemble_without",
    "probe_ratio",
    "probe_close",
    "probe_missed",
)
Values = Mapping[str, np.ndarray]  # (seed, width) each
Statistic = Callable[[Values], float]


@dataclass(frozen=True, eq=False)
class Curves:
    """One block, widths from narrow to wide; values (seed, width), of groups (group, width)."""

    weights: np.ndarray  # N, (width,)
    widths: np.ndarray
    n_train: float
    values: Values
    groups: np.ndarray  # error of the mean of each group
    together: np.ndarray  # error of the mean of all, (width,)
    table: Data

    @property
    def seeds(self) -> int:
        """How many networks there are at each width."""
        return len(self.values["error"])

    @property
    def star(self) -> float:
        """N*, where half of the networks fit."""
        return star(self.weights, self.values["fitted"])

    def of(self, statistic: Statistic) -> judge.Measured:
        """A number of all networks, with its spread over bootstrap resamples of the seeds."""
        draws = np.random.default_rng(0).integers(self.seeds, size=(RESAMPLES, self.seeds))
        found, stacked = [], np.stack(list(self.values.values()))
        for draw in draws:
            drawn = dict(zip(self.values, stacked[:, draw], strict=True))
            try:
                found.append(statistic(drawn))
            except judge.Missing:  # a draw without a transition
                continue
        whole = statistic(self.values)
        return judge.Measured(float(whole), float(np.std(found)) if len(found) > 1 else np.nan)

    def of_groups(self, statistic: Callable[[np.ndarray], float]) -> judge.Measured:
        """A number of the errors of ensembles (group, width), from leaving one group out."""
        return judge.jackknifed(self.groups, statistic)

    @property
    def whole(self) -> bool:
        """Whether this is the papers' own size, with their windows."""
        return self.n_train >= WHOLE

    def listed(self, where: np.ndarray) -> list[int]:
        """N of some widths, to be shown."""
        return [int(n) for n in self.weights[where]]

    def past(self, times: float) -> np.ndarray:
        """The widths with N > times N*."""
        return self.weights > times * self.star


def star(weights: np.ndarray, fitted: np.ndarray) -> float:
    """N*: half of the runs fit, interpolated in log N.

    Raises:
        Missing: the widths do not reach from such that do not fit to such that do.
    """
    found = rg.measure.n_half(weights, fitted)
    if found is None:
        raise judge.Missing("the widths hold no transition from runs that jam to runs that fit")
    return found.n


def curves(dataset: Data, block: str, least: int = 4) -> Curves:
    """The finished trials of a block.

    Raises:
        Missing: the block has not run, or has too few seeds or widths.
    """
    table = rows(judge.need(dataset, "error"), block)
    table = table.isel(trial=np.flatnonzero(np.isfinite(table.parameters.values)))
    if table.sizes["trial"] < 3:
        raise judge.Missing(
            f"block {block!r}: {table.sizes['trial']} widths have run, three are needed"
        )
    table = table.sortby("width")
    table = table.isel(seed=np.flatnonzero(table.error.notnull().any("trial").values))
    if table.sizes["seed"] < least:
        raise judge.Missing(f"block {block!r} has {table.sizes['seed']} seeds, {least} are needed")
    values = {name: table[name].transpose("seed", "trial").values for name in EACH}
    groups = table.group_error.transpose("group", "trial").values
    return Curves(
        table.parameters.values,
        table.width.values.astype(float),
        float(table.n_train.values[0]),
        values,
        groups[np.isfinite(groups).all(1)],
        table.ensemble_error.values,
        table,
    )


def middle(values: np.ndarray) -> np.ndarray:
    """Median over seeds at each width; seeds without a value are left out."""
    return _over_seeds(values, np.median)


def mean(values: np.ndarray) -> np.ndarray:
    """Mean over seeds at each width; seeds without a value are left out."""
    return _over_seeds(values, np.mean)


def _over_seeds(values: np.ndarray, reduce: Callable[[np.ndarray], Any]) -> np.ndarray:
    there = [own[np.isfinite(own)] for own in values.T]
    return np.array([reduce(own) if len(own) else np.nan for own in there])


def steps_to_fit(values: Values) -> np.ndarray:
    """Median steps of the runs that fit, at each width; NaN where none does."""
    return middle(np.where(values["fitted"] > 0, values["steps"], np.nan))


def log_slope(x: np.ndarray, y: np.ndarray) -> float:
    """Slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def explained(y: np.ndarray, fit: np.ndarray) -> float:
    """R^2 of a fit; 0 of a constant."""
    total = np.square(y - y.mean()).sum()
    return float(1 - np.square(y - fit).sum() / total) if total else 0.0


def line_fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope, offset and R^2 of the least-squares line."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(offset), explained(y, slope * x + offset)


def three(where: np.ndarray, least: int, what: str) -> np.ndarray:
    """The mask itself, if it leaves points enough.

    Raises:
        Missing: it does not.
    """
    if where.sum() < least:
        raise judge.Missing(f"{what}: {int(where.sum())} widths, {least} are needed")
    return where
