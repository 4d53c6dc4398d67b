"""Hard-margin machines on frozen kernels."""

import numpy as np
import pytest
import torch

from regimes import data, flow, theory
from regimes.data import Points
from regimes.studies.compression import _frozen, _stripe
from regimes.tangent import TangentKernel


def points(made):
    return Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)


@pytest.fixture(scope="module")
def stripe():
    return data.stripe(30, 2000, d=3, seed=0, dtype=torch.float64)


def test_the_machine_agrees_with_frozen_kernel_flow(stripe):
    """Same margins, other stopping point and an intercept: test errors within a fifth (S12)."""
    train, test = points(stripe)
    gram = theory.shallow_relu_kernel(train.x)
    cross = theory.shallow_relu_kernel(test.x, train.x)
    flowed = flow.kernel_flow(gram, train.y, cross, y_test=test.y)
    assert flowed.status[0] == "fitted"
    machine = _frozen.hard_margin(_frozen.initial_kernel, train, test)
    assert machine.error == pytest.approx(float(flowed.test_errors[0]), rel=0.2)
    assert machine.unfitted == 0


def test_the_scale_of_the_kernel_does_not_matter(stripe):
    train, test = points(stripe)
    plain = _frozen.hard_margin(_frozen.initial_kernel, train, test)
    scaled = _frozen.hard_margin(lambda x, z: 1e6 * _frozen.initial_kernel(x, z), train, test)
    assert scaled.error == pytest.approx(plain.error, abs=2e-3)
    assert scaled.support == pytest.approx(plain.support, abs=0.05)


def test_a_linear_kernel_finds_the_largest_margin():
    x = torch.tensor([[-2.0], [-1.0], [3.0], [5.0]], dtype=torch.float64)
    test = torch.tensor([[0.9], [1.1]], dtype=torch.float64)
    y, y_test = torch.tensor([-1.0, -1, 1, 1]).double(), torch.tensor([-1.0, 1]).double()
    found = _frozen.hard_margin(lambda a, b: a @ b.T, Points(x, y), Points(test, y_test))
    assert found == _frozen.Learned(error=0.0, support=0.5, unfitted=0.0)


def test_what_a_kernel_cannot_separate_is_told(monkeypatch):
    monkeypatch.setattr(_frozen, "ITERATIONS", 1000)
    x = torch.tensor([[-1.0], [0.0], [1.0]], dtype=torch.float64)
    y = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    found = _frozen.hard_margin(lambda a, b: a @ b.T, Points(x, y), Points(x, y))
    assert found.unfitted > 0


def test_rows_at_a_time_give_the_whole_kernel(stripe, monkeypatch):
    monkeypatch.setitem(_frozen._ENTRIES, "cpu", 100)
    made = _frozen.values(_frozen.initial_kernel, stripe.x_train, stripe.x_train[:7])
    whole = theory.shallow_relu_kernel(stripe.x_train, stripe.x_train[:7])
    np.testing.assert_allclose(made, whole.numpy(), rtol=1e-12)


def test_the_network_kernel_is_the_tangent_kernel(stripe):
    net = _stripe.network(3, 20, 0, dtype="float64")
    w, b, beta = _stripe.neurons({k: v[None] for k, v in net.state_dict().items()})
    made = _frozen.network_kernel(w[0], b[0], beta[0])(stripe.x_train, stripe.x_test[:5])
    expected = TangentKernel(net)(stripe.x_train, stripe.x_test[:5])
    torch.testing.assert_close(made, expected, rtol=1e-10, atol=1e-12)
