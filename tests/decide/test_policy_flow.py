"""The flow of policies: a plain loop, members alone, ends, marks, interruptions, bad input."""

import json
import warnings

import numpy as np
import pytest
import torch

from regimes import flow
from regimes._random import generator
from regimes.decide import Memento, Ram, TabularPOMDP, TwoArms, policy_flow

DOUBLE = torch.float64


def normal(*shape, stream="logits"):
    return torch.randn(*shape, generator=generator(0, stream), dtype=DOUBLE)


def starts(memory, members):
    """Logits of policies and, for a RAM, of the start."""
    logits = normal(members, memory.actions, memory.observations)
    return logits, normal(members, memory.states, stream="start") if hasattr(
        memory, "states"
    ) else None


def boat():
    """Three states, two actions, two observations."""
    draws = normal(3, 3, 2, stream="transition").softmax(0), normal(2, 3, stream="seen").softmax(0)
    return TabularPOMDP(*draws, [1.0, 0.5, -5.0], [0.5, 0.5, 0.0], discount=0.95)


def plain_loop(problem, logits, start, tries, first=1.0, tolerance=1e-4):
    """One member by the rule as the literature has it, slopes by autograd."""

    def look(w, v):
        w = w.clone().requires_grad_()
        v = None if v is None else v.clone().requires_grad_()
        reward = problem.reward(w.softmax(0), None if v is None else v.softmax(0))
        slopes = torch.autograd.grad(reward, [w] if v is None else [w, v])
        return reward.item(), list(slopes)

    state = [logits] if start is None else [logits, start]
    reward, slopes = look(*[*state, None][:2])
    time, step, rewards = 0.0, first, [reward]
    for _ in range(tries):
        trial = [x + step * g for x, g in zip(state, slopes, strict=True)]
        new, new_slopes = look(*[*trial, None][:2])
        change = sum((a - b).abs().max().item() for a, b in zip(new_slopes, slopes, strict=True))
        if new < reward - 1e-12 or change >= tolerance:
            step /= 10
            continue
        state, reward, slopes, time = trial, new, new_slopes, time + step
        rewards.append(reward)
        if change < tolerance / 2:
            step *= 1.1
    return state, reward, time, step, len(rewards) - 1


