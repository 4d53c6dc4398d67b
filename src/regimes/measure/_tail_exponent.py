"""Exponents of densities at small arguments: gaps and overlaps near jamming."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.measure._numbers import Numbers, numbers
from regimes.measure._observables import signed_margins
from regimes.measure._run_classes import own_points

_STEEPEST = 500.0  # of exponent times log(high/low): beyond it all samples lie at one end


@dataclass(frozen=True)
class TailExponent:
    """The density `~ z^exponent` in a window."""

    exponent: float
    error: float  # spread over bootstrap resamples of the runs; NaN for one run
    likelihood_error: float  # from the curvature of the likelihood: samples taken as independent
    window: tuple[float, float]
    samples: int  # in the window
    runs: int  # with samples in the window


@dataclass(frozen=True, eq=False)
class GapsAndOverlaps:
    """Distances of points from their margin, an array for each run."""

    overlaps: tuple[np.ndarray, ...]  # z = Delta/sqrt(loss) where Delta > 0
    gaps: tuple[np.ndarray, ...]  # -Delta where Delta < 0


def gaps_and_overlaps(
    F: Tensor,
    y: Tensor,
    *,
    margin: float = 1.0,
    active: Tensor | None = None,
    own: Tensor | None = None,
) -> GapsAndOverlaps:
    """`-Delta` and `Delta/sqrt(loss)`, Delta = margin - y F, of jammed runs [Geiger 2019, sec. VI].

    The loss is `mean (1/2) max(0, Delta)^2` over a run's points. One point that no gradient reaches
    would dominate it, so such points are left out of both.

    Args:
        F: predictions (R, P).
        y: labels +-1, (P,) or (R, P).
        margin: what y F should reach.
        active: whether a point has an active unit in every hidden layer, (R, P); None: all have.
        own: which points each run was trained on, (R, P); None: all.

    >>> F = torch.tensor([[1.0, 0.2, 0.4, 0.75]]).double()
    >>> found = gaps_and_overlaps(F, torch.ones(4).double(), margin=0.5)
    >>> found.gaps[0], found.overlaps[0].round(3)
    (array([0.5 , 0.25]), array([2.683, 0.894]))
    """
    short = real("margin", margin) - signed_margins(F, y)
    if short.ndim != 2:
        raise ValueError(f"F must have shape (R, P), got {tuple(F.shape)}")
    mine = own_points(own, short)
    reached = torch.ones_like(mine) if active is None else active
    if reached.shape != short.shape or reached.dtype != torch.bool:
        raise ValueError(
            f"active must be truth values of shape {tuple(short.shape)}, got {reached.dtype} of "
            f"shape {tuple(reached.shape)}"
        )
    unmet = (short > 0) & mine & reached
    loss = (short.double().square() * unmet).sum(1) / (2 * mine.sum(1))
    scaled = (short.double() / loss.sqrt()[:, None]).cpu().numpy()
    values, low, high = short.double().cpu().numpy(), unmet.cpu(), (mine & (short < 0)).cpu()
    return GapsAndOverlaps(
        tuple(row[k] for row, k in zip(scaled, low.numpy(), strict=True)),
        tuple(-row[k] for row, k in zip(values, high.numpy(), strict=True)),
    )


def tail_exponent(
    samples: Sequence[Numbers] | Tensor,
    window: tuple[float, float],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> TailExponent:
    """Most likely exponent of a density `~ z^a` on low <= z <= high.

    With `u = log(z/low)/log(high/low)` in [0, 1], u has the density `~ e^(k u)`,
    `k = (a + 1) log(high/low)`, and the most likely k is where its mean `1/(1 - e^-k) - 1/k` equals
    that of the samples. An overlap exponent theta is the exponent, a gap exponent gamma minus it.
    Points of one run are not independent: the error comes from resampling whole runs.

    Args:
        samples: positive numbers of each run, a list with an array for each run or (runs, n).
        window: low and high; samples outside are left out.
        resamples: bootstrap resamples of the runs.
        seed: of the bootstrap.

    Raises:
        ValueError: fewer than two different samples in the window.

    >>> draw = np.random.default_rng(0)
    >>> runs = [draw.random(500) ** (1 / 1.3) for _ in range(20)]  # density ~ z^0.3
    >>> fit = tail_exponent(runs, (1e-3, 1.0))
    >>> abs(fit.exponent - 0.3) < 3 * fit.error < 0.1
    True
    """
    sums = tail_sums(samples, window)
    inside = int(sums.counts.sum())
    if inside < 2:
        raise ValueError(
            f"an exponent needs two different samples in the window ({window[0]:g}, "
            f"{window[1]:g}), and {inside} of the {sum(np.size(run) for run in samples)} samples "
            "are in it"
        )
    return exponent_of_sums(sums, resamples=resamples, seed=seed)


@dataclass(frozen=True, eq=False)
class TailSums:
    """All that the likelihood of an exponent asks of each run's samples in a window."""

    window: tuple[float, float]
    counts: np.ndarray  # (runs,), samples in the window
    sums: np.ndarray  # (runs,), of `log(z/low)/log(high/low)` over them


