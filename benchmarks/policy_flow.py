"""Flow of policies, against a loop with dense autograd and against its linear solves alone.

20 seeds of a RAM of 20 states, of a RAM of 64 states and of a Memento of 5 plays (1365
observations), measured side by side, in rounds:

- loop: what a user would write, one seed after the other, the chain of every hypothesis as a dense
  matrix, `torch.linalg.solve` and autograd, with the same rule for steps;
- ours: `decide.policy_flow` of all seeds;
- solves: the factorisation and the two solves of the step's systems, nothing else.

Times are those of the CPU, with one thread: a flow on two takes two processes, a half of the seeds
each.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable
from typing import Any

import torch
from _machine import machine, options, save, times_of
from torch import Tensor

from regimes._random import generator
from regimes.decide import Memento, Ram, TwoArms, policy_flow
from regimes.decide._policy_field import Rows, softmax_rows
from regimes.decide._policy_flow import _field
from regimes.decide._shortcuts import Shortcuts

GAP, RESET, SEEDS = 0.1, 1e-3, 20
TOLERANCE = 1e-4


def starts(memory: Ram | Memento, members: int) -> tuple[Tensor, Tensor | None]:
    """Normal logits, of the start too where the memory has one."""
    draws = generator(0, "logits")
    shape = members, memory.actions, memory.observations
    logits = torch.randn(shape, generator=draws, dtype=torch.float64)
    if isinstance(memory, Memento):
        return logits, None
    return logits, torch.randn(members, memory.states, generator=draws, dtype=torch.float64)


def loop(memory: Ram, members: int, steps: int) -> None:
    """One RAM policy after the other."""
    all_logits, all_starts = starts(memory, members)
    assert all_starts is not None
    n, size = memory.states, memory.observations
    plus = torch.tensor([(1 + GAP) / 2, (1 - GAP) / 2], dtype=torch.float64)
    chances = [k.repeat(n)[:, None] for k in (plus, plus.flip(0))]
    rewards = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(2 * n)
    nothing, eye = torch.zeros(n, size).double(), torch.eye(size).double()

    def look(logits: Tensor, start: Tensor) -> tuple[float, list[Tensor]]:
        variables = [each.detach().requires_grad_() for each in (logits, start)]
        policy, first = variables[0].softmax(0), variables[1].softmax(0)
        first = torch.cat([first, first.new_zeros(4 * n)])
        total = first.new_zeros(())
        for k in chances:
            seen = torch.stack([policy * k, policy * (1 - k)], 1).flatten(0, 1)
            chain = torch.cat([nothing, seen])
            p = torch.linalg.solve(eye - (1 - RESET) * chain, RESET * first)
            total = total + 0.5 * (p[n:] * rewards).sum()
        return total.item(), list(torch.autograd.grad(total, variables))

    for logits, start in zip(all_logits, all_starts, strict=True):
        reward, slopes = look(logits, start)
        step = 1.0
        for _ in range(steps):
            trial = logits + step * slopes[0], start + step * slopes[1]
            new, new_slopes = look(*trial)
            change = sum(
                float((a - b).abs().max()) for a, b in zip(new_slopes, slopes, strict=True)
            )
            if new < reward or change >= TOLERANCE:
                step /= 10
                continue
            (logits, start), reward, slopes = trial, new, new_slopes
            if change < TOLERANCE / 2:
                step *= 1.1


def ours(memory: Ram | Memento, members: int, steps: int) -> None:
    """All seeds at once."""
    problem = TwoArms(memory, gap=GAP, reset=RESET)
    run = policy_flow(problem, *starts(memory, members), max_steps=steps, tolerance=TOLERANCE)
    if int((run.steps + run.refused).min()) != steps:
        raise RuntimeError(f"a member ended before its {steps} steps: {run}")


def solves(memory: Ram | Memento, members: int) -> Callable[[], Any]:
    """The solves of one step: masses and values of the chain of plays, both hypotheses."""
    if isinstance(memory, Memento) and memory.depth > 3:
        return long_solves(memory, members)
    n = 2 * memory.states if isinstance(memory, Ram) else 2 * 4 ** (memory.depth - 1)
    chain = torch.rand(members, 2, n, n, generator=generator(0, "chain"), dtype=torch.float64)
    chain = chain / chain.sum(-2, keepdim=True)
    system = (torch.eye(n) - (1 - RESET) * chain).mT.contiguous().mT
    right = torch.ones(members, 2, n, 1, dtype=torch.float64)

    def run() -> None:
        factors, pivots, _ = torch.linalg.lu_factor_ex(system)
        torch.linalg.lu_solve(factors, pivots, right)
        torch.linalg.lu_solve(factors, pivots, right, adjoint=True)

    return run


def long_solves(memory: Memento, members: int) -> Callable[[], Any]:
    """The same of a long memory, where most plays are left out of the dense systems."""
    plays, draws = 2 * 4 ** (memory.depth - 1), generator(0, "chain")
    steps = torch.rand(members, 2, 4 * plays, generator=draws, dtype=torch.float64)
    steps = steps * (1 - RESET) / 4  # two rewards and two arms follow each play
    right = torch.ones(members, 2, plays, dtype=torch.float64)
    shortcuts = Shortcuts.of(memory.depth, right.device)
    return lambda: shortcuts.solve(steps, right, right)


def parts(memory: Ram, members: int) -> dict[str, float]:
    """Where a step's time goes, in milliseconds: what bounds it."""
    logits, start = starts(memory, members)
    rows = Rows(memory.observations, memory.actions, memory.states)
    packed = rows.packed(logits, start)
    field = _field(TwoArms(memory, gap=GAP, reset=RESET), rows, packed)
    out, policy = torch.empty_like(packed), rows.policy(packed)
    buffer = torch.empty_like(policy)
    works: dict[str, Callable[[], Any]] = {
        "look at the problem": lambda: field.slopes(packed, out),
        "its solves": solves(memory, members),
        "its softmax": lambda: softmax_rows(policy, buffer),
    }
    for work in works.values():
        work()
    return {name: round(1e3 * cost(work, 200), 3) for name, work in works.items()}


