"""Looking for N* or P*: which sizes to run, with what error, and the map of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import choose, positive_int
from regimes.measure._numbers import Numbers, numbers
from regimes.measure._transition import Transition, n_half, n_star, p_star

_METHODS = {"bisection": True, "scan": False}
Rule = Callable[[Numbers, np.ndarray], Transition | None]


@dataclass(frozen=True, eq=False)
class TransitionSearch:
    """A transition with all runs that were made to find it."""

    transition: Transition | None  # None where the sizes do not hold it
    sizes: np.ndarray  # (n,), those that were run, increasing
    jammed: np.ndarray  # (seeds, n), 1, 0, or NaN for a run that does not count


@dataclass(frozen=True)
class TransitionSpread:
    """Doubt about a transition: the width of its bracket, and seeds."""

    log_error: float  # standard deviation of its logarithm, both together; NaN where none was found
    found: float  # share of the resamples that hold a transition


@dataclass(frozen=True, eq=False)
class FitMap:
    """The plane of parameters and points, NaN where nothing ran."""

    share: np.ndarray  # (n, p), runs that fit
    runs: np.ndarray  # (n, p), runs that count
    star: np.ndarray  # (p,), N* where half of the runs fit
    bracket: np.ndarray  # (p, 2)


def find_transition(
    trial: Callable[[int], ArrayLike],
    sizes: Sequence[int],
    *,
    method: str = "bisection",
    jams_below: bool = True,
) -> TransitionSearch:
    """Run sizes until the transition lies between two neighbours [Geiger 2019, sec. III].

    A size is one batch: `trial(size)` trains all its replicas together. With "scan" sizes are run
    from the side that fits until one jams, as the papers do. With "bisection" the ends are run
    first and then the middle of what is left, which takes the logarithm of as many trials and finds
    a transition of several that a rough curve may have.

    Args:
        trial: from a size to 1 (jammed), 0, or NaN (does not count) for each replica, (seeds,).
        sizes: increasing: numbers of parameters, widths, or numbers of points.
        method: "bisection" or "scan".
        jams_below: small sizes jam, as they do for parameters; False for numbers of points.

    Returns:
        The transition in the units of `sizes`, and every run. A size none of whose runs counts is
        passed over; the bracket is then wider. With no bracket at all the transition is None.

    >>> found = find_transition(lambda n: [n < 300, n < 200, n < 350], range(100, 1000, 50))
    >>> found.transition.bracket, found.sizes
    ((250.0, 300.0), array([100, 250, 300, 350, 550, 950]))
    """
    listed = numbers("sizes", sizes, positive=True).numpy()
    if listed.ndim != 1 or (np.diff(listed) <= 0).any():
        raise ValueError(f"sizes must be an increasing list, got {list(sizes)}")
    bisect = choose(method, _METHODS, "method")
    votes: dict[int, np.ndarray] = {}

    def jams(i: int) -> bool | None:
        flags = np.atleast_1d(np.asarray(trial(sizes[i]), dtype=float))
        if flags.ndim != 1 or (votes and flags.shape != next(iter(votes.values())).shape):
            raise ValueError(
                "trial must return one flag for each replica, as many at every size, got shape "
                f"{flags.shape} at size {sizes[i]}"
            )
        if not np.isin(flags[np.isfinite(flags)], (0, 1)).all():
            raise ValueError(f"trial must return 0, 1 or NaN, got {flags.tolist()}")
        votes[i] = flags
        known = flags[np.isfinite(flags)]
        return bool(known.mean() >= 0.5) if len(known) else None

    walk = _bisect if bisect else _scan
    order = list(range(len(listed)))
    walk(jams, order if jams_below else order[::-1])
    ran = sorted(votes)
    flags, tried = np.stack([votes[i] for i in ran], 1), np.asarray(sizes)[ran]
    rule = n_star if jams_below else p_star
    return TransitionSearch(rule(tried, flags), tried, flags)


def _scan(jams: Callable[[int], bool | None], order: list[int]) -> None:
    """From the side that fits to the first that jams."""
    for i in reversed(order):
        if jams(i):
            return


def _bisect(jams: Callable[[int], bool | None], order: list[int]) -> None:
    """`order` runs from the side that jams to the side that fits."""
    if len(order) < 2 or jams(order[-1]) or jams(order[0]) is False:
        return
    low, high = 0, len(order) - 1
    left = list(range(1, high))  # those between whose verdict is not known yet
    while left:
        k = left.pop(len(left) // 2)
        verdict = jams(order[k])
        if verdict is None:
            continue
        low, high = (k, high) if verdict else (low, k)
        left = [j for j in left if low < j < high]


def transition_spread(
    rule: Rule, sizes: Numbers, flags: np.ndarray, *, resamples: int = 400, seed: int = 0
) -> TransitionSpread:
    """Error of log N* (or log P*) from its bracket and from the seeds.

    The spread over bootstrap resamples of the seeds, added in squares to the standard deviation of
    a uniform law in the bracket. With one seed the bracket alone is left.

    Args:
        rule: `n_star`, `n_half` or `p_star`.
        sizes: increasing, (n,).
        flags: as the rule wants them, (seeds, n).
        resamples: of the seeds.
        seed: of the bootstrap.

    >>> spread = transition_spread(n_star, [50, 100, 200], np.array([[1.0, 1.0, 0.0]] * 3))
    >>> round(spread.log_error, 6) == round(math.log(2) / 12**0.5, 6), spread.found
    (True, 1.0)
    """
    values, count = np.asarray(flags, dtype=float), positive_int("resamples", resamples, least=2)
    found = rule(sizes, values)
    if found is None:
        return TransitionSpread(math.nan, 0.0)
    rows = np.random.default_rng(seed).integers(len(values), size=(count, len(values)))
    drawn = [rule(sizes, values[row]) for row in rows]
    logs = [math.log(each.n) for each in drawn if each is not None]
    spread = float(np.std(logs)) if len(logs) > 1 else math.nan
    return TransitionSpread(math.hypot(found.log_error, spread), len(logs) / count)


def fit_map(parameters: Numbers, points: Numbers, fitted: np.ndarray) -> FitMap:
    """Share of runs that fit, over parameters and points, with the line N*(P).

    Args:
        parameters: increasing N, (n,).
        points: increasing P, (p,).
        fitted: (seeds, n, p), 1 for a run that fits, 0 for one that does not, NaN for one that does
            not count or was not run.

    >>> fits = np.array([[[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])
    >>> fit_map([100, 200, 400], [50, 150], fits).bracket.tolist()
    [[nan, nan], [200.0, 400.0]]
    """
    n, p = (
        numbers(name, values, positive=True).numpy()
        for name, values in (("parameters", parameters), ("points", points))
    )
    values = np.asarray(fitted, dtype=float)
    rising = n.ndim == p.ndim == 1 and (np.diff(n) > 0).all() and (np.diff(p) > 0).all()
    if not rising or values.ndim != 3 or values.shape[1:] != (len(n), len(p)):
        raise ValueError(
            "parameters and points must increase and fitted have shape (seeds, n, p), got "
            f"{n.shape}, {p.shape} and {values.shape}"
        )
    runs = np.isfinite(values).sum(0)
    total = np.where(np.isfinite(values), values, 0.0).sum(0)
    share = np.where(runs > 0, total / np.maximum(runs, 1), np.nan)
    star, bracket = np.full(len(p), np.nan), np.full((len(p), 2), np.nan)
    for j in range(len(p)):
        found = n_half(n, values[:, :, j])
        if found is not None:
            star[j], bracket[j] = found.n, found.bracket
    return FitMap(share, runs, star, bracket)
