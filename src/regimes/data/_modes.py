"""Which sine modes a displacement field has, and the sums over them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real

RULES = {"half": 0, "sharp": 1, "square": 2}


def cut_off(c: float | None, mode_rule: str) -> float | None:
    """A checked cut-off, such that the rule keeps at least one mode; None for "square"."""
    choose(mode_rule, RULES, "mode rule")
    if mode_rule == "square":
        if c is not None:
            raise ValueError(f'mode_rule="square" takes all modes and no cut-off, got c={c!r}')
        return None
    if c is None:
        raise ValueError(f"mode_rule={mode_rule!r} needs a cut-off c, got None")
    least = math.sqrt(2) if mode_rule == "sharp" else math.sqrt(2) - 0.5
    found = real("c", c)
    if not found > least - (mode_rule == "sharp") * 1e-9:
        raise ValueError(
            f"c = {found:g} leaves no mode: the lowest has i = j = 1, so that the rule "
            f"{mode_rule!r} needs c above {least:.3f}"
        )
    return found


def mode_mask(c: float | None, mode_rule: str = "half", n: int | None = None) -> Tensor:
    """Which modes (i, j), counted from one, belong to the field, as a square of booleans.

    "half" keeps `sqrt(i^2+j^2) < c + 1/2`, "sharp" `i^2+j^2 <= c^2` [Petrini 2021, eq. 2], and
    "square" all of `1 <= i, j <= n` [Petrini 2021, sec. 2.1].

    >>> [int(mode_mask(c, rule).sum()) for c in (3, 10) for rule in ("half", "sharp")]
    [6, 4, 77, 69]
    """
    limit = cut_off(c, mode_rule)
    if limit is None:
        side = positive_int("n", n)
        return torch.ones(side, side, dtype=torch.bool)
    radius2 = (limit + 0.5) ** 2 if mode_rule == "half" else limit**2 * (1 + 1e-12)
    squares = torch.arange(1, math.floor(math.sqrt(radius2)) + 1, dtype=torch.float64) ** 2
    sums = squares[:, None] + squares
    kept = sums < radius2 if mode_rule == "half" else sums <= radius2
    return kept[: int(kept[:, 0].sum()), : int(kept[0].sum())]


def mode_sums(c: float | None, mode_rule: str = "half", n: int | None = None) -> tuple[int, ...]:
    """The number of modes, and of those with both i and j odd.

    >>> mode_sums(3), mode_sums(5, "sharp")
    ((6, 3), (15, 4))
    """
    kept = mode_mask(c, mode_rule, n)
    return int(kept.sum()), int(kept[::2, ::2].sum())


def inverse_squares(c: float | None, mode_rule: str = "half", n: int | None = None) -> Tensor:
    """`1/(i^2+j^2)` of every kept mode, zero elsewhere: the variance of a coefficient over T."""
    kept = mode_mask(c, mode_rule, n)
    number = torch.arange(1, len(kept) + 1, dtype=torch.float64) ** 2
    return kept / (number[:, None] + number)
