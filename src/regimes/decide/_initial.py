"""Where training starts: random policies, structured ones, and the best that are known.

docs/themes/pomdp.md, "Starts of training". Members are stacked; one seed draws the same numbers for
every start, so that starts of one seed differ by their structure alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from regimes import _random
from regimes._check import choose, instance, shown
from regimes.decide._ccp import ccp
from regimes.decide._columns import ccp_opt
from regimes.decide._memories import Memento, Ram
from regimes.decide._necklace_policy import necklace_policy
from regimes.decide._policy import Logits, Policy
from regimes.decide._two_arms import TwoArms

Draws = Callable[[str, tuple[int, ...]], Tensor]


def initial_logits(
    name: str, problem: TwoArms, seeds: int | Sequence[int] = 0, *, leak: float = 1e-4
) -> Logits:
    """Logits of policies to start training from, stacked over seeds.

    - `random`: all logits N(0, 1), for both memories;
    - `linear` (`Ram`): as random, but memories change by one step at most;
    - `columns` (`Ram`): as linear, and above the lowest memory the last arm is played again;
    - `ccp` (`Ram`): the column of confidence with its best exit for this problem;
    - `cycles` (`Memento`): the oldest arm again, unless all outcomes speak for one hypothesis;
      there and in shorter words random;
    - `necklace` (`Memento`): the necklace policy with `eps0 = r^(1/2)` and `eps1 = r^(1/4)`.

    All but `random` are logarithms of probabilities, to each of which `leak` is added first.

    Args:
        name: which start.
        problem: its memory says the shapes; `ccp` and `necklace` depend on its arms and reset.
        seeds: of the members, in their order. `ccp` and `necklace` draw nothing: all are alike.
        leak: added to every probability.

    Returns:
        policy (n, A, O), and start (n, M) for `Ram`, else None; float64.

    >>> problem = TwoArms(Ram(8), gap=0.1, reset=1e-3)
    >>> policy, start = initial_logits("columns", problem, seeds=range(20))
    >>> policy.shape, start.shape
    (torch.Size([20, 16, 40]), torch.Size([20, 8]))
    """
    instance("problem", problem, TwoArms, "a TwoArms problem")
    start_from = choose(name, STARTS[type(problem.memory)], f"start for {problem.memory}")
    numbers = _seeds(seeds)

    def draws(stream: str, shape: tuple[int, ...]) -> Tensor:
        sources = [_random.generator(seed, f"policy/{stream}") for seed in numbers]
        return torch.stack(
            [torch.randn(shape, generator=source, dtype=torch.float64) for source in sources]
        )

    found = start_from(problem.memory, problem, draws)
    policy, start = found if isinstance(found, Logits) else found.logits(leak)
    n = len(numbers)
    if policy.ndim > 3 or (policy.ndim == 3 and len(policy) not in (1, n)):
        raise ValueError(
            f"a problem of {tuple(policy.shape[:-2])} members needs as many seeds, got {n}"
        )
    return Logits(
        policy.expand(n, -1, -1).clone(), None if start is None else start.expand(n, -1).clone()
    )


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    try:
        numbers = [seeds] if isinstance(seeds, int) else list(seeds)
    except TypeError:
        numbers = []
    if not numbers:
        raise ValueError(f"seeds must be an integer or some, one a member; got {shown(seeds)}")
    return numbers


def _random_start(memory: Ram | Memento, problem: TwoArms, draws: Draws) -> Logits:
    policy = draws("actions", (memory.actions, memory.observations))
    return Logits(policy, draws("start", (memory.states,)) if isinstance(memory, Ram) else None)


def _linear_start(memory: Ram, problem: TwoArms, draws: Draws) -> Policy:
    return _restricted(memory, draws, _neighbours(memory))


def _columns_start(memory: Ram, problem: TwoArms, draws: Draws) -> Policy:
    blanks = memory.blanks
    seen, play = torch.arange(memory.observations), torch.arange(memory.actions)[:, None]
    place, last = (seen - blanks) // 4, (seen - blanks) // 2 % 2
    repeats = (seen < blanks) | (place == 0) | (play % 2 == last)
    return _restricted(memory, draws, _neighbours(memory) & repeats)


def _neighbours(memory: Ram) -> Tensor:
    """Which actions (A, O) change the memory by one step at most."""
    seen = torch.arange(memory.observations)
    place = torch.where(seen < memory.blanks, seen, (seen - memory.blanks) // 4)
    return (torch.arange(memory.actions)[:, None] // 2 - place).abs() <= 1


def _restricted(memory: Ram, draws: Draws, allowed: Tensor) -> Policy:
    """Random policies that take allowed actions alone."""
    policy = draws("actions", tuple(allowed.shape)).masked_fill(~allowed, -torch.inf)
    return Policy(policy.softmax(-2), draws("start", (memory.states,)).softmax(-1))


def _ccp_start(memory: Ram, problem: TwoArms, draws: Draws) -> Policy:
    arms = problem.gap if problem.arms is None else tuple(problem.arms)
    return ccp(memory, ccp_opt(memory.states, arms, problem.reset).eps)


def _cycles_start(memory: Memento, problem: TwoArms, draws: Draws) -> Policy:
    policy = _random_start(memory, problem, draws).policy.softmax(-2)
    arms, rewards = memory.histories(memory.depth)
    speaks = arms ^ rewards  # for which arm an outcome speaks: its own after a win
    mixed = (speaks != speaks[:, :1]).any(-1)
    oldest = torch.nn.functional.one_hot(arms[:, 0], 2).mT.to(policy.dtype)
    full = memory.first(memory.depth)
    policy[..., full:] = torch.where(mixed, oldest, policy[..., full:])
    return Policy(policy)


def _necklace_start(memory: Memento, problem: TwoArms, draws: Draws) -> Policy:
    reset = torch.as_tensor(problem.reset, dtype=torch.float64)
    return necklace_policy(memory, reset**0.5, reset**0.25)


# a start is given its kind of memory, the problem and what draws
Start = Callable[[Any, TwoArms, Draws], Policy | Logits]
STARTS: dict[type, dict[str, Start]] = {
    Ram: {
        "random": _random_start,
        "linear": _linear_start,
        "columns": _columns_start,
        "ccp": _ccp_start,
    },
    Memento: {
        "random": _random_start,
        "cycles": _cycles_start,
        "necklace": _necklace_start,
    },
}
