"""A predictor that is a kernel ridge regression is found to be one."""

import pytest
import torch

from regimes.measure import nearest_ridge


@pytest.fixture
def problem(draw):
    x, z = draw(12, 30), draw(7, 30, seed=1)
    return x @ x.T / 30, z @ x.T / 30, draw(12, seed=2)


@pytest.mark.parametrize("ridge", [0.02, 0.3, 4.0])
def test_the_ridge_of_a_ridge_regression_is_found(problem, ridge):
    K, cross, y = problem
    f = cross @ torch.linalg.solve(K + ridge * torch.eye(12), y)
    found = nearest_ridge(K, cross, y, f, 0.1)
    assert found.ridge == pytest.approx(ridge, rel=1e-4)
    assert found.distance < 1e-5
    torch.testing.assert_close(found.eigenvalues, torch.linalg.eigvalsh(K))


def test_distances_are_relative_and_the_smallest(problem, draw):
    K, cross, y = problem
    f = cross @ torch.linalg.solve(K + torch.eye(12), y) + 0.01 * draw(7, seed=3)

    def distance(r):
        near = cross @ torch.linalg.solve(K + r * torch.eye(12), y)
        return float((near - f).norm() / f.norm())

    found = nearest_ridge(K, cross, y, f, 0.1)
    assert found.distance == pytest.approx(distance(found.ridge))
    assert found.distance_before == pytest.approx(distance(0.1))
    assert found.distance <= min(distance(found.ridge * c) for c in (0.9, 1.1)) + 1e-9


def test_bad_input(problem):
    K, cross, y = problem
    with pytest.raises(ValueError, match=r"cross \(m, n\)"):
        nearest_ridge(K, cross, y, torch.ones(6), 0.1)
    with pytest.raises(ValueError, match="ridge"):
        nearest_ridge(K, cross, y, torch.ones(7), 0.0)
