"""Steady states of chains that are reset: four ways to the same vector."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from regimes._check import choose, shown
from regimes.decide._gth import gth
from regimes.decide._probabilities import members, probabilities, same_kind

if TYPE_CHECKING:
    from torch import Tensor

_MOST_SQUARINGS = 100


def steady_state(
    transition: Tensor, start: Tensor, reset: float | Tensor, solver: str = "solve"
) -> Tensor:
    """Steady state `p = r p0 + (1-r) T p` of a chain that starts anew with probability r.

    [Geiger 2022, eq. 11]. With `r = 1 - gamma` the discounted value of any reward R is
    `sum_s p[s] R[s] / r` (their Lemma 2.1).

    Args:
        transition: T (..., S, S), `T[s', s]` the probability to go from s to s'; columns sum to
            one. Leading axes are members.
        start: p0 (..., S).
        reset: r in [0, 1], a number or one for each member (...).
        solver: "solve", a linear system, exact and differentiable, for r > 0; "power",
            differentiable squaring [Geiger 2022, Algorithm 1]; "series", the sum over the time
            since the last reset; "gth", an elimination without subtractions, also for r = 0,
            where rates of 1e-8 beside others of order one keep all their digits.

    Returns:
        p (..., S), not negative up to rounding, of sum one.

    >>> T = torch.tensor([[0.9, 0.5], [0.1, 0.5]], dtype=torch.float64)
    >>> start = torch.tensor([0.0, 1.0], dtype=torch.float64)
    >>> for solver in ("solve", "power", "series", "gth"):
    ...     print(f"{steady_state(T, start, 0.1, solver)[0]:.6f}")
    0.703125
    0.703125
    0.703125
    0.703125
    >>> steady_state(T, start, 0.0, "gth")  # 5/6 and 1/6
    tensor([0.8333, 0.1667], dtype=torch.float64)
    """
    T = probabilities("transition", transition, (-1, -1), -2, "T[s', s], from s to s'", "s'")
    if T.shape[-1] != T.shape[-2]:
        raise ValueError(f"transition must be square, (..., S, S), got {tuple(T.shape)}")
    p0 = probabilities("start", start, (T.shape[-1],), -1, "a probability of each state")
    same_kind("start", p0, T, "transition")
    r = reset_of(reset, T)
    members(transition=T.shape[:-2], start=p0.shape[:-1], reset=r.shape)
    return choose(solver, SOLVERS, "solver")(T, p0, r)


def reset_of(reset: Any, like: Tensor) -> Tensor:
    """The probability of a reset as a tensor of the kind of `like`, checked."""
    given = reset if isinstance(reset, torch.Tensor) else None
    if given is None:
        try:
            given = torch.tensor(float(reset), dtype=torch.float64)
        except (TypeError, ValueError):
            given = None
    if given is None or given.is_complex() or not bool(((given >= 0) & (given <= 1)).all()):
        raise ValueError(
            f"reset is a probability in [0, 1], a number or one a member, got {shown(reset)}"
        )
    return given.to(like.device, like.dtype)


def solve(transition: Tensor, start: Tensor, reset: Tensor) -> Tensor:
    """`r (1 - (1-r) T)^-1 p0`, by one linear system a member."""
    _needs_reset("solve", reset)
    keep = (1 - reset)[..., None, None]
    eye = torch.eye(transition.shape[-1], dtype=transition.dtype, device=transition.device)
    return torch.linalg.solve(eye - keep * transition, (reset[..., None] * start)[..., None])[
        ..., 0
    ]


def power(transition: Tensor, start: Tensor, reset: Tensor) -> Tensor:
    """Square `r p0 1^T + (1-r) T` until all columns agree [Geiger 2022, Algorithm 1].

    Columns are divided by their sums after each squaring, for rounding would grow with the
    number of steps that the square stands for. They agree when no entry is 1e-8 from its
    neighbour in the first column (1e-4 in float32); `log2(40/r)` squarings are enough.
    """
    r = reset[..., None, None]
    chain = r * start[..., None] + (1 - r) * transition
    tolerance = 1e-8 if chain.dtype == torch.float64 else 1e-4
    for _ in range(_MOST_SQUARINGS):
        if bool(((chain - chain[..., :1]).detach().abs() < tolerance).all()):
            return chain[..., 0]
        chain = chain @ chain
        chain = chain / chain.sum(-2, keepdim=True)
    raise ValueError(
        f"the columns do not agree after {_MOST_SQUARINGS} squarings: without resets a chain may "
        "alternate or fall into parts; use reset > 0, or solver='gth'"
    )


def series(transition: Tensor, start: Tensor, reset: Tensor) -> Tensor:
    """`r sum_t (1-r)^t T^t p0`, cut where what is left weighs less than rounding.

    Twice as many terms take one more product: `p_2n = p_n + ((1-r) T)^n p_n`.
    """
    _needs_reset("series", reset)
    kept = (1 - reset)[..., None, None] * transition
    p = (reset[..., None] * start)[..., None]
    rate = -math.log1p(-min(float(reset.min()), 1 - 1e-16))
    terms = -math.log(torch.finfo(kept.dtype).eps) / rate
    for _ in range(max(1, math.ceil(math.log2(terms)))):
        p = p + kept @ p
        kept = kept @ kept
    return p[..., 0]


def _needs_reset(solver: str, reset: Tensor) -> None:
    if not bool((reset > 0).all()):
        raise ValueError(f"solver={solver!r} needs reset > 0, got 0; without resets use 'gth'")
    not_lost(reset, "use solver='gth'")


def not_lost(reset: Tensor, instead: str) -> None:
    """Raise where `1 - r` keeps less than a digit of r, so that a linear system would be noise."""
    kind = reset.dtype
    least = 10 * torch.finfo(kind).eps
    if not bool((reset >= least).all()):
        float64 = "" if kind == torch.float64 else ", or float64"
        raise ValueError(
            f"a reset of {reset.min().item():.3g} is lost beside one in {kind}, where {least:.1e} "
            f"is the least; {instead}{float64}"
        )


def _gth(transition: Tensor, start: Tensor, reset: Tensor) -> Tensor:
    """A reset is one more way to go, and adding it subtracts nothing either."""
    r = reset[..., None, None]
    return gth(r * start[..., None] + (1 - r) * transition, start)


SOLVERS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "solve": solve,
    "power": power,
    "series": series,
    "gth": _gth,
}
