import math

import pytest
import torch

from regimes.measure import modewise_update, power_law, regression_modes, time_constants


def test_ali_02_the_linear_update_splits_mode_by_mode(tanh_net, draw):
    f, w, _ = tanh_net
    target = draw(12, 2, seed=5)
    phi = torch.func.jacrev(f)(w)
    K = torch.einsum("iyp,jzp->iyjz", phi, phi)
    gradient = f(w) - target
    eta = 1e-3
    step = modewise_update(K, gradient, eta)
    parameter_step = -eta * torch.einsum("iyp,iy->p", phi, gradient)
    linear = torch.einsum("iyp,p->iy", phi, parameter_step)
    assert float((step.from_kernel - linear).norm()) < 1e-10
    assert float((step.from_modes - linear).norm()) < 1e-10
    assert step.difference < 1e-10


def test_ali_02_the_true_update_leaves_the_linear_one_as_eta_squared(tanh_net, draw):
    f, w, _ = tanh_net
    target = draw(12, 2, seed=5)
    phi = torch.func.jacrev(f)(w)
    K = torch.einsum("iyp,jzp->iyjz", phi, phi)
    gradient = f(w) - target
    rates = torch.logspace(-4, -2, 5, dtype=torch.float64)
    gaps = []
    for eta in rates.tolist():
        moved = w - eta * torch.einsum("iyp,iy->p", phi, gradient)
        gaps.append(float((f(moved) - f(w) - modewise_update(K, gradient, eta).from_kernel).norm()))
    assert power_law(rates, gaps).exponent == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("t", [1, 10, 100])
def test_ali_03_linear_regression_converges_mode_by_mode(draw, t):
    phi, y = draw(20, 50), draw(20, seed=1)
    K = phi @ phi.T
    lam, u = torch.linalg.eigh(K)
    eta = 1 / float(lam[-1])
    w = draw(50, seed=2)
    start = phi @ w
    for _ in range(t):
        w = w - eta * phi.T @ (phi @ w - y)
    predicted = regression_modes(u.T @ start, u.T @ y, lam, eta=eta, steps=t)
    assert float((u.T @ (phi @ w) - predicted).abs().max()) < 1e-10


def test_several_times_at_once(draw):
    start, solution, lam = draw(4), draw(4, seed=1), draw(4, seed=2) ** 2
    steps = torch.tensor([0, 1, 7])
    found = regression_modes(start, solution, lam, eta=0.1, steps=steps)
    assert found.shape == (3, 4)
    torch.testing.assert_close(found[0], start)
    torch.testing.assert_close(found[2], regression_modes(start, solution, lam, eta=0.1, steps=7))


def test_time_constants_are_the_decay_of_each_mode():
    lam = torch.tensor([4.0, 2.0, 1.0, 0.0], dtype=torch.float64)
    tau = time_constants(lam)
    assert tau[0] == 0
    assert math.isinf(tau[3])
    for j in (1, 2):
        decay = (1 - float(lam[j]) / 4) ** float(tau[j])
        assert decay == pytest.approx(math.exp(-1), rel=1e-12)


def test_bad_input_is_refused(draw):
    with pytest.raises(ValueError, match=r"outputs' shape \(3,\), got \(4,\)"):
        modewise_update(torch.eye(3), torch.ones(4), 0.1)
    with pytest.raises(ValueError, match="share one shape"):
        regression_modes(torch.ones(2), torch.ones(3), torch.ones(2), eta=0.1, steps=1)
    with pytest.raises(ValueError, match="whole numbers"):
        regression_modes(torch.ones(2), torch.ones(2), torch.ones(2), eta=0.1, steps=-1)
