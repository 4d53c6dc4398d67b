"""The end of training under a kernel, against training (LAND-61)."""

import pytest
import torch

from regimes.flow import kernel_flow, loss_below
from regimes.theory import kernel_limit


def problem(points=6, others=4, features=30, networks=3, seed=0):
    draw = torch.Generator().manual_seed(seed)
    phi = torch.randn(networks, points + others, features, generator=draw, dtype=torch.float64)
    f0 = torch.randn(networks, points + others, generator=draw, dtype=torch.float64)
    K = phi @ phi.mT / features
    y = torch.randn(points, generator=draw, dtype=torch.float64)
    return phi / features**0.5, K[:, :points, :points], K[:, points:, :points], y, f0


def test_linear_networks_descend_to_it():
    phi, K, cross, y, f0 = problem()
    own, other = f0[:, :6], f0[:, 6:]
    w = torch.zeros(3, 30, 1, dtype=torch.float64)
    for _ in range(500):
        gap = own + (phi[:, :6] @ w)[..., 0] - y
        w -= 0.3 * phi[:, :6].mT @ gap[..., None]
    found = kernel_limit(K, cross, y, own, other)
    torch.testing.assert_close(
        found.prediction, other + (phi[:, 6:] @ w)[..., 0], rtol=0, atol=1e-6
    )
    torch.testing.assert_close(found.prediction, found.residual + found.labels)


def test_it_is_the_end_of_the_frozen_kernel_flow():
    _, K, cross, y, _ = problem(networks=1)
    stop = loss_below(1e-14)
    run = kernel_flow(K[0], y, cross[0], loss="mse", until=stop, t_end=1e6)
    found = kernel_limit(K, cross, y).prediction[0]
    torch.testing.assert_close(run.outputs_test[0, :, 0], found, rtol=0, atol=1e-6)


def test_training_points_keep_nothing_of_the_start():
    _, K, _, y, f0 = problem()
    found = kernel_limit(K, K, y, f0[:, :6], f0[:, :6])
    assert float(found.residual.abs().max()) < 1e-10
    torch.testing.assert_close(found.prediction, y.expand(3, 6))


def test_what_the_start_leaves_shrinks_with_points():
    """Of a function of 30 features P points fix a share P/30."""
    draw = torch.Generator().manual_seed(1)
    w = torch.randn(40, 30, 1, generator=draw, dtype=torch.float64)
    for points in (4, 12, 24):
        phi, K, cross, y, _ = problem(points, 20, features=30, networks=40)
        f0 = (phi @ w)[..., 0]
        left = kernel_limit(K, cross, y, f0[:, :points], f0[:, points:]).residual
        assert float(left.square().mean()) == pytest.approx(1 - points / 30, rel=0.15)


def test_directions_without_kernel_do_not_move():
    K = torch.diag(torch.tensor([1.0, 0.0]))
    found = kernel_limit(K, K, torch.ones(2), torch.zeros(2), torch.tensor([0.0, 0.3]))
    torch.testing.assert_close(found.prediction, torch.tensor([1.0, 0.3]))


def test_bad_input():
    K, y = torch.eye(2), torch.ones(2)
    with pytest.raises(ValueError, match="give both or neither"):
        kernel_limit(K, K, y, y)
    with pytest.raises(ValueError, match="must be symmetric"):
        kernel_limit(torch.tensor([[1.0, 0.5], [0.0, 1.0]]), K, y)
    with pytest.raises(ValueError, match="K_cross must have shape"):
        kernel_limit(K, torch.ones(3, 3), y)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        kernel_limit(-K, K, y)
