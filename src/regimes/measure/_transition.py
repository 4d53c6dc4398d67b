"""N*: how many parameters are needed to fit, from runs at several sizes.

docs/themes/regimes.md, "Fits that stop, and jamming", has both: N* by the rule of 0.1 N, and N*
where half of the runs fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from regimes.measure._numbers import Numbers, numbers


@dataclass(frozen=True)
class Transition:
    """The size N* between networks that fail and networks that fit."""

    n: float  # N*
    bracket: tuple[float, float]  # largest N that fails, and the next

    @property
    def middle(self) -> float:
        """`sqrt(N1 N2)` of the bracket."""
        return math.sqrt(self.bracket[0] * self.bracket[1])

    @property
    def log_error(self) -> float:
        """Standard deviation of log N* when it may lie anywhere in the bracket."""
        return math.log(self.bracket[1] / self.bracket[0]) / math.sqrt(12)

    @property
    def error(self) -> float:
        """The same for N*."""
        return self.n * self.log_error


def n_star(parameters: Numbers, jammed: np.ndarray) -> Transition | None:
    """N* by the rule of 0.1 N: from wide to narrow, the first size that jams.

    A size jams when at least half of its runs do. With N1 this size and N2 the next larger one,
    `N* = sqrt(N1 N2)`.

    Args:
        parameters: increasing N, (n,).
        jammed: (seeds, n), 1 for a run that jammed, 0 for one that did not, NaN for one that does
            not count (dead, not run). A size none of whose runs counts is left out.

    Returns:
        N* with its bracket; None when no size jams, or the largest does.

    >>> flags = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, np.nan, 0.0, 0.0]])
    >>> n_star([50, 100, 144, 200], flags)
    Transition(n=120.0, bracket=(100.0, 144.0))
    """
    n, share = _shares(parameters, "jammed", jammed)
    k = _last(share >= 0.5)
    if k is None:
        return None
    low, high = float(n[k]), float(n[k + 1])
    return Transition(math.sqrt(low * high), (low, high))


def n_half(parameters: Numbers, fitted: np.ndarray) -> Transition | None:
    """N* as the size at which half of the runs fit, interpolated in log N.

    Args:
        parameters: increasing N, (n,).
        fitted: (seeds, n), 1 for a run that fits, 0 for one that does not, NaN for one that does
            not count. A size none of whose runs counts is left out.

    Returns:
        N* between the largest size of which less than half fit and the next; None when there is
        none, or it is the largest of all.

    >>> found = n_half([50, 100, 144, 200], np.array([[0.0, 0.0, 1.0, 1.0]]))
    >>> round(found.n, 6), found.bracket
    (120.0, (100.0, 144.0))
    """
    n, share = _shares(parameters, "fitted", fitted)
    k = _last(share < 0.5)
    if k is None:
        return None
    middle = np.interp(0.5, share[k : k + 2], np.log(n[k : k + 2]))
    return Transition(float(np.exp(middle)), (float(n[k]), float(n[k + 1])))


def p_star(points: Numbers, jammed: np.ndarray) -> Transition | None:
    """P*, the number of points at which one architecture stops to fit them; r* is P*/N.

    From few points to many, the first number at which at least half of the runs jam; P* lies
    between it and the one before.

    Args:
        points: increasing P, (n,).
        jammed: (seeds, n), 1 for a run that jammed, 0 for one that did not, NaN for one that does
            not count. A number none of whose runs counts is left out.

    Returns:
        P* with its bracket (last P that does not jam, first that does); None when none jams, or
        the smallest does.

    >>> p_star([50, 100, 144, 200], np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, np.nan, 1.0]]))
    Transition(n=120.0, bracket=(100.0, 144.0))
    """
    p, share = _shares(points, "jammed", jammed, counted="points")
    where = np.flatnonzero(share >= 0.5)
    if not len(where) or where[0] == 0:
        return None
    low, high = float(p[where[0] - 1]), float(p[where[0]])
    return Transition(math.sqrt(low * high), (low, high))


def _shares(
    parameters: Numbers, name: str, flags: np.ndarray, *, counted: str = "parameters"
) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of which some run counts, and the share of their runs that are flagged."""
    n = numbers(counted, parameters, positive=True).numpy()
    values = np.asarray(flags, dtype=float)
    if values.ndim != 2 or values.shape[1:] != n.shape or (np.diff(n) <= 0).any():
        raise ValueError(
            f"{counted} must increase, (n,), and {name} have shape (seeds, n), got {n.shape} and "
            f"{values.shape}"
        )
    counts = np.isfinite(values)
    seen = counts.any(0)
    share = np.where(counts, values, 0.0).sum(0)[seen] / counts.sum(0)[seen]
    return n[seen], share


def _last(fails: np.ndarray) -> int | None:
    """The last size that fails, if there is a larger one."""
    where = np.flatnonzero(fails)
    return int(where[-1]) if len(where) and where[-1] + 1 < len(fails) else None
