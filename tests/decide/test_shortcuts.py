"""What is left out of Memento's chain, and that nothing is lost."""

import pytest
import torch

from regimes.decide import _shortcuts
from regimes.decide._shortcuts import Shortcuts, pull, push


def written_out(steps):
    """P (..., U, U) of steps (..., 4U)."""
    size = steps.shape[-1] // 4
    step = torch.arange(4 * size)
    P = steps.new_zeros(*steps.shape[:-1], size, size)
    P[..., step % size, step // 4] = steps
    return P


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_both_systems_are_solved(depth, longest, random_start, monkeypatch):
    monkeypatch.setattr(_shortcuts, "_LONGEST", longest)
    size = 2 * 4 ** (depth - 1)
    steps = 0.99 * random_start(3, size, 4).flatten(-2)
    source, worth = random_start(3, size), random_start(3, size, seed=2)
    mass, value = Shortcuts(depth, torch.device("cpu")).solve(steps, source, worth)
    A = torch.eye(size, dtype=torch.float64) - written_out(steps)
    torch.testing.assert_close(mass, torch.linalg.solve(A, source), rtol=1e-10, atol=0)
    torch.testing.assert_close(value, torch.linalg.solve(A.mT, worth), rtol=1e-10, atol=0)


def test_push_and_pull_are_the_chain(random_start):
    steps, x = random_start(2, 32, 4).flatten(-2), random_start(2, 32)
    P = written_out(steps)
    torch.testing.assert_close(push(steps, x), (P @ x[..., None])[..., 0])
    torch.testing.assert_close(pull(steps, x), (P.mT @ x[..., None])[..., 0])


def test_no_way_through_what_is_left_out_is_longer_than_allowed():
    for depth in (3, 4, 5):
        out = _shortcuts._left_out(depth)
        steps = out.double().repeat_interleave(4)
        ways = out.double()
        for _ in range(_shortcuts._LONGEST):
            ways = push(steps, ways) * out
        assert not ways.any()
        assert out.sum() > 0.35 * len(out)


def test_no_sum_depends_on_its_order():
    """Two terms at most, so that a device that adds in any order gives the same bits."""
    for depth in (4, 5):
        _, counts = Shortcuts.of(depth, torch.device("cpu"))._place.unique(return_counts=True)
        assert counts.max() <= 2
