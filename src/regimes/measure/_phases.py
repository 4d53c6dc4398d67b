"""Phases of learning: in which one a run is, and where they meet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.measure._numbers import Numbers, numbers


class Phase(StrEnum):
    """The three phases of the plane of width and scale, and the band between two of them."""

    LAZY = "lazy"
    FEATURE = "feature"
    CROSSOVER = "crossover"
    JAMMED = "jammed"


@dataclass(frozen=True)
class Regime:
    """Where one setting stands, from runs of several seeds."""

    phase: Phase
    distance: float  # from the crossover, in widths of it: lazy below -1, feature above 1
    error: float  # of the distance, over seeds; NaN for a single one
    confidence: float  # chance that the phase is right, given the error; NaN without one
    fitted: float  # share of runs that reached all their margins


def regime(
    change: Numbers, fitted: Numbers | None = None, *, at: float = 1.0, width: float = 1.0
) -> Regime:
    """The phase of a setting from the relative change of its tangent kernel.

    The lazy and the feature regime meet where the kernel changes by about its own norm
    [Geiger 2021, sec. 4]. The distance from there is `log10(change/at)/width`, averaged over the
    seeds that fitted, so that kernel changes are averaged geometrically. A setting is jammed when
    less than half of its runs reach their margins: their kernels changed for other reasons.

    Args:
        change: |Theta - Theta_0|/|Theta_0| of each run, (seeds,).
        fitted: which runs reached every margin, (seeds,) of 0 and 1; None: all.
        at: the change at the crossover.
        width: half the width of the crossover, in decades of the change.

    Raises:
        ValueError: changes that are not positive, arrays of different lengths.

    >>> found = regime([2e-3, 3e-3, 2.5e-3])
    >>> found.phase.value, round(found.distance, 2), round(found.confidence, 2)
    ('lazy', -2.61, 1.0)
    >>> regime([0.5, 2.0]).phase.value, regime([5.0, 5.0], [0, 0]).phase.value
    ('crossover', 'jammed')
    """
    values = numbers("change", change, positive=True)
    flags = torch.ones_like(values) if fitted is None else numbers("fitted", fitted)
    if values.ndim != 1 or flags.shape != values.shape:
        raise ValueError(
            f"change and fitted must have one shape (seeds,), got {tuple(values.shape)} and "
            f"{tuple(flags.shape)}"
        )
    real("at", at, above=0)
    real("width", width, above=0)
    share = float((flags > 0).double().mean())
    if share < 0.5:
        count = len(flags)
        # with k of n fitted, the chance that less than half fit is a beta integral; k+1, n-k+1
        sure = _chance_below_half(round(share * count), count)
        return Regime(Phase.JAMMED, math.nan, math.nan, sure, share)
    places = (values[flags > 0] / at).log10() / width
    distance = float(places.mean())
    error = float(places.std() / len(places) ** 0.5) if len(places) > 1 else math.nan
    phase = Phase.CROSSOVER
    if abs(distance) > 1:
        phase = Phase.FEATURE if distance > 0 else Phase.LAZY
    return Regime(phase, distance, error, _confidence(phase, distance, error), share)


def _chance_below_half(fitted: int, runs: int) -> float:
    """Chance that runs fit with a probability below 1/2, all probabilities being alike before."""
    ways = sum(math.comb(runs + 1, k) for k in range(fitted + 1, runs + 2))
    return float(ways / 2 ** (runs + 1))


def _confidence(phase: Phase, distance: float, error: float) -> float:
    if math.isnan(error):
        return math.nan
    if error == 0:
        return 1.0

    def above(edge: float) -> float:
        return 0.5 * math.erfc((edge - distance) / (error * 2**0.5))

    if phase is Phase.FEATURE:
        return above(1.0)
    return 1 - above(-1.0) if phase is Phase.LAZY else above(-1.0) - above(1.0)


@dataclass(frozen=True, eq=False)
class PhaseBoundary:
    """A line `field = level` in a plane, as y against x; NaN where it was not met."""

    level: float
    x: np.ndarray  # (n,)
    y: np.ndarray  # (n,)
    error: np.ndarray  # (n,), spread over resamples of the seeds, in units of y
    found: np.ndarray  # (n,), share of resamples that meet the level


def phase_boundary(
    x: Numbers,
    y: Numbers,
    field: np.ndarray,
    level: float,
    *,
    resamples: int = 400,
    seed: int = 0,
) -> PhaseBoundary:
    """Where a positive field of a plane crosses a level, with error bars from its seeds.

    For every x the field is averaged geometrically over seeds and joined by straight lines in
    log y and log field; of several crossings the first is taken. See docs/themes/regimes.md,
    "The plane of width and scale".

    Args:
        x: (n,), e.g. widths.
        y: (m,), increasing and positive, e.g. sqrt(h) alpha.
        field: (seeds, n, m), NaN where a run does not count (unfitted).
        level: the height of the line.
        resamples: bootstrap resamples of the seeds.
        seed: of the bootstrap.

    >>> y = np.array([0.1, 1.0, 10.0, 100.0])
    >>> field = np.stack([[2 / y, 4 / y], [2 / y, 4 / y]])
    >>> phase_boundary([10.0, 20.0], y, field, 1.0).y.round(6).tolist()
    [2.0, 4.0]
    """
    x, heights = numbers("x", x).numpy(), numbers("y", y, positive=True).numpy()
    real("level", level, above=0)
    values = np.asarray(field, dtype=float)
    if values.shape[1:] != (len(x), len(heights)) or (np.diff(heights) <= 0).any():
        raise ValueError(
            f"field must have shape (seeds, {len(x)}, {len(heights)}) and y increase, got "
            f"{values.shape}"
        )
    if (values <= 0).any():
        raise ValueError("the field must be positive; mark runs that do not count with NaN")
    logs, u = np.log(values) - math.log(level), np.log(heights)
    draws = torch.randint(
        len(values),
        (positive_int("resamples", resamples, least=2), len(values)),
        generator=generator(seed, "bootstrap"),
    ).numpy()
    line, error, found = (np.full(len(x), np.nan) for _ in range(3))
    for i in range(len(x)):
        place = _first_crossing(u, _mean_of_seen(logs[:, i]))
        if math.isnan(place):
            continue
        line[i] = math.exp(place)
        samples = _mean_of_seen(logs[draws, i].transpose(1, 0, 2))
        places = np.array([_first_crossing(u, each) for each in samples])
        met = np.isfinite(places)
        found[i] = met.mean()
        if len(values) > 1 and met.sum() > 1:
            error[i] = line[i] * places[met].std()
    return PhaseBoundary(float(level), x, line, error, found)


def _mean_of_seen(logs: np.ndarray) -> np.ndarray:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    seen = np.isfinite(logs)
    total = np.where(seen, logs, 0.0).sum(0)
    return np.where(seen.any(0), total / np.maximum(seen.sum(0), 1), np.nan)


def _first_crossing(u: np.ndarray, gap: np.ndarray) -> float:
    seen = np.isfinite(gap)
    u, gap = u[seen], gap[seen]
    crosses = np.flatnonzero((gap[:-1] >= 0) != (gap[1:] >= 0))
    if not len(crosses):
        return math.nan
    k = crosses[0]
    return float(u[k] + (u[k + 1] - u[k]) * gap[k] / (gap[k] - gap[k + 1]))


@dataclass(frozen=True, eq=False)
class JammingLine:
    """Narrowest networks that fit, as width against scale; NaN where the grid does not hold it."""

    y: np.ndarray  # (m,)
    width: np.ndarray  # (m,), sqrt(last jammed * first that fits)
    jammed: np.ndarray  # (m,), largest width at which no run fits
    fits: np.ndarray  # (m,), next width
    mixed: np.ndarray  # (m, 2), [least with two fitted, largest with two unfitted]


def jamming_line(width: Numbers, y: Numbers, fitted: np.ndarray) -> JammingLine:
    """Where networks stop fitting, from which runs fitted, as in [Geiger 2021, fig. 4].

    A width is jammed when every seed ends with unmet margins. With h1 the largest jammed width and
    h2 the next one, the line is at `sqrt(h1 h2)`, and h1, h2 are its error bars.

    Args:
        width: increasing widths (n,).
        y: scales (m,).
        fitted: (seeds, n, m), 1 where all margins were reached, 0 where not, NaN where not run.

    >>> ones = np.array([[0, 0], [0, 1], [1, 1]], dtype=float)[None]
    >>> jamming_line([2, 4, 8], [0.1, 10.0], np.concatenate([ones] * 3)).width.round(3).tolist()
    [5.657, 2.828]
    """
    h, scale = numbers("width", width, positive=True).numpy(), numbers("y", y).numpy()
    flags = np.asarray(fitted, dtype=float)
    if flags.shape[1:] != (len(h), len(scale)) or (np.diff(h) <= 0).any():
        raise ValueError(
            f"fitted must have shape (seeds, {len(h)}, {len(scale)}) and widths increase, got "
            f"{flags.shape}"
        )
    ran = np.isfinite(flags).all(0)
    fits = (flags > 0).sum(0)
    line, low, high = (np.full(len(scale), np.nan) for _ in range(3))
    mixed = np.full((len(scale), 2), np.nan)
    for j in range(len(scale)):
        jammed = np.flatnonzero(ran[:, j] & (fits[:, j] == 0))
        if len(jammed) and jammed[-1] + 1 < len(h) and ran[jammed[-1] + 1, j]:
            low[j], high[j] = h[jammed[-1]], h[jammed[-1] + 1]
            line[j] = math.sqrt(low[j] * high[j])
        some = np.flatnonzero(ran[:, j] & (fits[:, j] >= min(2, len(flags))))
        not_all = np.flatnonzero(ran[:, j] & (len(flags) - fits[:, j] >= min(2, len(flags))))
        mixed[j] = (
            h[some[0]] if len(some) else np.nan,
            h[not_all[-1]] if len(not_all) else np.nan,
        )
    return JammingLine(scale, line, low, high, mixed)
