"""`policy_flow`: softmax policies climb their mean reward."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regimes._check import instance, positive_int, real, shown
from regimes.decide._general_field import GeneralField, Problem
from regimes.decide._memento_field import MementoField
from regimes.decide._memories import Ram
from regimes.decide._policy_field import PolicyField, Rows
from regimes.decide._policy_run import PolicyRun
from regimes.decide._policy_steps import Limits, climb
from regimes.decide._probabilities import tensor
from regimes.decide._ram_field import RamField
from regimes.decide._steady_state import not_lost
from regimes.decide._two_arms import TwoArms
from regimes.flow import Checkpoint, Status, StepRule
from regimes.flow._checkpoint import Shelf

_FACTOR = 1.1  # between marks of time


def policy_flow(
    problem: Problem,
    logits: Tensor,
    start_logits: Tensor | None = None,
    *,
    until: float = 1e9,
    max_steps: int = 10_000_000,
    max_seconds: float | None = None,
    tolerance: float = 1e-4,
    rule: StepRule | None = None,
    stages: int = 1,
    times: Tensor | Sequence[float] | None = None,
    checkpoint: Checkpoint | None = None,
) -> PolicyRun:
    """Integrate `dw/dt = dE_p[R]/dw` for the logits w of stacked policies [Geiger 2022, eq. 3].

    A policy is `pi[a, o] = softmax_a w[a, o]`, E_p[R] its mean reward in the steady state. The
    literature's flow climbs the value E_p[R]/r instead: its time is r times the time here.

    Explicit Euler (or more `stages`), each member with its own time and step. A step is refused,
    and tried again with a tenth of its length, when the reward falls (by more than rounding) or a
    slope changes by `tolerance`: the largest change along policy logits plus the largest along
    start logits. It grows by a tenth when the change was below half of that. Members that have
    ended leave the batch. One look at the problem per trial: masses and values share a
    factorisation, and the slope at an accepted point is the one the next step takes.

    The stepping is that of this room and not of `flow.gradient_flow`, which lowers a loss over data
    points within relative tolerances; control, ends and checkpoints are those of `flow`.

    Args:
        problem: `TwoArms` with any memory, whose arms and reset may be tensors (R,), one a member;
            a `TabularPOMDP`, or any object with `reset` and `gradient(policy, start, check=...)`
            like theirs.
        logits: where the policies start, (R, A, O), or (A, O) for one.
        start_logits: where the distributions of the start begin, (R, n), or (n,) for all: of
            `Ram`'s blank memories, or of a tabular problem's states. None leaves the start as the
            problem has it (uniform over blank memories).
        until: time at which a member ends, exactly. The default is the literature's and can take
            Euler's steps hours; 1e4 is a first look.
        max_steps: steps tried per member, taken or refused.
        max_seconds: wall clock for all members together, that before an interruption included.
        tolerance: how far a slope may change in a step.
        rule: first length and factors of the steps; `StepRule(first=1.0)` is the literature's.
        stages: of a step at most. One is Euler, whose steps are limited by stability from times
            of 10^5 on. With more, each member takes as many as its step needs to be stable, and
            late times come many times sooner, on the same curves: 200 is a good number.
        times: increasing marks at which rewards are noted; None takes 1.1^k and `until`.
        checkpoint: where the run leaves its state, `point.checkpoint()` in a trial of the lab, so
            that it goes on bit for bit after an interruption.

    Returns:
        A `PolicyRun`.

    Raises:
        ValueError: logits that do not fit the problem or are not finite, limits without sense.

    Example:
        >>> from regimes.decide import Ram, TwoArms
        >>> from regimes._random import generator
        >>> draws = generator(0, "logits")
        >>> logits = torch.randn(3, 4, 10, generator=draws, dtype=torch.float64)
        >>> problem = TwoArms(Ram(2), gap=0.5, reset=0.05)
        >>> run = policy_flow(problem, logits, torch.zeros(2).double(), until=1e4)
        >>> run.status[0].value, run.logits.shape, bool((run.end_q < 0.25).all())
        ('reached', torch.Size([3, 4, 10]), True)
    """
    w = _logits("logits", logits, 2)
    v = None if start_logits is None else _logits("start_logits", start_logits, 1)
    if v is not None:
        v = v.expand(len(w), -1) if len(v) == 1 else v
        if len(v) != len(w) or v.dtype != w.dtype or v.device != w.device:
            raise ValueError(
                f"start_logits need a row for each of {len(w)} members, of the dtype and device "
                f"of logits, got {tuple(v.shape)} {v.dtype} on {v.device}"
            )
    rows = Rows(w.shape[2], w.shape[1], 0 if v is None else v.shape[1])
    packed = rows.packed(w, v)
    field = _field(problem, rows, packed)
    limits = _limits(tolerance, rule, stages, until, max_steps, max_seconds)
    marks = _marks(times, limits.until)

    def described() -> dict[str, object]:
        own = hashlib.sha256(packed.cpu().numpy().tobytes() + marks.tobytes()).hexdigest()
        return {"kind": "policy_flow", "problem": problem, "limits": limits, "logits": own}

    shelf = Shelf(checkpoint, described, w.device)
    books = climb(field, rows, packed, limits, marks, shelf)
    rewards, ends = torch.from_numpy(books.rewards), torch.from_numpy(books.reward)
    policies, starts = rows.unpacked(books.logits)
    wrong = problem.q_of_reward if isinstance(problem, TwoArms) else None
    order = list(Status)
    return PolicyRun(
        times=torch.from_numpy(marks),
        rewards=rewards,
        q=wrong(rewards.mT).mT if wrong else None,
        logits=policies,
        start_logits=starts,
        end_times=torch.from_numpy(books.time),
        end_rewards=ends,
        end_q=wrong(ends) if wrong else None,
        status=tuple(order[number] for number in books.status),
        steps=torch.from_numpy(books.taken),
        refused=torch.from_numpy(books.refused),
        step_sizes=torch.from_numpy(books.step),
        worst=torch.from_numpy(books.worst),
        seconds=books.seconds,
    )


def _logits(name: str, value: Tensor, axes: int) -> Tensor:
    """Logits with a leading axis of members."""
    instance(name, value, Tensor, "a tensor (write *found to pass both parts of a Logits)")
    shapes = "(A, O) or (R, A, O)" if axes == 2 else "(n,) or (R, n)"
    if value.ndim not in (axes, axes + 1) or value.numel() == 0:
        raise ValueError(f"{name} must have shape {shapes}, got {tuple(value.shape)}")
    if value.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} must be of float32 or float64, got {value.dtype}")
    tensor(name, value)  # finite
    return value.detach()[None] if value.ndim == axes else value.detach()


def _field(problem: Problem, rows: Rows, packed: Tensor) -> PolicyField:
    """The field of a problem, or a ValueError that says what does not fit."""
    if not isinstance(problem, TwoArms):
        return _general(problem, rows, packed)
    memory = problem.memory
    _fits(rows, memory.actions, memory.observations, memory)
    try:
        plus, reset = problem._plus.to(packed), problem._reset.to(packed)
        plus, reset = plus.expand(len(packed), 2, 2), reset.expand(len(packed))
    except RuntimeError:
        raise ValueError(
            f"arms and reset of {problem} must be numbers or have one entry for each of the "
            f"{len(packed)} members of logits"
        ) from None
    if not (reset > 0).all():
        raise ValueError("reset must be above 0 for a flow: without resets slopes may be infinite")
    not_lost(reset, "flow with more resets")
    if isinstance(memory, Ram):
        if rows.starts not in (0, memory.states):
            raise ValueError(
                f"start_logits of {memory} must have {memory.states} entries, got {rows.starts}"
            )
        return RamField(memory.states, plus, reset, trained=rows.starts > 0)
    if rows.starts:
        raise ValueError(f"{memory} starts at the empty word: leave start_logits out")
    return MementoField(memory.depth, plus, reset)


def _general(problem: Problem, rows: Rows, packed: Tensor) -> PolicyField:
    for name in ("gradient", "reset"):
        if not hasattr(problem, name):
            raise ValueError(
                f"problem must be a TwoArms, a TabularPOMDP or an object with `gradient` and "
                f"`reset` like theirs, got {shown(problem)}"
            )
    actions, observations = (getattr(problem, k, None) for k in ("actions", "observations"))
    _fits(rows, actions or rows.actions, observations or rows.observations, problem)
    policy, start = rows.unpacked(packed)
    # later looks are not checked: what does not fit, the problem says here
    problem.gradient(policy.softmax(-2), None if start is None else start.softmax(-1), check=True)
    return GeneralField(problem, rows, packed)


def _fits(rows: Rows, actions: int, observations: int, what: object) -> None:
    if (rows.actions, rows.observations) != (actions, observations):
        raise ValueError(
            f"logits must have shape (..., {actions}, {observations}), an action and an "
            f"observation of {shown(what)}, got (..., {rows.actions}, {rows.observations})"
        )


def _limits(
    tolerance: float,
    rule: StepRule | None,
    stages: int,
    until: float,
    max_steps: int,
    max_seconds: float | None,
) -> Limits:
    chosen = StepRule(first=1.0) if rule is None else rule
    instance("rule", chosen, StepRule, "a flow.StepRule")
    if not isinstance(chosen.first, int | float) or chosen.floor is not None:
        raise ValueError(
            f"a flow of policies takes a StepRule whose first step is a number, without a floor, "
            f"got {shown(chosen)}"
        )
    return Limits(
        tolerance=real("tolerance", tolerance, above=0.0),
        rule=chosen,
        stages=positive_int("stages", stages),
        until=real("until", until, above=0.0),
        max_steps=positive_int("max_steps", max_steps),
        wall=None if max_seconds is None else real("max_seconds", max_seconds, above=0.0),
    )


def _marks(times: Tensor | Sequence[float] | None, until: float) -> np.ndarray:
    if times is None:
        count = int(np.log(max(until, 1.0)) / np.log(_FACTOR)) + 1
        marks = _FACTOR ** np.arange(count)
        return np.append(marks[marks < until], until)
    marks = tensor("times", times).cpu().double().numpy().copy()
    increases = marks.ndim == 1 and len(marks) > 0 and bool((np.diff(marks) > 0).all())
    if not increases or marks[0] < 0:
        raise ValueError(f"times must be increasing numbers, 0 or more, got {shown(times)}")
    return marks
