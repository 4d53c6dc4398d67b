"""The necklace policy: who remembers only its last plays, and counts by the arms it plays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regimes._check import choose, instance
from regimes.decide._arms import Number, number
from regimes.decide._gray_chain import gray_chain
from regimes.decide._memories import Memento
from regimes.decide._necklaces import flipped, necklace, rotations
from regimes.decide._policy import Policy


@dataclass(frozen=True)
class NecklaceExit:
    """Where the player may leave its necklace: what it remembers then, and the arm that leaves."""

    word: str  # arms, the oldest first
    rewards: str
    arm: str
    end: bool  # whether the necklace is one of the two ends, left with eps0 rather than eps1


# of the words that lead to a neighbour, which one does: to the left, to the right
_ROTATIONS = {"last": (min, max), "first": (max, min)}


def necklace_exits(chain: Sequence[str], *, rotation: str = "last") -> tuple[NecklaceExit, ...]:
    """All exits of the necklace policy along a chain, from A to B, the left exit first.

    A necklace is left for a neighbour by the opposite of the oldest arm, at one of its words, and
    only if all outcomes speak for the step: to the left (for A) if every A won and every B lost, to
    the right if it is the other way round. Ends are left when all have lost.

    Args:
        chain: necklaces from AA...A to BB...B, neighbours one letter apart, as of `gray_chain`.
        rotation: which word where several would do: "last", the last in alphabetical order to the
            right and the first to the left, or "first", the other way round. A word of "first" may
            be the one by which the necklace was entered, with outcomes that have counted before;
            rare exits make both equal, at m = 3 its excess over the limit is 2.7 times larger.

    >>> [(each.word + each.rewards, each.arm) for each in necklace_exits(("AA", "AB", "BB"))]
    [('AA--', 'B'), ('BA-+', 'A'), ('AB-+', 'B'), ('BB--', 'A')]
    """
    chain = _checked(chain)
    choices = choose(rotation, _ROTATIONS, "rotation")
    found = []
    last = len(chain) - 1
    for i, own in enumerate(chain):
        for step, chosen in zip((-1, 1), choices, strict=True):
            if not 0 <= i + step <= last:
                continue
            word = chosen(w for w in rotations(own) if necklace(flipped(w)) == chain[i + step])
            end = i in (0, last)
            favoured = "AB"[step > 0]
            rewards = "".join("+" if not end and e == favoured else "-" for e in word)
            found.append(NecklaceExit(word, rewards, "AB"[word[0] == "A"], end))
    return tuple(found)


def _checked(chain: Sequence[str]) -> list[str]:
    names = [necklace(word) for word in chain]
    m = len(names[0]) if names else 0
    whole = len(names) > 1 and names[0] == "A" * m and names[-1] == "B" * m
    if not whole or len(set(names)) < len(names):
        raise ValueError(
            f"a chain leads from AA...A to BB...B over necklaces of its own, got {chain}"
        )
    for one, other in itertools.pairwise(names):
        if other not in {necklace(flipped(word)) for word in rotations(one)}:
            raise ValueError(
                f"{one} and {other} are neighbours in the chain, but not by one letter"
            )
    return names


def necklace_policy(
    memory: Memento,
    eps0: Number,
    eps1: Number,
    *,
    chain: Sequence[str] | None = None,
    rotation: str = "last",
    stray: Number = 0.0,
) -> Policy:
    """The necklace policy of a memory of plays [Geiger 2022, Definition 4.1].

    The player repeats the oldest arm it remembers, so its word of arms turns within a necklace. The
    exits of `necklace_exits` are taken with probability eps1, those of the two ends with eps0.
    Until the memory is full either arm is played. For r << eps0 << eps1 << 1 it plays the worse arm
    with probability `theory.q_necklace`.

    Args:
        memory: `Memento(m)`.
        eps0: probability to leave an end, in [0, 1]; tensors (...) make as many policies.
        eps1: probability to leave another necklace.
        chain: the necklaces in their order; None for `gray_chain(m)`.
        rotation: at which words necklaces are left, "last" or "first" (`necklace_exits`).
        stray: probability of the opposite of the oldest arm in necklaces that are not in the chain,
            as ABAB is not. With 0 they turn for ever, so that a player whose first plays lead into
            one learns nothing until the reset; with 1/2 it finds the chain, and the limit holds.

    Returns:
        actions (..., 2, O), float64, no start.

    >>> memory = Memento(3)
    >>> policy = necklace_policy(memory, eps0=1e-8, eps1=1e-3)
    >>> policy.actions[:, memory.observation("ABA-+-")]
    tensor([0.9990, 0.0010], dtype=torch.float64)
    """
    instance("memory", memory, Memento, "Memento(depth)")
    given = {"eps0": eps0, "eps1": eps1, "stray": stray}
    ends, inner, astray = torch.broadcast_tensors(
        *(number(name, p, 0, 1, closed=(True, True)) for name, p in given.items())
    )
    chain = gray_chain(memory.depth) if chain is None else chain
    exits = necklace_exits(chain, rotation=rotation)
    if len(exits[0].word) != memory.depth:
        raise ValueError(
            f"the chain has words of {len(exits[0].word)} letters for a memory of {memory.depth}"
        )
    full = memory.first(memory.depth)
    arms, _ = memory.histories(memory.depth)
    oldest, known = arms[:, 0], {necklace(word) for word in chain}
    words = map("".join, itertools.product("AB", repeat=memory.depth))
    lost = torch.tensor([necklace(word) not in known for word in words])
    lost = lost[(arms * 2 ** torch.arange(memory.depth - 1, -1, -1)).sum(-1)]
    leave = torch.where(lost, astray[..., None], 0.0)
    for each in exits:
        leave[..., memory.observation(each.word + each.rewards) - full] = (
            ends if each.end else inner
        )
    # not 1 - (1 - leave), which would cost small exits their digits
    plays = [torch.where(oldest == arm, 1 - leave, leave) for arm in (0, 1)]
    short = ends.new_full((*ends.shape, 2, full), 0.5)
    return Policy(torch.cat([short, torch.stack(plays, dim=-2)], dim=-1))
