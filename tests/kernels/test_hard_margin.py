"""Hard-margin machines."""

import numpy as np
import pytest
import torch

from regimes import data, flow, theory
from regimes.data import Points
from regimes.kernels import Learned, _hard_margin, fit_machine, hard_margin, quiet_solver

relu = theory.shallow_relu_kernel


def linear(x, z):
    return x @ z.T


@pytest.fixture(scope="module")
def stripe():
    made = data.stripe(30, 2000, d=3, seed=0, dtype=torch.float64)
    return Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)


def test_the_machine_agrees_with_frozen_kernel_flow(stripe):
    """Same margins, other stopping point and an intercept: test errors within a fifth."""
    train, test = stripe
    flowed = flow.kernel_flow(relu(train.x), train.y, relu(test.x, train.x), y_test=test.y)
    assert flowed.status[0] == "fitted"
    machine = hard_margin(relu, train, test)
    assert machine.error == pytest.approx(float(flowed.test_errors[0]), rel=0.2)
    assert machine.unfitted == 0


def test_the_scale_of_the_kernel_does_not_matter(stripe):
    plain = hard_margin(relu, *stripe)
    scaled = hard_margin(lambda x, z: 1e6 * relu(x, z), *stripe)
    assert scaled.error == pytest.approx(plain.error, abs=2e-3)
    assert scaled.support == pytest.approx(plain.support, abs=0.05)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_linear_kernel_finds_the_largest_margin(dtype):
    x = torch.tensor([[-2.0], [-1.0], [3.0], [5.0]], dtype=dtype)
    test = torch.tensor([[0.9], [1.1]], dtype=dtype)
    y, y_test = torch.tensor([-1.0, -1, 1, 1], dtype=dtype), torch.tensor([-1.0, 1], dtype=dtype)
    found = hard_margin(linear, Points(x, y), Points(test, y_test))
    assert found == Learned(error=0.0, support=0.5, unfitted=0.0)


def test_the_machine_is_that_of_its_dual(stripe):
    """Outputs are the sum over support vectors, margins at least 1, duals balanced."""
    train, _ = stripe
    gram, labels = relu(train.x).numpy(), train.y.numpy()
    gram = gram / (np.trace(gram) / len(gram))
    machine = fit_machine(gram, labels)
    outputs = np.array(
        [
            sum(a * gram[i, j] for a, j in zip(machine.dual, machine.chosen, strict=True))
            + machine.intercept
            for i in range(len(gram))
        ]
    )
    np.testing.assert_allclose(machine.outputs(gram[:, machine.chosen]), outputs, rtol=1e-9)
    assert (labels * outputs).min() > 0.99
    assert machine.dual.sum() == pytest.approx(0, abs=1e-6 * np.abs(machine.dual).max())
    assert machine.error(gram[:, machine.chosen], -labels) == 1.0


def test_what_a_kernel_cannot_separate_is_told(monkeypatch):
    monkeypatch.setattr(_hard_margin, "ITERATIONS", 1000)
    x = torch.tensor([[-1.0], [0.0], [1.0]], dtype=torch.float64)
    y = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    assert hard_margin(linear, Points(x, y), Points(x, y)).unfitted > 0


def test_the_first_penalty_with_a_solution_is_taken():
    x, y = np.array([-1.0, 0.0, 1.0]) * 1.5**0.5, np.array([1.0, -1.0, 1.0])
    with quiet_solver():
        found = [
            fit_machine(np.outer(x, x), y, penalties=penalties, iterations=100)
            for penalties in ((1e8,), (1e8, 1e-2, 1e-3))
        ]
    assert np.abs(found[0].dual).max() > 1  # unfinished, and a machine all the same
    assert np.abs(found[1].dual).max() == pytest.approx(1e-2)


def test_bad_input_is_told(stripe):
    train, test = stripe
    eye, labels = np.eye(2), np.array([1.0, -1.0])
    with pytest.raises(ValueError, match=r"shape \(n, n\) for n labels, got \(2, 2\) and \(3,\)"):
        fit_machine(eye, np.ones(3))
    with pytest.raises(ValueError, match="NaN or infinite"):
        fit_machine(np.full((2, 2), np.nan), labels)
    with pytest.raises(ValueError, match="both of them, got the values"):
        fit_machine(eye, np.ones(2))
    with pytest.raises(ValueError, match=r"mean diagonal of gram must be 1.* got 3: divide"):
        fit_machine(3 * eye, labels)
    with pytest.raises(ValueError, match="at least one penalty"):
        fit_machine(eye, labels, penalties=())
    with pytest.raises(ValueError, match="a penalty must be"):
        fit_machine(eye, labels, penalties=(-1.0,))
    with pytest.raises(ValueError, match="iterations must be an integer"):
        fit_machine(eye, labels, iterations=0)
    with pytest.raises(ValueError, match=r"test\.y must hold labels"):
        hard_margin(relu, train, Points(test.x, test.y * 2))
    with pytest.raises(ValueError, match="diagonal must be positive"):
        hard_margin(lambda x, z: -relu(x, z), train, test)
