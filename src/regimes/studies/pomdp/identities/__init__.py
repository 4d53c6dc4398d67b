"""What holds for every policy, each by two computations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, collect_blocks, study
from regimes.studies._types import Tensor
from regimes.studies.pomdp import _players

SOLVERS = ("solve", "power", "series")


@dataclass(frozen=True)
class Reset:
    """A seed is a random problem and its policy."""

    states: int = 8
    actions: int = 3
    observations: int = 4
    discounts: tuple[float, ...] = (0.5, 0.9, 0.99)
    seed: tuple[int, ...] = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Players:
    """A seed is a policy of each memory, with a gap and a reset of its own."""

    memories: tuple[str, ...] = ("ram-8", "memento-3")
    seed: tuple[int, ...] = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Squaring:
    """A seed is a policy of each memory."""

    memories: tuple[str, ...] = ("ram-8", "memento-3")
    gap: float = 0.1
    reset: float = 1e-3
    seed: tuple[int, ...] = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Blind:
    """Nothing is random."""

    memories: tuple[str, ...] = ("ram-8", "memento-3")
    gap: float = 0.1
    reset: float = 1e-3


@dataclass(frozen=True)
class Embedding:
    """A seed is a policy of each depth, with a gap of its own."""

    depths: tuple[int, ...] = (2,)
    reset: float = 1e-3  # of the game with resets, beside that without
    seed: tuple[int, ...] = (0, 1, 2, 3, 4)


def reset(params: Reset, point: Point) -> TrialResult:
    """POM-01: the sum of discounted rewards, and the steady state with resets."""
    import numpy as np
    import torch

    from regimes import decide
    from regimes._random import generator

    S, A, O = params.states, params.actions, params.observations
    direct, found = [], []
    for seed in point.seed:
        source = generator(seed, "problem")

        def law(*shape: int, source: Any = source) -> Any:
            """Random probabilities that sum to one along the first axis."""
            made = -torch.rand(shape, generator=source, dtype=torch.float64).log()
            return made / made.sum(0)

        T, sees, start, policy = law(S, S, A), law(O, S), law(S), law(A, O)
        rewards = torch.randn(S, generator=source, dtype=torch.float64)
        moves = np.einsum("tsa,ao,os->ts", T.numpy(), policy.numpy(), sees.numpy())
        for gamma in params.discounts:
            worth = np.linalg.solve(np.eye(S) - gamma * moves.T, rewards.numpy())
            direct.append(float(worth @ start.numpy()))
            problem = decide.TabularPOMDP(T, sees, rewards, start, gamma)
            for solver in SOLVERS:
                p = problem.steady_state(policy, solver=solver)
                found.append(float(p @ rewards) / (1 - gamma))
    shape = (len(point.seed), len(params.discounts))
    return TrialResult(
        arrays={
            "discounts": Array("discount", params.discounts),
            "value_direct": Array(("problem", "discount"), np.reshape(direct, shape)),
            "value_reset": Array(
                ("problem", "discount", "solver"), np.reshape(found, (*shape, len(SOLVERS)))
            ),
        }
    )


def squaring(params: Squaring, point: Point) -> TrialResult:
    """POM-02: repeated squaring of the whole chain against a solve, and how often it squares."""
    import numpy as np
    import torch

    from regimes import decide
    from regimes._random import generator

    gaps, counts = [], []
    for seed in point.seed:
        for name in params.memories:
            memory = _players.memory_called(name)
            problem = decide.TwoArms(memory, gap=params.gap, reset=params.reset)
            policy, start = _players.softmax_policy(memory, generator(seed, f"policy {name}"))
            first = torch.zeros(memory.observations, dtype=torch.float64)
            first[: memory.blanks] = 1.0 if start is None else start
            chains = torch.stack([problem.transition(policy, h) for h in (0, 1)])
            squared = decide.steady_state(chains, first, params.reset, solver="power")
            solved = problem.steady_state(policy, start)
            gaps.append(float((squared - solved).abs().max() / solved.max()))
            counts.append(_squarings(chains, first, params.reset))
    shape = (len(point.seed), len(params.memories))
    return TrialResult(
        {"squared_reset": params.reset, "squared": ", ".join(params.memories)},
        {
            "power_gap": Array(("squared_policy", "memory"), np.reshape(gaps, shape)),
            "squarings": Array(("squared_policy", "memory"), np.reshape(counts, shape)),
        },
    )


def _squarings(chains: Tensor, first: Tensor, reset: float) -> int:
    """How often chains with resets are squared until their columns agree to 1e-8."""
    chain, count = (1 - reset) * chains + reset * first[:, None], 0
    while float((chain - chain[..., :1]).abs().max()) >= 1e-8:
        chain, count = chain @ chain, count + 1
    return count


def blind(params: Blind, point: Point) -> TrialResult:
    """POM-03: arms at random, always A, always B."""
    import torch

    from regimes import decide

    rewards, wrong = [], []
    for name in params.memories:
        memory = _players.memory_called(name)
        problem = decide.TwoArms(memory, gap=params.gap, reset=params.reset)
        for shares in ((0.5, 0.5), (1.0, 0.0), (0.0, 1.0)):
            memories = memory.actions // 2
            column = torch.tensor(shares, dtype=torch.float64).repeat(memories) / memories
            policy = column[:, None].expand(-1, memory.observations)
            rewards.append(float(problem.reward(policy)))
            wrong.append(float(_players.wrong_of(memory, problem.steady_state(policy))))
    return TrialResult(
        arrays={"blind_reward": Array("player", rewards), "blind_q": Array("player", wrong)}
    )


def reward(params: Players, point: Point) -> TrialResult:
    """POM-04: the reward of random policies, and how often they play the worse arm."""
    import numpy as np
    import torch

    from regimes import decide
    from regimes._random import generator

    found = []
    for seed in point.seed:
        source = generator(seed, "gap and reset")
        gap = float(torch.rand((), generator=source, dtype=torch.float64))
        reset = 10 ** (-4 * float(torch.rand((), generator=source, dtype=torch.float64)))
        for name in params.memories:
            memory = _players.memory_called(name)
            problem = decide.TwoArms(memory, gap=gap, reset=reset)
            policy, start = _players.softmax_policy(memory, generator(seed, f"policy {name}"))
            masses = problem.steady_state(policy, start)
            wrong = float(_players.wrong_of(memory, masses))
            found.append((float(problem.reward(policy, start)), wrong, gap))
    shape = (len(point.seed), len(params.memories))
    names = ("random_reward", "random_q", "random_gap")
    return TrialResult(
        arrays={
            name: Array(("random_policy", "memory"), np.reshape(values, shape))
            for name, values in zip(names, zip(*found, strict=True), strict=True)
        }
    )


def embedding(params: Embedding, point: Point) -> TrialResult:
    """POM-35: policies of a Memento, and the same as policies of a RAM.

    Without resets the RAM holds all pairs but the newest; with resets, shorter words too.
    """
    import numpy as np
    import torch

    from regimes import decide
    from regimes._random import generator

    rewards, gaps = [], []
    for seed in point.seed:
        draw = torch.rand((), generator=generator(seed, "gap"), dtype=torch.float64)
        for depth in params.depths:
            memory = decide.Memento(depth)
            policy, _ = _players.softmax_policy(memory, generator(seed, f"policy {depth}"))
            gaps.append(float(draw))
            for reset, solver in ((0.0, "gth"), (params.reset, "solve")):
                problem = decide.TwoArms(memory, gap=float(draw), reset=reset)
                ram, embedded, start = memory.embed(policy, whole=reset > 0)
                other = decide.TwoArms(ram, gap=float(draw), reset=reset)
                rewards.append(float(problem.reward(policy, solver=solver)))
                rewards.append(float(other.reward(embedded, start, solver=solver)))
    shape = (len(point.seed), len(params.depths))
    dims = ("embedded_policy", "depth")
    found = np.reshape(rewards, (*shape, 2, 2))
    return TrialResult(
        {"embedded_reset": params.reset},
        {
            "embedded_depth": Array("depth", params.depths),
            "memento_reward": Array((*dims, "game"), found[..., 0]),
            "embedded_reward": Array((*dims, "game"), found[..., 1]),
            "embedded_gap": Array(dims, np.reshape(gaps, shape)),
        },
    )


CHECKS: dict[str, Callable[[Any, Point], TrialResult]] = {
    "reset": reset,
    "squaring": squaring,
    "blind": blind,
    "reward": reward,
    "embedding": embedding,
}
SMOKE: dict[str, Any] = {
    "reset": Reset(states=4, seed=(0, 1)),
    "squaring": Squaring(memories=("ram-2", "memento-1"), seed=(0, 1)),
    "blind": Blind(memories=("ram-2", "memento-1")),
    "reward": Players(memories=("ram-2", "memento-1"), seed=(0, 1)),
    "embedding": Embedding(seed=(0, 1)),
}
CPU = {
    "reset": Reset(),
    "squaring": Squaring(),
    "blind": Blind(),
    "reward": Players(seed=tuple(range(20))),
    "embedding": Embedding(depths=(2, 3)),
}
PAPER = {
    **CPU,
    "reset": Reset(states=200),
    "squaring": Squaring(memories=("ram-64", "memento-5"), seed=(0, 1, 2)),
}


@study(
    "pomdp/identities",
    version=1,
    sizes={"smoke": SMOKE, "cpu": CPU, "paper": PAPER},
    axes={check: [] if check == "blind" else [Axis("seed", stacked=True)] for check in CHECKS},
)
class Identities:
    """Discounts as resets, steady states by several solvers, reward and wrong arm, blind players.

    The ground that the comparison of memories stands on, for random problems and policies.

    The paper: [Geiger 2022, sec. 2, app. A and B].
    """

    @staticmethod
    def trial(params: Any, point: Point) -> TrialResult:
        """One check, with parameters of its own class."""
        return CHECKS[point.block](params, point)

    summarise = staticmethod(collect_blocks)
