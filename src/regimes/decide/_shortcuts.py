"""Chains in which each play leads to a few: most plays are left out before anything is dense.

Plays among which no way is long can be left out exactly: what the others send there comes back by
finitely many paths. With R the plays that stay and g P the chain,

    (1 - Q) x_R = source_R + what comes of the source elsewhere,    Q = sum of paths from R to R,

where the weight of a path is the product of its steps; the plays left out follow by sending mass
along the steps. With Memento of depth five 240 of 512 plays stay, and the dense system, which is
nearly all of the time, is ten times cheaper.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, final

import torch

from regimes.decide._room import room_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

_LONGEST = 2  # plays that a path may have between two that stay


@final
class Shortcuts:
    """Solves `x = g P x + source` and `l = g P^T l + worth` for the plays of Memento.

    Step number k, of 4U, goes from play `k // 4` to play `k % U`; `steps` (..., 4U) are their
    weights in g P.
    """

    @staticmethod
    @functools.lru_cache(maxsize=16)
    def of(depth: int, device: torch.device) -> Shortcuts:
        """The tables of a depth, made once."""
        return Shortcuts(depth, device)

    def __init__(self, depth: int, device: torch.device) -> None:
        self.size = U = 2 * 4 ** (depth - 1)
        stays = ~_left_out(depth)
        self._stays = stays.to(device)
        self._kept = stays.nonzero()[:, 0].to(device)
        self._count = int(stays.sum())
        number = torch.full((U,), -1)
        number[stays] = torch.arange(self._count)
        # all paths from one play that stays to the next, a step longer each time
        edge = torch.arange(4 * U)[stays.repeat_interleave(4)]
        parent, start = torch.zeros_like(edge), number[edge // 4]
        self._paths: list[tuple[Tensor, Tensor, Tensor]] = []  # parent, step, those that arrive
        place = []
        while len(edge):
            arrived = stays[edge % U]
            ends = arrived.nonzero()[:, 0]
            place.append(number[edge[ends] % U] * self._count + start[ends])
            self._paths.append((parent.to(device), edge.to(device), ends.to(device)))
            parent = (~arrived).nonzero()[:, 0].repeat_interleave(4)
            start = start[parent]
            edge = 4 * (edge[parent] % U) + torch.arange(4).repeat(len(parent) // 4)
        self._place = torch.cat(place).to(device)

    def solve(self, steps: Tensor, source: Tensor, worth: Tensor) -> tuple[Tensor, Tensor]:
        """Mass x and worth l (..., U), from one factorisation."""
        lu, pivots, _ = torch.linalg.lu_factor_ex(self._system(steps))
        found = []
        for step, given, adjoint in ((push, source, False), (pull, worth, True)):
            given = given.broadcast_to(*steps.shape[:-1], self.size)
            arriving = given + step(steps, self._elsewhere(step, steps, given))
            rest = arriving[..., self._kept, None]
            solved = torch.linalg.lu_solve(lu, pivots, rest, adjoint=adjoint)[..., 0]
            x = torch.zeros_like(given).index_copy_(-1, self._kept, solved)
            found.append(x + self._elsewhere(step, steps, given + step(steps, x)))
        return found[0], found[1]

    def _system(self, steps: Tensor) -> Tensor:
        """`1 - Q` (..., R, R)."""
        flat = steps.reshape(-1, steps.shape[-1])
        room_for(len(flat), self._count, flat, f"Memento of {self.size} plays")
        arrived, weights = [], flat.new_full((len(flat), 1), -1.0)
        for parent, step, ends in self._paths:
            weights = _taken(weights, parent) * _taken(flat, step)
            arrived.append(_taken(weights, ends))
        Q = flat.new_zeros(len(flat), self._count**2)
        Q.index_add_(-1, self._place, torch.cat(arrived, -1))
        Q[:, :: self._count + 1] += 1
        return Q.reshape(*steps.shape[:-1], self._count, self._count)

    def _elsewhere(self, step: Callable, steps: Tensor, given: Tensor) -> Tensor:
        """What comes of `given` at the plays that are left out, by steps among them."""
        there = given.masked_fill(self._stays, 0)
        x = there
        for _ in range(_LONGEST - 1):
            x = there + step(steps, x).masked_fill(self._stays, 0)
        return x


def push(steps: Tensor, x: Tensor) -> Tensor:
    """`g P x`: mass (..., U) sent along the steps (..., 4U)."""
    sent = steps.unflatten(-1, (-1, 4)) * x[..., None]
    return sent.flatten(-2).unflatten(-1, (4, -1)).sum(-2)


def pull(steps: Tensor, x: Tensor) -> Tensor:
    """`g P^T x`: worth (..., U) drawn back along the steps (..., 4U)."""
    drawn = steps.unflatten(-1, (4, -1)) * x[..., None, :]
    return drawn.flatten(-2).unflatten(-1, (-1, 4)).sum(-1)


def _taken(x: Tensor, index: Tensor) -> Tensor:
    """`x[:, index]`; gathering is several times faster than selecting."""
    return x.gather(1, index.expand(len(x), -1))


def _left_out(depth: int) -> Tensor:
    """Mask (U,) of plays among which no way is longer than `_LONGEST`, chosen by their arms.

    Arms pulled, the play's own last, are a binary word of m letters that moves as plays do. Words
    are taken one by one as long as no way through them becomes too long.
    """
    out: set[int] = set()
    for word in range(2**depth):
        if _way(out | {word}, depth) <= _LONGEST:
            out.add(word)
    play = torch.arange(2 * 4 ** (depth - 1))
    arms = play % 2
    for age in range(1, depth):
        arms = arms + ((play // 2 // 4 ** (age - 1)) % 4 // 2) * 2**age
    return torch.isin(arms, torch.tensor(sorted(out)))


def _way(words: set[int], depth: int) -> int:
    """Words in the longest way through the given ones, or one more than is allowed."""
    longest = dict.fromkeys(words, 1)
    for _ in range(_LONGEST):
        longest = {
            word: 1 + max(longest.get((2 * word + arm) % 2**depth, 0) for arm in (0, 1))
            for word in words
        }
    return max(longest.values())