def tail_sums(samples: Sequence[Numbers] | Tensor, window: tuple[float, float]) -> TailSums:
    """What is kept of samples where they are too many to keep themselves.

    Args:
        samples: positive numbers of each run, a list with an array for each run or (runs, n).
        window: low and high; samples outside are left out.

    >>> found = tail_sums([[1.0, 10.0, 1000.0], [0.1]], (1.0, 100.0))
    >>> found.counts, found.sums
    (array([2, 0]), array([0.5, 0. ]))
    """
    low, span = _span(window)
    counts, sums = [], []
    for i, run in enumerate(samples):
        z = np.asarray(run, dtype=float)
        if z.size:
            z = numbers(f"samples[{i}]", z).numpy()
        z = z[(z >= low) & (z <= window[1])]
        counts.append(z.size)
        sums.append(float((np.log(z / low) / span).sum()))
    return TailSums((low, float(window[1])), np.array(counts), np.array(sums))


def exponent_of_sums(found: TailSums, *, resamples: int = 1000, seed: int = 0) -> TailExponent:
    """`tail_exponent` of the samples whose sums these are.

    Args:
        found: made by `tail_sums`.
        resamples: bootstrap resamples of the runs.
        seed: of the bootstrap.

    Raises:
        ValueError: fewer than two different samples in the window.

    >>> draw = np.random.default_rng(0)
    >>> runs = [draw.random(500) ** (1 / 1.3) for _ in range(20)]  # density ~ z^0.3
    >>> found = exponent_of_sums(tail_sums(runs, (1e-3, 1.0)))
    >>> found == tail_exponent(runs, (1e-3, 1.0))
    True
    """
    (low, high), (_, span) = found.window, _span(found.window)
    count = np.asarray(found.counts, dtype=float)
    total = np.asarray(found.sums, dtype=float)
    inside = int(count.sum())
    if inside < 2 or not 0.0 < total.sum() / inside < 1.0:
        raise ValueError(
            f"an exponent needs two different samples in the window ({low:g}, {high:g}); there are "
            f"{inside} samples, and the mean of their logarithms lies at an end of it"
        )
    k = float(_steepness(np.array([total.sum() / inside]))[0])
    rows = np.random.default_rng(seed).integers(
        len(count), size=(positive_int("resamples", resamples, least=2), len(count))
    )
    drawn = count[rows].sum(1)
    means = total[rows].sum(1)[drawn > 0] / drawn[drawn > 0]
    spread = float(np.std(_steepness(means))) / span if (count > 0).sum() > 1 else math.nan
    return TailExponent(
        k / span - 1.0,
        spread,
        1.0 / (span * math.sqrt(inside * _variance(k))),
        (low, high),
        inside,
        int((count > 0).sum()),
    )


def _span(window: tuple[float, float]) -> tuple[float, float]:
    """The lower end of a window and the logarithm of its width."""
    low, high = (real("window", edge, above=0.0) for edge in window)
    if not low < high:
        raise ValueError(f"the window must be (low, high) with 0 < low < high, got {window}")
    return low, math.log(high / low)


def _steepness(mean: np.ndarray) -> np.ndarray:
    """K for which a density `~ e^(k u)` on [0, 1] has this mean, by halving."""
    low, high = np.full(mean.shape, -_STEEPEST), np.full(mean.shape, _STEEPEST)
    for _ in range(60):
        middle = (low + high) / 2
        under = _mean(middle) < mean
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return (low + high) / 2


def _mean(k: np.ndarray) -> np.ndarray:
    near = np.abs(k) < 1e-3  # the two terms cancel there
    safe = np.where(near, 1.0, k)
    return np.where(near, 0.5 + k / 12, 1 / -np.expm1(-safe) - 1 / safe)


def _variance(k: float) -> float:
    """Of u under that density, the derivative of the mean."""
    if abs(k) < 1e-2:
        return 1 / 12
    return 1 / k**2 - 1 / (2 * math.sinh(min(abs(k), 2 * _STEEPEST) / 2)) ** 2


def log_density(
    samples: Sequence[Numbers] | Tensor, window: tuple[float, float], *, per_decade: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Histogram of all runs together in logarithmic bins, as a density per unit of z.

    Args:
        samples: positive numbers of each run; those outside of the window, and zeros, count in the
            norm alone.
        window: low and high.
        per_decade: bins in a factor of ten.

    Returns:
        Geometric middles of the bins, and the density in each, (bins,).

    >>> z, density = log_density([[1.5] * 3, [15.0]], (1.0, 100.0), per_decade=1)
    >>> z.round(2), (density * [9, 90]).round(6)
    (array([ 3.16, 31.62]), array([0.75, 0.25]))
    """
    low, high = (real("window", edge, above=0.0) for edge in window)
    if not low < high:
        raise ValueError(f"the window must be (low, high) with 0 < low < high, got {window}")
    pooled = numbers("samples", np.concatenate([np.asarray(run, dtype=float) for run in samples]))
    bins = max(1, round(positive_int("per_decade", per_decade) * math.log10(high / low)))
    edges = np.geomspace(low, high, bins + 1)
    counts, _ = np.histogram(pooled.numpy(), edges)
    return np.sqrt(edges[:-1] * edges[1:]), counts / len(pooled) / np.diff(edges)
