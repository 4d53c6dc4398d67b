"""Steady states by all solvers, and the elimination without subtractions."""

import math

import pytest
import torch

from regimes.decide import Memento, Ram, TwoArms, gth, steady_state


@pytest.mark.parametrize(("memory", "squarings"), [(Ram(8), 16), (Memento(3), 16)])
def test_power_squares_as_often_as_the_horizon_asks(memory, squarings, random_policy, monkeypatch):
    """[Geiger 2022, Algorithm 1]; POM-02."""
    assert squarings == math.ceil(math.log2(40 / 1e-3))
    monkeypatch.setattr("regimes.decide._steady_state._MOST_SQUARINGS", squarings)
    problem = TwoArms(memory, gap=0.1, reset=1e-3)
    policy = random_policy(memory)
    power, solved = (problem.steady_state(policy, solver=each) for each in ("power", "solve"))
    torch.testing.assert_close(power, solved, atol=1e-7, rtol=0)


def test_all_solvers_are_one_function(random_policy, random_start, dtype):
    T, start = random_policy(Ram(2), 3)[:, :, :4].to(dtype), random_start(4).to(dtype)
    p = steady_state(T, start, 0.1)
    close = 1e-4 if dtype == torch.float32 else 1e-8
    torch.testing.assert_close(p, 0.1 * start + 0.9 * (T @ p[..., None])[..., 0])
    for solver in ("power", "series", "gth"):
        torch.testing.assert_close(steady_state(T, start, 0.1, solver), p, atol=close, rtol=0)
    stays = gth(T, start)
    torch.testing.assert_close((T @ stays[..., None])[..., 0], stays)
    torch.testing.assert_close(steady_state(T, start, 0.0, "gth"), stays)
    if dtype == torch.float64:
        torch.testing.assert_close(steady_state(T, start, 1e-9), stays, atol=1e-7, rtol=0)


@pytest.mark.parametrize("solver", ["solve", "power", "series"])
def test_solvers_are_differentiable(solver, random_policy, random_start):
    T, start = random_policy(Ram(2))[:, :4].requires_grad_(), random_start(4).requires_grad_()

    def first(T, start):
        return steady_state(T.softmax(-2), start.softmax(-1), 0.2, solver)[0]

    assert torch.autograd.gradcheck(first, (T, start), rtol=1e-4, atol=1e-6)


def test_a_reset_for_each_member(random_policy, random_start):
    T, start = random_policy(Ram(2))[:, :4], random_start(4)
    resets = torch.tensor([0.5, 0.01, 1e-5], dtype=torch.float64)
    for solver in ("solve", "power", "series", "gth"):
        each = torch.stack([steady_state(T, start, float(r), solver) for r in resets])
        torch.testing.assert_close(steady_state(T, start, resets, solver), each, atol=1e-8, rtol=0)


def test_gth_keeps_the_digits_of_rare_states():
    """A line of states, the far end visited with probability 1e-24."""
    up, n = 1e-6, 5
    T = torch.zeros(n, n, dtype=torch.float64)
    for s in range(n - 1):
        T[s + 1, s], T[s, s + 1] = up, 1 - up
    T += torch.diag(1 - T.sum(0))
    p = gth(T, torch.eye(n, dtype=torch.float64)[3])
    ratio = up / (1 - up)
    exact = torch.tensor([ratio**s for s in range(n)], dtype=torch.float64)
    torch.testing.assert_close(p, exact / exact.sum(), rtol=1e-13, atol=0)


def test_gth_follows_the_start_into_one_class():
    """States 0 -> 1 <-> 2 and a part of its own, 3 <-> 4, in a batch of both starts."""
    T = torch.zeros(5, 5, dtype=torch.float64)
    T[1, 0] = T[2, 1] = T[4, 3] = T[3, 4] = 1.0
    T[1, 2], T[2, 2] = 0.5, 0.5
    starts = torch.eye(5, dtype=torch.float64)[[0, 4]]
    expected = torch.tensor([[0, 1 / 3, 2 / 3, 0, 0], [0, 0, 0, 0.5, 0.5]], dtype=torch.float64)
    torch.testing.assert_close(gth(T, starts), expected)
    with pytest.raises(ValueError, match="ends in one of 2 classes"):
        gth(T, starts.mean(0))


T2 = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
START = torch.tensor([1.0, 0.0], dtype=torch.float64)


@pytest.mark.parametrize(
    ("reset", "solver", "message"),
    [
        (0.0, "solve", "solver='solve' needs reset > 0, got 0; without resets use 'gth'"),
        (0.0, "series", "needs reset > 0"),
        (0.0, "power", "do not agree after .* may alternate"),
        (1.5, "solve", r"reset is a probability in \[0, 1\], .* got 1.5"),
        ("often", "solve", "got 'often'"),
        (0.1, "invert", "unknown solver 'invert'; use one of"),
    ],
)
def test_what_has_no_steady_state_says_so(reset, solver, message):
    with pytest.raises(ValueError, match=message):
        steady_state(T2, START, reset, solver)


def test_a_chain_must_be_square_and_lose_nothing():
    with pytest.raises(ValueError, match="transition must be square"):
        steady_state(torch.full((2, 3), 0.5).double(), START, 0.1)
    with pytest.raises(ValueError, match=r"start is torch\.float32"):
        steady_state(T2, START.float(), 0.1)
    with pytest.raises(ValueError, match=r"transition has \(3,\), start has \(2,\)"):
        steady_state(T2.expand(3, 2, 2), START.expand(2, 2), 0.1)
    with pytest.raises(ValueError, match=r"transition has \(3,\), start has \(2,\)"):
        gth(T2.expand(3, 2, 2), START.expand(2, 2))
    with pytest.raises(ValueError, match=r"a sum is 0\.9"):
        gth(0.9 * T2, START)
