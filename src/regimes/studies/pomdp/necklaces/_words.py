"""Necklaces counted and chained, their exponents, and players of few plays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult


@dataclass(frozen=True)
class Count:
    """Words of up to so many letters."""

    longest: int = 14


@dataclass(frozen=True)
class Chains:
    """Lengths of words whose chains are searched."""

    depths: tuple[int, ...] = (2, 3, 4, 5, 6, 7)


@dataclass(frozen=True)
class Table:
    """Prime lengths of POM-23, and the depths at which memories are compared."""

    gap: float = 0.1
    primes: tuple[int, ...] = (3, 5, 7, 11)
    depths: tuple[int, ...] = (2, 3, 4)


@dataclass(frozen=True)
class Plays:
    """A seed is a set of players."""

    gap: float = 0.3
    depths: tuple[int, ...] = (5, 7)
    players: int = 100_000
    seed: tuple[int, ...] = tuple(range(8))


def count(params: Count, point: Point) -> TrialResult:
    """POM-18: all words sorted into classes one by one, against the sum over divisors."""
    lengths = range(1, params.longest + 1)
    return TrialResult(
        arrays={
            "count_m": Array("length", lengths),
            "counted": Array("length", [_classes(m) for m in lengths]),
            "totient_sum": Array("length", [rg.decide.necklace_count(m) for m in lengths]),
            "is_prime": Array(
                "length", [m > 1 and all(m % d for d in range(2, m)) for m in lengths]
            ),
        }
    )


def _classes(m: int) -> int:
    """Classes of words of m letters under rotation: each word by its smallest rotation."""
    word = np.arange(2**m)
    least = word.copy()
    for _ in range(m - 1):
        word = (word << 1 & (2**m - 1)) | (word >> (m - 1))
        least = np.minimum(least, word)
    return len(np.unique(least))


def chains(params: Chains, point: Point) -> TrialResult:
    """POM-19: the longest chains, and whether each step flips one letter of distinct necklaces."""
    found = [rg.decide.gray_chain(m) for m in params.depths]
    wrong = [
        sum(not _one_letter_apart(a, b) for a, b in pairwise(chain))
        + (len(chain) - len({min(_turns(word)) for word in chain}))
        + (set(chain[0]) != {"A"})
        + (set(chain[-1]) != {"B"})
        for chain in found
    ]
    return TrialResult(
        arrays={
            "chain_m": Array("depth", params.depths),
            "chain_length": Array("depth", [len(chain) for chain in found]),
            "chain_all": Array("depth", [_classes(m) for m in params.depths]),
            "wrong_steps": Array("depth", wrong),
        }
    )


def _turns(word: str) -> list[str]:
    return [word[k:] + word[:k] for k in range(len(word))]


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether some turn of one word differs from the other in a single letter."""
    return any(sum(a != b for a, b in zip(turn, other, strict=True)) == 1 for turn in _turns(one))


def table(params: Table, point: Point) -> TrialResult:
    """POM-23, POM-24: ln q* of prime m, and exponents of both memories at equal size."""
    alpha = (1 - params.gap) / (1 + params.gap)

    def exponent(q: object) -> float:
        return float(np.log(1 / float(q) - 1) / -np.log(alpha))  # type: ignore[arg-type]

    exponents = [
        (
            exponent(rg.theory.q_necklace(m, params.gap)),
            exponent(rg.theory.q_ccp(4 ** (m - 1), params.gap)),
        )
        for m in params.depths
    ]
    stars = [float(rg.theory.q_necklace(m, params.gap)) for m in params.primes]
    return TrialResult(
        {"table_alpha": alpha},
        {
            "prime_m": Array("prime", params.primes),
            "prime_length": Array("prime", [_classes(m) for m in params.primes]),
            "log_star": Array("prime", np.log(stars)),
            "table_m": Array("table_depth", params.depths),
            "table_exponent": Array(("table_depth", "kind"), exponents),
        },
    )


def plays(params: Plays, point: Point) -> TrialResult:
    """POM-25: players that know all their outcomes, and play the arm that looks better.

    Every outcome speaks for one of the hypotheses, rightly with probability (1 + mu)/2.
    """
    import torch

    from regimes._random import generator

    found = []
    for seed in point.seed:
        source = generator(seed, "outcomes")
        row = []
        for m in params.depths:
            draws = torch.rand(params.players, m - 1, generator=source, dtype=torch.float64)
            surplus = 2 * (draws < (1 + params.gap) / 2).sum(1) - (m - 1)
            coin = torch.rand(params.players, generator=source, dtype=torch.float64) < 0.5
            wrong = (surplus < 0) | ((surplus == 0) & coin)
            row.append(float(wrong.double().mean()))
        found.append(row)
    return TrialResult(
        arrays={
            "plays_q": Array(("game", "plays_depth"), found),
            "plays_m": Array("plays_depth", params.depths),
            "plays_star": Array(
                "plays_depth", [float(rg.theory.q_necklace(m, params.gap)) for m in params.depths]
            ),
        }
    )
