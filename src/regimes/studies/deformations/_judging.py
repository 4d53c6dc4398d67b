"""Numbers that several studies judge: correlations over networks, profiles by depth."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import judge

LAST = 4  # outputs over which a profile is expected to fall


def listed(values: Any) -> str:
    """Numbers in their order."""
    return ", ".join(f"{value:.2f}" for value in np.asarray(values, dtype=float))


def correlation(a: Any, b: Any) -> judge.Measured:
    """Pearson's, of the means over seeds of two arrays (seeds, networks); its error from seeds."""
    both = np.stack([np.asarray(a, dtype=float), np.asarray(b, dtype=float)], 1)

    def found(drawn: Any) -> float:
        return float(np.corrcoef(drawn.mean(0))[0, 1])

    return judge.resampled(both, found)


def half_power(log_r: Any, log_error: Any) -> tuple[judge.Measured, judge.Measured]:
    """A of `error = A sqrt(R_f)`, and the slope where it is left free; errors from seeds."""
    both = np.stack([np.asarray(log_r, dtype=float), np.asarray(log_error, dtype=float)], 1)

    def prefactor(drawn: Any) -> float:
        r, error = drawn.mean(0)
        return float(np.exp((error - r / 2).mean()))

    def slope(drawn: Any) -> float:
        r, error = drawn.mean(0)
        return float(np.polyfit(r, error, 1)[0])

    return judge.resampled(both, prefactor), judge.resampled(both, slope)


def described(names: list[str], logs: dict[str, Any]) -> str:
    """Error and R_f of every network, geometric means."""
    told = [
        f"{name} {100 * error:.1f} % {R:.2g}"
        for name, error, R in zip(
            names, np.exp(logs["error"].mean(0)), np.exp(logs["R"].mean(0)), strict=True
        )
    ]
    return f"error and R_f: {', '.join(told)}"


def profile(before: Any, after: Any) -> judge.Parts:
    """Parts on profiles (seeds, layers): flat before, falling after training."""
    flat = np.exp(np.log(before).mean(0))
    yield judge.below("max / min before", _spread(before, flat), 2.0)
    rank = np.arange(LAST)
    ranks = [_spearman(rank, each[-LAST:]) for each in after]
    yield judge.below("rank correlation with depth", judge.mean_of(ranks), -0.5)
    yield judge.below("last / first", judge.log_mean(after[:, -1] / after[:, 0]), 0.6)
    return None


def _spread(values: Any, middle: Any) -> judge.Measured:
    high, low = int(middle.argmax()), int(middle.argmin())
    return judge.log_mean(values[:, high] / values[:, low])


def _spearman(a: Any, b: Any) -> float:
    places = [np.argsort(np.argsort(each)).astype(float) for each in (a, b)]
    return float(np.corrcoef(places)[0, 1])
