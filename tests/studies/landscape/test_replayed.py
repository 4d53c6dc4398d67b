"""Replayed training is descent with Adam, member by member."""

import numpy as np
import pytest
import torch

from regimes.studies.landscape import _networks, _replayed, _tasks, _training

MARKS = (1, 5, 40, 150, 300)


class Kept:
    """A checkpoint in memory that is always due."""

    def __init__(self):
        self.state = None
        self.saves = 0

    def due(self, *, ended):
        return True

    def save(self, tensors, about):
        self.saves += 1
        self.state = {k: v.clone() for k, v in tensors.items()}, about

    def load(self):
        return self.state


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "subtracted"])
def runs(request):
    data = _tasks.random_task(12, 5)
    start = _networks.networks(5, 6, 2, range(5))
    common = {"rate": 1e-2, "margin": 0.5, "subtract_init": request.param}
    found = _replayed.adam(start, data, marks=MARKS, look=counted, **common)
    usual = _training.adam(start, data, steps=MARKS[-1], check_every=1, **common)
    return data, start, common, found, usual


def counted(networks, members=None):
    return networks.parameters["layers.0.weight"].square().sum((1, 2)).unsqueeze(1)


def test_members_end_where_descent_ends_them(runs):
    _, _, _, found, usual = runs
    np.testing.assert_array_equal(found.fitted > 0, usual.fitted.numpy())
    assert found.fitted.sum() > 0
    np.testing.assert_array_equal(found.steps, usual.steps.numpy())
    for name, value in usual.parameters.items():
        torch.testing.assert_close(found.parameters[name], value, rtol=1e-9, atol=1e-12)


def test_looks_end_with_the_member(runs):
    _, start, _, found, _ = runs
    for (steps, seen), end in zip(found.looks, found.steps, strict=True):
        assert steps[-1] == end
        assert (np.diff(steps) > 0).all()
        assert len(seen) == len(steps)
    last = np.array([seen[-1, 0] for _, seen in found.looks])
    np.testing.assert_allclose(last, counted(start.moved_to(found.parameters))[:, 0], rtol=1e-12)


def test_a_run_that_is_stopped_goes_on_bit_for_bit(runs):
    data, start, common, found, _ = runs
    kept = Kept()
    _replayed.adam(start, data, marks=MARKS, look=counted, checkpoint=kept, **common)
    assert kept.saves > 1

    class StopError(Exception):
        pass

    class Stopping(Kept):
        def save(self, tensors, about):
            super().save(tensors, about)
            if self.saves == 3:
                raise StopError

    stopping = Stopping()
    with pytest.raises(StopError):
        _replayed.adam(start, data, marks=MARKS, look=counted, checkpoint=stopping, **common)
    again = _replayed.adam(start, data, marks=MARKS, look=counted, checkpoint=stopping, **common)
    for name, value in found.parameters.items():
        assert torch.equal(again.parameters[name], value)
    np.testing.assert_array_equal(again.steps, found.steps)
    assert all(
        np.array_equal(one[0], two[0]) for one, two in zip(again.looks, found.looks, strict=True)
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_graph_takes_the_same_steps():
    data = _tasks.random_task(12, 5, device="cuda")
    start = _networks.networks(5, 6, 2, range(5), device="cuda")
    common = {"rate": 1e-2, "margin": 0.5, "marks": MARKS, "look": counted}
    one, other = (_replayed.adam(start, data, graph=graph, **common) for graph in (True, False))
    np.testing.assert_array_equal(one.steps, other.steps)
    for name, value in other.parameters.items():
        torch.testing.assert_close(one.parameters[name], value)
