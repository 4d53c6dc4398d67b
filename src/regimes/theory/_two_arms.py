"""How well each kind of memory can do with two arms, in the limit of rare resets.

The closed forms of [Geiger 2022, Table 1] and the law of the best exit. All speak of q', the
probability of the worse arm among the plays. An outcome changes the odds of the two hypotheses by a
factor alpha or 1/alpha, `alpha = (1-mu)/(1+mu)`. Where `arms` is asked for, a number is the gap mu
and a pair (k_A, k_B) any two arms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.decide import gray_chain, necklace_count
from regimes.decide._arms import Arms, Number, arm_pair, number, whole

_LEAST_GAP = 1e-3  # below it the exit law is a difference of powers that leaves no digits
_PRIME_CHAINS = 37  # a Gray order of all necklaces is known for primes up to here


def q_linear(M: int | Tensor, mu: Number) -> Tensor:
    """The least q' of M memory states that choose the arm: `alpha^(M-1)/(1 + alpha^(M-1))`.

    The linear policy of Hellman and Cover reaches it for r -> 0, then eps -> 0; no memory of M
    states can do better [Geiger 2022, section 3].

    >>> q_linear(20, 0.1)  # as `q_ccp` with half as many, whose player sees its last arm besides
    tensor(0.0216, dtype=torch.float64)
    """
    return torch.sigmoid((whole("M", M) - 1) * _log_alpha(mu))


def q_ccp(M: int | Tensor, arms: Arms) -> Tensor:
    """Wrong plays q' of the column of confidence with M levels for r -> 0, then eps -> 0.

    `1/q' - 1 = (1-k_B)/(1-k_A) [(1/k_B - 1)/(1/k_A - 1)]^(M-1)` [Geiger 2022, eq. 41], which for
    the gap mu is `alpha^-(2M-1)` [Geiger 2022, eq. 7].

    >>> q_ccp(10, 0.1)
    tensor(0.0216, dtype=torch.float64)
    """
    k_a, k_b = arm_pair(arms)
    return torch.sigmoid(-_log_losses(k_a, k_b) - (whole("M", M) - 1) * _log_odds(k_a, k_b))


def q_necklace(m: int, arms: Arms, *, n: int | None = None) -> Tensor:
    """Wrong plays q' of the necklace policy of m remembered plays for r << eps0 << eps1 << 1.

    `1/q' - 1 = [(1-k_B)/(1-k_A)]^m [(1/k_B - 1)/(1/k_A - 1)]^(m (n-2)/2)` [Geiger 2022, eq. 39],
    which for the gap mu is `alpha^(m (1-n))` [Geiger 2022, eq. 10]. For a pair of another kind it
    holds where the chain has as many As as Bs: every chain of all necklaces has, and that of m = 4;
    those of m = 6, 8 and 10 have not.

    Args:
        m: remembered plays.
        arms: the gap mu, or the pair (k_A, k_B).
        n: necklaces in the chain; None for the longest one, as far as it is known.

    >>> q_necklace(3, 0.1)
    tensor(0.1411, dtype=torch.float64)
    """
    m = positive_int("m", m)
    n = longest_chain(m) if n is None else positive_int("n", n, least=2)
    if n > (most := necklace_count(m)):
        raise ValueError(
            f"n must be at most {most}, the number of necklaces of {m} letters, got {n}"
        )
    k_a, k_b = arm_pair(arms)
    inner = m * (n - 2) / 2
    return torch.sigmoid(-m * _log_losses(k_a, k_b) - inner * _log_odds(k_a, k_b))


def longest_chain(m: int) -> int:
    """Necklaces in the longest Gray chain, n(m): all of them for prime m, else by search.

    >>> [longest_chain(m) for m in range(2, 8)]
    [3, 4, 5, 8, 13, 20]
    """
    m = positive_int("m", m)
    prime = m > 1 and all(m % d for d in range(2, math.isqrt(m) + 1))
    return necklace_count(m) if prime and m <= _PRIME_CHAINS else len(gray_chain(m))


@dataclass(frozen=True)
class MemoryComparison:
    """What a memory of one size is worth when it is written freely, and when it keeps the plays.

    `1/q' - 1 = alpha^-exponent` in the limit of rare resets [Geiger 2022, Table 1].
    """

    states: int  # M_eff: what the player can tell apart, its last play and outcome included
    bits: float
    levels: int  # M of the free memory (column of confidence), states = 4M
    depth: int  # m of the memory of plays (necklaces), states = 4^m
    chain: int  # n(m), necklaces in its chain
    ccp_exponent: int  # 2M - 1
    necklace_exponent: int  # m (n-1)
    ccp_leading: float  # M_eff/2, its growth for large M_eff
    necklace_leading: float  # sqrt(M_eff)


def compare_memories(states: int) -> MemoryComparison:
    """Column of confidence and necklaces with the same number of memory states.

    >>> found = compare_memories(64)
    >>> found.ccp_exponent, found.necklace_exponent
    (31, 9)
    """
    states = positive_int("states", states, least=4)
    depth = (states.bit_length() - 1) // 2
    if states != 4**depth:
        raise ValueError(f"states must be a power of 4 for the memory of plays, got {states}")
    chain = longest_chain(depth)
    return MemoryComparison(
        states=states,
        bits=2.0 * depth,
        levels=states // 4,
        depth=depth,
        chain=chain,
        ccp_exponent=states // 2 - 1,
        necklace_exponent=depth * (chain - 1),
        ccp_leading=states / 2,
        necklace_leading=float(2**depth),
    )


def exit_rate(M: int | Tensor, mu: Number, r: Number) -> Tensor:
    """Best exit probability of the column of confidence for small r, to first order in sqrt(r).

    `sqrt(2 r) sqrt(alpha - alpha^(3M-1) + alpha^M (2 mu - 3) + alpha^(2M) (2 mu + 3)) /
    [sqrt(1 - alpha^M) (1 - alpha^M - mu - alpha^M mu)]` for M >= 2. In [Geiger 2022, eqs. 6 and 22]
    one root covers all below the line (`exit_rate_printed`), against the limit of many levels,
    `sqrt(2 r/(1-mu^2))` [Geiger 2022, eq. 23], and the minimum itself, `decide.ccp_opt`
    (docs/themes/pomdp.md, "Misprints"). For gaps below 1e-3 only that minimum keeps its digits.

    >>> from regimes.decide import ccp_opt
    >>> bool((exit_rate(10, 0.1, 1e-6) / ccp_opt(10, 0.1, 1e-6).eps - 1).abs() < 1e-3)
    True
    """
    above, first, second, r = _exit_terms(M, mu, r)
    return (2 * r * above / first).sqrt() / second


def exit_rate_printed(M: int | Tensor, mu: Number, r: Number) -> Tensor:
    """`exit_rate` as it is printed in [Geiger 2022, eqs. 6 and 22], to compare with.

    Below the line it has `sqrt(1 - alpha^M (1 - alpha^M - mu - alpha^M mu))`.

    >>> float(exit_rate_printed(20, 0.2, 1e-6) / exit_rate(20, 0.2, 1e-6)) < 0.9
    True
    """
    above, first, second, r = _exit_terms(M, mu, r)
    return (2 * r * above / (1 - (1 - first) * second)).sqrt()


def _exit_terms(
    M: int | Tensor,
    mu: Number,
    r: Number,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    levels, r = whole("M", M, least=2), number("r", r, 0, 1)
    mu = number("mu", mu, _LEAST_GAP, 1, closed=(True, False))
    alpha = (1 - mu) / (1 + mu)
    top = alpha**levels
    above = alpha - top**3 / alpha + top * (2 * mu - 3) + top**2 * (2 * mu + 3)
    return above, 1 - top, 1 - top - mu - top * mu, r


def _log_alpha(mu: Number) -> Tensor:
    mu = number("mu", mu, 0, 1)
    return torch.log1p(-mu) - torch.log1p(mu)


def _log_losses(k_a: Tensor, k_b: Tensor) -> Tensor:
    """Logarithm of (1-k_B)/(1-k_A)."""
    return torch.log1p(-k_b) - torch.log1p(-k_a)


def _log_odds(k_a: Tensor, k_b: Tensor) -> Tensor:
    """Logarithm of (1/k_B - 1)/(1/k_A - 1)."""
    return torch.logit(k_a) - torch.logit(k_b)
