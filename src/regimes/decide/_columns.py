"""The column of confidence as a random walk: how often it plays the wrong arm, and its best exit.

The 2M positions lie on a line, MA ... 1A, 1B ... MB. Seen from outside, a column is one state that
is left with a rate c. A top alone is left at `(1-r) (1-k) eps`; each level put under it makes this

    c  <-  (1-r) (1-k) (r + c) / (r + c + (1-r) k),      M - 1 times,

k the probability that the column's arm rewards. No difference is taken, so the smallest exits cost
no digits. Two states that exchange at c_A and c_B and start in either with 1/2 have the wrong one

    q' = (r + 2 c_A) / (2 (r + c_A + c_B)).

Each c is a ratio of two linear functions of eps, so the best eps solves a quadratic equation.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regimes.decide._arms import Arms, Number, arm_pair, number, whole


class BestExit(NamedTuple):
    """The exit probability that plays the wrong arm least, and how often it does so then."""

    eps: Tensor
    q: Tensor


def ccp_q(M: int | Tensor, arms: Arms, r: Number, eps: Number) -> Tensor:
    """Probability q' that a column-of-confidence player plays the worse arm, once it has played.

    The steady state of [Geiger 2022, Definition 3.1] at any reset r, exact to the last digits at
    any exit probability; `r = 0` gives the player that is never reset. All arguments broadcast.

    Args:
        M: levels of each of the two columns, a number or a tensor of integers.
        arms: the gap mu, or the pair (k_A, k_B) of reward probabilities, k_A the larger.
        r: reset probability, in [0, 1).
        eps: probability to step down from the top after a loss, in [0, 1], or (0, 1] if r is 0.

    Returns:
        q', float64, of the broadcast shape.

    >>> float(ccp_q(10, 0.1, r=0.0, eps=1e-8))  # alpha^19/(1 + alpha^19), alpha = 0.9/1.1
    0.02161...
    """
    reset = number("r", r, 0, 1, closed=(True, False))
    exit_ = number("eps", eps, 0, 1, closed=(True, True))
    if bool(((exit_ == 0) & (reset == 0)).any()):
        raise ValueError("eps = 0 and r = 0 leave the player at one of the tops: make one positive")
    levels, k_a, k_b, reset, exit_ = torch.broadcast_tensors(
        whole("M", M), *arm_pair(arms), reset, exit_
    )
    leaving = [_leaving(levels, k, reset, exit_) for k in (k_a, k_b)]
    return _wrong(leaving[0], leaving[1], reset)


def ccp_opt(M: int | Tensor, arms: Arms, r: Number) -> BestExit:
    """The best exit probability of a column-of-confidence player, and its q' there.

    The minimum of `ccp_q` over eps in (0, 1], exactly: the root of a quadratic equation, or 1. For
    small r it is the law of [Geiger 2022, eq. 6], as corrected in `theory.exit_rate`. All arguments
    broadcast, so a grid is one call.

    Args:
        M: levels of each of the two columns, a number or a tensor of integers.
        arms: the gap mu, or the pair (k_A, k_B) of reward probabilities, k_A the larger.
        r: reset probability, in (0, 1).

    Returns:
        (eps, q), both float64 of the broadcast shape.

    >>> eps, q = ccp_opt(10, 0.1, 1e-4)
    >>> round(float(q), 5)
    0.03802
    """
    levels, k_a, k_b, reset = torch.broadcast_tensors(
        whole("M", M), *arm_pair(arms), number("r", r, 0, 1)
    )
    # log odds = ln(r + 2 c_B) - ln(r + 2 c_A), whose derivatives are det/(above below)
    (det_a, above_a, below_a), (det_b, above_b, below_b) = (
        _fraction(levels, k, reset) for k in (k_a, k_b)
    )
    slope = [
        det_b * a - det_a * b
        for a, b in zip(_times(above_a, below_a), _times(above_b, below_b), strict=True)
    ]
    candidates = torch.stack([*_roots(*slope), torch.ones_like(reset)])
    inside = (candidates > 0) & (candidates <= 1)
    candidates = torch.where(inside, candidates, 1.0)
    leaving = [_leaving(levels, k, reset, candidates) for k in (k_a, k_b)]
    q, best = _wrong(leaving[0], leaving[1], reset).min(dim=0)
    return BestExit(candidates.gather(0, best[None])[0], q)


def _wrong(leave_right: Tensor, leave_wrong: Tensor, r: Tensor) -> Tensor:
    """Mass of the wrong one of two states that exchange at these rates."""
    return (r + 2 * leave_right) / (2 * (r + leave_right + leave_wrong))


def _leaving(levels: Tensor, k: Tensor, r: Tensor, eps: Tensor) -> Tensor:
    """Rate at which a column of an arm that rewards with k is left."""
    up, down = (1 - r) * k, (1 - r) * (1 - k)
    c = down * eps
    for level in range(1, int(levels.max())):
        c = torch.where(level < levels, down * (r + c) / (r + c + up), c)
    return c


Linear = tuple[Tensor, Tensor]  # a + b eps as (a, b), both >= 0


def _fraction(levels: Tensor, k: Tensor, r: Tensor) -> tuple[Tensor, Linear, Linear]:
    """`r + 2 c` as above/below, linear in eps, and the determinant that its derivative holds."""
    up, down = (1 - r) * k, (1 - r) * (1 - k)
    zero, one = torch.zeros_like(r), torch.ones_like(r)
    above, below, det = (zero, down), (one, zero), down
    for level in range(1, int(levels.max())):
        shifted = [r * b + a for a, b in zip(above, below, strict=True)]
        lower = [s + up * b for s, b in zip(shifted, below, strict=True)]
        size = sum(lower)  # a common factor, taken out so that high columns do not underflow
        deeper = level < levels
        above, below = (
            (torch.where(deeper, a / size, old[0]), torch.where(deeper, b / size, old[1]))
            for (a, b), old in (([down * s for s in shifted], above), (lower, below))
        )
        det = torch.where(deeper, det * up * down / size**2, det)
    doubled = (r * below[0] + 2 * above[0], r * below[1] + 2 * above[1])
    return det, doubled, below


def _times(p: Linear, q: Linear) -> tuple[Tensor, Tensor, Tensor]:
    """Coefficients of the product of two linear functions, the constant first."""
    return p[0] * q[0], p[0] * q[1] + p[1] * q[0], p[1] * q[1]


def _roots(constant: Tensor, linear: Tensor, square: Tensor) -> tuple[Tensor, Tensor]:
    """Both roots of a quadratic function, without cancellation; NaN or infinite where none is."""
    root = (linear**2 - 4 * constant * square).sqrt()
    half = -(linear + torch.where(linear < 0, -root, root)) / 2
    return half / square, constant / half
