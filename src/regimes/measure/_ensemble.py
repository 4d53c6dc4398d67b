"""Errors of runs alone and together, with what a jackknife needs for their error bars.

Together means the mean prediction over seeds. Error bars of what is computed from all seeds at once
come from leaving one out (jackknife), so each such number comes with its values without each seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class EnsembleOutcomes:
    """Numbers of runs of several scales and seeds; NaN where too few runs count."""

    error: np.ndarray  # (scale, seed), of each run
    ensemble_error: np.ndarray  # (scale,), of the mean prediction of the runs that count
    variance: np.ndarray  # (scale,), over these runs
    ensemble_error_without: np.ndarray  # (scale, seed), without one seed
    variance_without: np.ndarray  # (scale, seed)


def ensemble_outcomes(
    outputs: np.ndarray, y: np.ndarray, kept: np.ndarray, *, least: int = 3
) -> EnsembleOutcomes:
    """Errors and variance of an ensemble [Geiger 2020, eqs. 15 and 16].

    The same numbers as `test_error`, `ensemble_error` and `ensemble_variance`, for runs of which
    some do not count, and again without each seed, for `jackknife_error`. Without a run that does
    not count they are those of all that do.

    Args:
        outputs: F on the test points, (scale, seed, point).
        y: labels +-1, (point,).
        kept: 1 for runs that count, (scale, seed): those that fitted.
        least: runs that must count at a scale; without one of three there still is a variance. With
            fewer, a variance of one run and whatever is asked of none are NaN.

    >>> F = np.array([[[1.0, 1.0], [1.0, -1.0], [-1.0, -3.0]]])
    >>> found = ensemble_outcomes(F, np.ones(2), np.ones((1, 3)))
    >>> found.error.tolist(), found.ensemble_error.tolist(), found.variance.round(3)
    ([[0.0, 0.5, 1.0]], [0.5], array([2.667]))
    """
    outputs, counts = np.asarray(outputs, dtype=float), np.asarray(kept).astype(bool)
    if outputs.ndim != 3 or counts.shape != outputs.shape[:2] or y.shape != outputs.shape[2:]:
        raise ValueError(
            "outputs must have shape (scale, seed, point), kept (scale, seed) and y (point,), got "
            f"{outputs.shape}, {counts.shape} and {y.shape}"
        )
    scales = outputs.shape[:1]
    whole_error, whole_variance = np.full(scales, np.nan), np.full(scales, np.nan)
    error_without, variance_without = (np.full(counts.shape, np.nan) for _ in range(2))

    def together(members: np.ndarray) -> tuple[float, float]:
        if not len(members):
            return np.nan, np.nan
        wrong = (members.mean(0) * y <= 0).mean()
        spread = members.var(0, ddof=1).mean() if len(members) > 1 else np.nan
        return float(wrong), float(spread)

    for scale in range(scales[0]):
        members = np.flatnonzero(counts[scale])
        if len(members) < least:
            continue
        whole = together(outputs[scale, members])
        whole_error[scale], whole_variance[scale] = whole
        for seed in range(counts.shape[1]):
            others = members[members != seed]
            part = whole if len(others) == len(members) else together(outputs[scale, others])
            error_without[scale, seed], variance_without[scale, seed] = part
    alone = (outputs * y <= 0).mean(-1)
    return EnsembleOutcomes(alone, whole_error, whole_variance, error_without, variance_without)


def jackknife_error(without: np.ndarray) -> float:
    """Standard error from the values without each of R members: sqrt((R-1)/R sum (x - mean)^2).

    For a mean it is the usual standard error:

    >>> x = np.array([1.0, 2.0, 4.0, 7.0])
    >>> without = (x.sum() - x) / 3
    >>> bool(np.isclose(jackknife_error(without), x.std(ddof=1) / 2))
    True
    """
    count = len(without)
    spread = np.square(without - without.mean()).sum()
    return float(np.sqrt((count - 1) / count * spread))