@pytest.mark.parametrize("memory", [Ram(3), Memento(1), Memento(2), None], ids=str)
def test_equals_a_plain_loop(memory):
    """Two members, sixty tries, some of them refused."""
    if memory is None:
        problem, logits, start = boat(), normal(2, 2, 2), normal(2, 3, stream="start")
    else:
        problem = TwoArms(memory, gap=0.4, reset=0.02)
        logits, start = starts(memory, 2)
    run = policy_flow(problem, logits, start, max_steps=60, tolerance=2e-5)
    for i in range(2):
        state, reward, time, step, taken = plain_loop(
            problem, logits[i], None if start is None else start[i], 60, tolerance=2e-5
        )
        assert run.steps[i] == taken
        assert run.refused[i] == 60 - taken > 0
        assert run.end_times[i].item() == pytest.approx(time, rel=1e-12)
        assert run.step_sizes[i].item() == pytest.approx(step, rel=1e-12)
        assert run.end_rewards[i].item() == pytest.approx(reward, rel=1e-9)
        torch.testing.assert_close(run.logits[i], state[0], rtol=1e-8, atol=1e-9)
        if start is not None:
            torch.testing.assert_close(run.start_logits[i], state[1], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("memory", [Ram(4), Ram(1), Memento(1), Memento(3), Memento(4)], ids=str)
def test_slopes_are_those_of_the_problem(memory):
    """The smaller systems here against the problem's own, at small resets too."""
    from regimes.decide._general_field import GeneralField
    from regimes.decide._policy_field import Rows
    from regimes.decide._policy_flow import _field

    logits, start = starts(memory, 3)
    for reset, exact in ((0.1, 1e-12), (1e-6, 1e-7)):
        problem = TwoArms(memory, arms=(0.7, 0.6), reset=reset)
        rows = Rows(memory.observations, memory.actions, 0 if start is None else start.shape[1])
        packed = rows.packed(logits, start)
        found, expected = torch.empty_like(packed), torch.empty_like(packed)
        field = _field(problem, rows, packed)
        for _ in range(2):  # what is left of one call must not show in the next
            reward = field.slopes(packed, out=found)
        own = GeneralField(problem, rows, packed).slopes(packed, out=expected)
        torch.testing.assert_close(reward, own, rtol=exact, atol=exact)
        torch.testing.assert_close(
            found, expected, rtol=exact, atol=exact * expected.abs().max().item()
        )


@pytest.mark.parametrize("stages", [1, 5])
@pytest.mark.parametrize("memory", [Ram(3), Memento(2)], ids=str)
def test_members_do_not_influence_each_other(memory, stages):
    """Each with its own arms, reset and end; and each alone."""
    logits, start = starts(memory, 3)
    gap, reset = torch.tensor([0.1, 0.4, 0.9]).double(), torch.tensor([0.2, 0.01, 0.05]).double()
    options = {"until": 1e3, "max_steps": 60, "stages": stages}
    run = policy_flow(TwoArms(memory, gap=gap, reset=reset), logits, start, **options)
    assert len(set(run.status)) == 2
    for i in range(3):
        alone = policy_flow(
            TwoArms(memory, gap=gap[i].item(), reset=reset[i].item()),
            logits[i],
            None if start is None else start[i],
            **options,
        )
        assert alone.status == run.status[i : i + 1]
        assert alone.steps[0] == run.steps[i]
        torch.testing.assert_close(alone.logits[0], run.logits[i], rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(alone.q[0], run.q[i], rtol=1e-9, atol=1e-12, equal_nan=True)


def test_rewards_at_marks_lie_on_the_line_between_steps():
    """Against a run that stops at each mark; q is that of the policy."""
    problem = TwoArms(Ram(2), gap=0.5, reset=0.05)
    logits, _ = starts(Ram(2), 2)
    marks = [0.0, 5e-3, 0.01, 7.3, 40.0, 41.0, 1e3]
    fine = {"rule": flow.StepRule(first=0.01)}
    run = policy_flow(problem, logits, until=50.0, times=marks, **fine)
    assert run.times.tolist() == marks
    assert run.rewards.isnan().tolist() == [[False] * 6 + [True]] * 2
    torch.testing.assert_close(run.q[:, 0], problem.q(logits.softmax(-2)))
    torch.testing.assert_close(run.end_q, problem.q(run.policy))
    assert run.end_times.tolist() == [50.0, 50.0]
    first = problem.reward(logits.softmax(-2))
    slope = problem.gradient(logits.softmax(-2)).policy
    slope = logits.softmax(-2) * (slope - (logits.softmax(-2) * slope).sum(-2, keepdim=True))
    after = problem.reward((logits + 0.01 * slope).softmax(-2))
    torch.testing.assert_close(run.rewards[:, 1], (first + after) / 2)
    torch.testing.assert_close(run.rewards[:, 2], after)
    for i, mark in enumerate(marks[3:6], 3):
        there = policy_flow(problem, logits, until=mark, **fine).end_rewards
        torch.testing.assert_close(run.rewards[:, i], there, rtol=1e-4, atol=0.0)


def test_default_marks_are_geometric_and_end_with_the_run():
    run = policy_flow(TwoArms(Ram(1), gap=0.5, reset=0.1), starts(Ram(1), 1)[0], until=200.0)
    assert run.times[0] == 1.0
    assert run.times[-1] == 200.0
    torch.testing.assert_close(run.times[1:-1] / run.times[:-2], torch.full((55,), 1.1).double())
    assert run.rewards[0, -1] == run.end_rewards[0]
    assert (run.rewards.diff() >= 0).all()


def test_ends():
    problem = TwoArms(Ram(2), gap=0.5, reset=0.05)
    logits, start = starts(Ram(2), 2)
    run = policy_flow(problem, logits, start, until=1e3, max_steps=10)
    assert run.status == (flow.Status.OUT_OF_STEPS,) * 2
    assert (run.steps + run.refused).tolist() == [10, 10]
    run = policy_flow(problem, logits, start, max_seconds=1e-9)
    assert run.status == (flow.Status.OUT_OF_TIME,) * 2
    torch.testing.assert_close(run.logits, logits)
    torch.testing.assert_close(run.start_logits, start)
    run = policy_flow(problem, logits, start, until=100.0)
    assert run.status == (flow.Status.REACHED,) * 2
    assert (run.worst < 1e-4).all()
    assert "2 reached" in repr(run)


def test_a_converged_member_goes_on_to_its_end():
    """With one memory of one observation the optimum is inside: rounding must not refuse steps."""
    problem = TwoArms(Ram(1), gap=0.5, reset=0.3)
    run = policy_flow(problem, normal(1, 2, 5) * 0, until=1e12, max_steps=5_000)
    assert run.status == (flow.Status.REACHED,)
    assert run.refused[0] < 0.2 * run.steps[0]


def test_a_start_that_is_not_trained_is_uniform():
    problem = TwoArms(Ram(3), gap=0.5, reset=0.2)
    logits, _ = starts(Ram(3), 2)
    fixed = policy_flow(problem, logits, until=1.0)
    free = policy_flow(problem, logits, torch.zeros(3, dtype=DOUBLE), until=1.0)
    torch.testing.assert_close(fixed.logits, free.logits)
    assert fixed.start_logits is fixed.start is None
    assert (free.start - 1 / 3).abs().max() > 1e-4


class PowerCutError(Exception):
    """What a power cut is to a process."""


class Memory:
    """A checkpoint in memory that saves after every step and can stop the run at a save."""

    def __init__(self, stop_at=None, saved=None):
        self.stop_at, self.saved, self.saves = stop_at, saved, 0

    def due(self, *, ended):
        return True

    def save(self, tensors, about):
        copies = {name: value.clone() for name, value in sorted(tensors.items())}
        self.saved = copies, json.dumps(about, sort_keys=True, allow_nan=False)
        self.saves += 1
        if self.saves == self.stop_at:
            raise PowerCutError

    def load(self):
        return None if self.saved is None else (self.saved[0], json.loads(self.saved[1]))


@pytest.mark.parametrize(("memory", "stages"), [(Ram(3), 1), (Memento(2), 1), (Ram(3), 5)], ids=str)
@pytest.mark.parametrize("stop_at", [1, 25, 50])
def test_goes_on_bit_for_bit(memory, stages, stop_at):
    """Stopped at the first step, amid, and after a member's end."""
    logits, start = starts(memory, 3)
    gap, reset = torch.tensor([0.1, 0.4, 0.9]).double(), torch.tensor([0.2, 0.01, 0.05]).double()
    problem = TwoArms(memory, gap=gap, reset=reset)
    options = {"until": 1e3, "max_steps": 60, "stages": stages}
    full = Memory()
    whole = policy_flow(problem, logits, start, checkpoint=full, **options)
    cut = Memory(stop_at)
    with pytest.raises(PowerCutError):
        policy_flow(problem, logits, start, checkpoint=cut, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Memory(saved=cut.saved)
        resumed = policy_flow(problem, logits, start, checkpoint=again, **options)
    assert again.saves == full.saves - stop_at
    for name, value in vars(whole).items():
        found = getattr(resumed, name)
        if isinstance(value, torch.Tensor):
            assert torch.equal(value.nan_to_num(-9.0), found.nan_to_num(-9.0)), name
        elif name != "seconds":
            assert value == found, name


def test_another_runs_checkpoint_is_not_used():
    memory = Ram(2)
    logits, start = starts(memory, 2)
    kept = Memory()
    policy_flow(TwoArms(memory, gap=0.5, reset=0.1), logits, start, until=9.0, checkpoint=kept)
    for gap, lengths, what in ((0.5, 8.0, "limits"), (0.4, 9.0, "problem")):
        problem = TwoArms(memory, gap=gap, reset=0.1)
        with pytest.warns(RuntimeWarning, match=f"its {what}"):
            run = policy_flow(
                problem, logits, start, until=lengths, checkpoint=Memory(saved=kept.saved)
            )
        alone = policy_flow(problem, logits, start, until=lengths)
        assert torch.equal(alone.logits, run.logits)
    gaps = torch.tensor([0.5, 0.4]).double()
    kept = Memory()
    one = policy_flow(TwoArms(memory, gap=gaps, reset=0.1), logits, until=9.0, checkpoint=kept)
    with pytest.warns(RuntimeWarning, match="rewards"):
        two = policy_flow(
            TwoArms(memory, gap=gaps.flip(0), reset=0.1),
            logits,
            until=9.0,
            checkpoint=Memory(saved=kept.saved),
        )
    assert not torch.equal(one.logits, two.logits)


def test_bad_input():
    memory = Ram(2)
    problem, (logits, _) = TwoArms(memory, gap=0.5, reset=0.1), starts(memory, 2)
    three = TwoArms(memory, gap=torch.tensor([0.1, 0.2, 0.3]).double(), reset=0.1)
    with pytest.raises(ValueError, match=r"logits must have shape \(..., 4, 10\)"):
        policy_flow(problem, logits.mT)
    with pytest.raises(ValueError, match=r"\(A, O\) or \(R, A, O\)"):
        policy_flow(problem, logits[None])
    with pytest.raises(ValueError, match="finite"):
        policy_flow(problem, logits / 0)
    with pytest.raises(ValueError, match="must have 2 entries"):
        policy_flow(problem, logits, torch.zeros(2, 3).double())
    with pytest.raises(ValueError, match="a row for each of 2 members"):
        policy_flow(problem, logits, torch.zeros(3, 2).double())
    with pytest.raises(ValueError, match="empty word"):
        policy_flow(TwoArms(Memento(1), gap=0.5, reset=0.1), normal(2, 5), torch.zeros(1).double())
    with pytest.raises(ValueError, match="one entry for each of the 2 members"):
        policy_flow(three, logits)
    with pytest.raises(ValueError, match="reset must be above 0"):
        policy_flow(TwoArms(memory, gap=0.5, reset=0.0), logits)
    with pytest.raises(ValueError, match="`gradient` and `reset`"):
        policy_flow("two arms", logits)
    with pytest.raises(ValueError, match="increasing"):
        policy_flow(problem, logits, times=[2.0, 1.0])
    own = TwoArms(Ram(1), gap=0.5, reset=0.1).tabular()
    with pytest.raises(ValueError, match=r"policy is torch.float32 .* and the problem torch.f"):
        policy_flow(own, torch.zeros(2, 5))
    with pytest.raises(ValueError, match=r"start must have shape \(..., 10\)"):
        policy_flow(own, torch.zeros(2, 5).double(), torch.zeros(2).double())
    with pytest.raises(ValueError, match="lost beside one"):
        policy_flow(TwoArms(memory, gap=0.5, reset=1e-16), logits)
    with pytest.raises(ValueError, match="until must be a finite number"):
        policy_flow(problem, logits, until=-1.0)
    with pytest.raises(ValueError, match="whose first step is a number"):
        policy_flow(problem, logits, rule=flow.StepRule())
    with pytest.raises(ValueError, match="due, save and load"):
        policy_flow(problem, logits, checkpoint="here")


def test_stages_follow_the_same_curve_in_fewer_steps():
    """Where stability limits Euler's steps."""
    problem = TwoArms(Ram(2), gap=0.1, reset=1e-3)
    logits, start = starts(Ram(2), 2)
    options = {"until": 1e5, "times": [1e3, 1e4, 1e5]}
    euler = policy_flow(problem, logits, start, **options)
    many = policy_flow(problem, logits, start, stages=20, **options)
    torch.testing.assert_close(many.q, euler.q, rtol=3e-3, atol=0.0)
    assert many.steps.sum() * 4 < euler.steps.sum()


class Decay:
    """A flow back to zero with a rate for each logit."""

    def __init__(self, *rates):
        self.rates = torch.tensor(rates, dtype=DOUBLE)

    def slopes(self, logits, out):
        torch.mul(logits, -self.rates, out=out)


def test_stages_damp_what_euler_cannot():
    """A decay of rate x times dt: the Legendre polynomial at 1 - 2 x dt / (s^2 + s)."""
    from numpy.polynomial.legendre import legval

    from regimes.decide._legendre import leap

    stages = np.array([1, 1, 2, 3, 7, 7])
    ends = stages * (stages + 1)
    lengths = ends * np.array([0.5, 0.99, 0.3, 0.7, 0.1, 0.99])
    start = torch.ones(6, 1, dtype=DOUBLE)
    end = leap(
        Decay(1.0), start, -start, torch.from_numpy(lengths), stages, torch.empty_like(start)
    )
    expected = [
        legval(1 - 2 * length / full, [0] * s + [1])
        for s, full, length in zip(stages, ends, lengths, strict=True)
    ]
    torch.testing.assert_close(end[:, 0], torch.tensor(expected, dtype=DOUBLE))
    assert (end.abs() <= 1).all()


def test_the_fastest_rate_and_the_stages_it_asks_for():
    from regimes.decide._legendre import fastest_rate, longest_step, stages_of

    field, logits = Decay(0.1, 3.0, 0.5), normal(2, 3)
    slope, direction = torch.empty_like(logits), torch.ones(2, 3, dtype=DOUBLE)
    field.slopes(logits, out=slope)
    for _ in range(12):
        rate = fastest_rate(field, logits, slope, direction)
    np.testing.assert_allclose(rate, 3.0, rtol=1e-6)
    longest = longest_step(rate, 5)
    np.testing.assert_allclose(longest, 30 / (1.25 * 3.0), rtol=1e-6)
    assert stages_of(rate, longest, 5).tolist() == [5, 5]
    assert stages_of(rate, longest * [0.9, 0.01], 5).tolist() == [5, 1]