def cost(work: Callable[[], Any], times: int = 1) -> float:
    """CPU seconds of each of so many calls: other processes hardly change them."""
    return times_of(lambda: [work() for _ in range(times)])[1] / times


def main() -> None:
    """Measure and print; `--save` records."""
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    row: dict[str, Any] = {"members": SEEDS, "gap": GAP, "reset": RESET}
    print(f"{machine()}\n{SEEDS} seeds, gap {GAP}, reset {RESET}")

    ours(Ram(20), SEEDS, 20)
    loop(Ram(20), 1, 3)
    rounds = [
        (
            cost(lambda: ours(Ram(20), SEEDS, 400)) / (SEEDS * 400),
            cost(lambda: loop(Ram(20), 4, 40)) / (4 * 40),
        )
        for _ in range(chosen.repeats)
    ]  # side by side, because the speed of a shared machine changes from second to second
    own, slow = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(slow / own for own, slow in rounds)
    print(f"{Ram(20)}: {1 / own:,.0f} members x steps / s, the loop {1 / slow:,.0f}")
    print(f"faster than the loop with dense autograd: {ratio:.1f}x  [bar 5]")
    row[str(Ram(20))] = {
        "member_steps_per_second": round(1 / own),
        "loop_member_steps_per_second": round(1 / slow),
        "ratio_to_loop": round(ratio, 2),
    }
    shares = parts(Ram(20), SEEDS)
    told = ", ".join(f"{name} {milliseconds:.2f}" for name, milliseconds in shares.items())
    print(f"of a step, ms: {told}; the rest of a look are passes over masses and values")
    row[str(Ram(20))]["parts_ms"] = shares
    cases: list[tuple[Ram | Memento, int]]
    cases = [(Ram(20), 200), (Ram(64), 40), (Memento(3), 200), (Memento(5), 2)]
    for memory, steps in cases:
        bare = solves(memory, SEEDS)
        bare()
        pairs = [  # steps look at the problem once each, and once at the start
            (cost(functools.partial(ours, memory, SEEDS, steps)) / (steps + 1), cost(bare, steps))
            for _ in range(chosen.repeats)
        ]
        ratio = statistics.median(own / bound for own, bound in pairs)
        own, bound = (statistics.median(column) for column in zip(*pairs, strict=True))
        bar = "[bar 4]" if memory in (Ram(64), Memento(5)) else ""
        print(
            f"{memory}: a step {1e3 * own:.2f} ms, its solves {1e3 * bound:.2f} ms, "
            f"{ratio:.2f}x  {bar}"
        )
        row.setdefault(str(memory), {})
        row[str(memory)] |= {
            "step_ms": round(1e3 * own, 3),
            "solves_ms": round(1e3 * bound, 3),
            "ratio_to_solves": round(ratio, 2),
        }
    save("policy_flow", row, chosen.record)


if __name__ == "__main__":
    main()
