"""Soft margins: the conditions they obey, and scikit-learn's own decisions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from regimes import data
from regimes.kernels import Laplace, soft_margin


def images(n, n_test=100):
    ds = data.digits(n, n_test).pipe(data.flatten(), data.parity())
    kernel = Laplace(3.0)
    return kernel(ds.x_train), ds.y_train, kernel(ds.x_test, ds.x_train), ds.y_test


def assert_optimal(K, z, machine, penalty, within):
    """The conditions of the dual, written out [Spigler 2020, app. A]."""
    a = np.zeros(len(z))
    a[machine.machine.chosen] = machine.machine.dual
    a = a * z.numpy()
    assert (a >= 0).all()
    assert (a <= penalty * (1 + 1e-9)).all()
    assert abs((a * z.numpy()).sum()) < 1e-6 * a.sum()
    margins = z.numpy() * machine.outputs(K)
    inside, bound = 1e-9 * penalty, (1 - 1e-9) * penalty
    missed = np.where(a <= inside, 1 - margins, np.where(a >= bound, margins - 1, 0.0))
    missed = np.maximum(missed, np.where((a > inside) & (a < bound), np.abs(1 - margins), 0))
    assert missed.max() < within
    assert machine.violation == pytest.approx(max(missed.max(), 0.0), abs=1e-9)


@pytest.mark.parametrize("penalty", [0.05, 1.0, 1e4])
def test_the_conditions_hold_on_digits(penalty):
    K, z, k, y = images(200)
    machine = soft_margin(K, z, penalty=penalty)
    assert_optimal(K, z, machine, penalty, 1e-3)
    assert 0 <= machine.error(k, y) < 0.3


def test_the_conditions_hold_on_mnist(data_root):
    """KER-36: 200 images, C = 1e4."""
    ds = data.mnist(200, 10).pipe(data.flatten(), data.parity())
    K = Laplace(1000.0)(255 * ds.x_train)
    assert_optimal(K, ds.y_train, soft_margin(K, ds.y_train), 1e4, 1e-3)


@given(st.floats(-0.9, 0.99), st.floats(0.1, 10.0))
def test_two_points_are_known_on_paper(between, scale):
    """KER-36: a = 1/(1 - K_12) for both, and b = 0."""
    K = scale * np.array([[1.0, between], [between, 1.0]])
    machine = soft_margin(K, np.array([1.0, -1.0]), penalty=1e6).machine
    goal = 1 / (scale * (1 - between))
    assert np.allclose(np.abs(machine.dual), goal, rtol=1e-3)
    assert abs(machine.intercept) < 1e-6


@pytest.mark.parametrize("penalty", [0.3, 1e4])
def test_decisions_are_those_of_scikit_learn(penalty):
    K, z, k, y = images(150)
    machine = soft_margin(K, z, penalty=penalty)
    peer = SVC(C=penalty, kernel="precomputed", tol=1e-6).fit(K.numpy(), z.numpy())
    expected = peer.decision_function(k.numpy())
    assert np.allclose(machine.outputs(k), expected, atol=2e-3 * np.abs(expected).max())
    wrong = np.mean(np.sign(machine.outputs(k)) != y.numpy())
    assert machine.error(k, y) == pytest.approx(wrong)


@pytest.mark.parametrize(
    ("K", "labels", "told"),
    [
        (np.eye(3), [0.0, 1.0, 1.0], r"labels must be \+1 and -1.*values \[0.0, 1.0\]"),
        (np.eye(3), [1.0, 1.0, 1.0], r"labels must be \+1 and -1, both of them"),
        (np.eye(3), [[1.0], [-1.0], [1.0]], "labels must be"),
        (np.eye(2), [1.0, -1.0, 1.0], r"K must be \(3, 3\) for 3 labels"),
        (np.eye(3) + np.eye(3, k=1), [1.0, -1.0, 1.0], "must be symmetric, .* differ by up to 1"),
        (np.zeros((3, 3)), [1.0, -1.0, 1.0], "diagonal must be positive"),
    ],
)
def test_bad_input_is_told(K, labels, told):
    with pytest.raises(ValueError, match=told):
        soft_margin(K, np.array(labels))
    with pytest.raises(ValueError, match="penalty"):
        soft_margin(np.eye(2), np.array([1.0, -1.0]), penalty=0.0)


def test_tensors_and_arrays_are_the_same():
    K, z, _, _ = images(60)
    one, other = soft_margin(K, z), soft_margin(K.numpy(), z.numpy())
    assert torch.equal(torch.from_numpy(one.machine.dual), torch.from_numpy(other.machine.dual))
