import pytest
import torch

from regimes.measure import minimise_product, supernat, supernat_factors, supernat_step


def noisy_regression(draws, n=50, d=10, sigma2=0.1, seed=0):
    numbers = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=numbers, dtype=torch.float64)

    signal, noise = normal(draws, n), normal(draws, n, d) / d**0.5
    eps = sigma2**0.5 * normal(draws, n)
    y = signal + (noise @ noise.mT @ eps[..., None])[..., 0]
    return torch.cat([signal[..., None], noise], dim=2), y


def test_ali_32_step_two_has_its_closed_form(draw):
    phi, grad, eta = draw(6, 9), draw(6, seed=1), 0.3
    u, s, _ = torch.linalg.svd(phi, full_matrices=False)
    lam, g = s**2, u.T @ grad
    # |delta w|_A^2 = sum nu eta^2 lam g^2 and |A^-1 Phi|_F^2 = sum lam/nu
    nu, value = minimise_product(eta**2 * lam * g**2, lam)
    closed = 1 / g.abs()
    torch.testing.assert_close(nu / nu[0], closed / closed[0], rtol=1e-6, atol=0)
    assert value == pytest.approx(eta * float((lam * g.abs()).sum()), rel=1e-10)
    factors = supernat_factors(lam, g, rescale="none")
    torch.testing.assert_close(factors, lam * g.abs())


def test_factors_of_each_mode():
    lam, g = torch.tensor([4.0, 1.0, 2.0]), torch.tensor([0.5, -2.0, 0.0])
    assert supernat_factors(lam, g).tolist() == [1.0, 1.0, 0.0]
    assert supernat_factors(lam, g, rescale="none").tolist() == [2.0, 2.0, 0.0]
    assert supernat_factors(lam, g, rescale="keep_top").tolist() == [4.0, 4.0, 0.0]
    assert supernat_factors(lam, g, rescale="off") is lam
    nothing = torch.zeros(3)
    for mode in ("contract", "keep_top"):
        assert torch.equal(supernat_factors(lam, nothing, rescale=mode), lam)


@pytest.mark.parametrize("rescale", ["contract", "keep_top", "none", "off"])
def test_both_representations_give_the_same_function(draw, rescale):
    phi, y = draw(8, 5), draw(8, seed=1)
    eta = 0.5 / float(torch.linalg.matrix_norm(phi, 2)) ** 2
    run = supernat(phi, lambda f: f - y, eta=eta, steps=12, rescale=rescale)
    features, weights = phi, torch.zeros(5).double()
    for t in range(12):
        before = features @ weights
        torch.testing.assert_close(before, phi @ run.weights[t])
        features, weights = supernat_step(features, weights, before - y, eta=eta, rescale=rescale)
        lam = torch.linalg.svdvals(features) ** 2
        torch.testing.assert_close(lam, run.eigenvalues[t + 1].sort(descending=True).values)
    torch.testing.assert_close(features @ weights, phi @ run.weights[12])


def test_the_update_is_natural_gradient_with_the_accumulated_metric(draw):
    """delta f_j = -eta lam_jt u_j.grad [Baratin 2021, sec. 4.1.2]."""
    phi, y, eta = draw(6, 6), draw(6, seed=1), 0.01
    run = supernat(phi, lambda f: f - y, eta=eta, steps=4)
    _, s, v = torch.linalg.svd(phi)
    for t in range(4):
        gradient = phi @ run.weights[t] - y
        scales = s / run.eigenvalues[t].sqrt()  # A_t in the basis v: lam_t = lam_0 / prod nu
        metric = v.T @ torch.diag(scales**2) @ v
        step = -eta * torch.linalg.solve(metric, phi.T @ gradient)
        torch.testing.assert_close(run.weights[t + 1] - run.weights[t], step)


def test_off_is_gradient_descent(draw):
    phi, y = draw(2, 7, 4), draw(2, 7, seed=1)
    eta = torch.tensor([0.01, 0.03]).double()
    run = supernat(phi, lambda f: f - y, eta=eta, steps=20, rescale="off")
    for i in range(2):
        w = torch.zeros(4).double()
        for _ in range(20):
            w = w - eta[i] * phi[i].T @ (phi[i] @ w - y[i])
        torch.testing.assert_close(run.weights[20, i], w)


def test_ali_33_supernat_freezes_the_noise():
    phi, y = noisy_regression(100)
    top = torch.linalg.svdvals(phi)[:, 0] ** 2
    truth = torch.zeros(11).double()
    truth[0] = 1.0  # the noiseless target is the first feature
    spread = torch.tensor([1.0] + [0.1] * 10).double()  # second moments of the features

    def final_error(rescale):
        run = supernat(phi, lambda f: f - y, eta=0.9 / top, steps=400, rescale=rescale)
        return (spread * (run.weights[-1] - truth) ** 2).sum(1)

    descent = final_error("off")
    ratio = final_error("contract") / descent
    assert float(ratio.median()) <= 0.5
    assert float((ratio < 1).double().mean()) >= 0.95
    # keeping the top eigenvalue re-inflates the noise directions and ends where descent does
    assert float((final_error("keep_top") / descent).median()) == pytest.approx(1, abs=0.1)


def test_bad_input_is_refused(draw):
    phi = draw(3, 4)
    with pytest.raises(ValueError, match="unknown rescale 'contracting'; use one of: contract"):
        supernat(phi, lambda f: f, eta=0.1, steps=1, rescale="contracting")
    with pytest.raises(ValueError, match="steps must be an integer >= 1, got 0"):
        supernat(phi, lambda f: f, eta=0.1, steps=0)
    with pytest.raises(ValueError, match="exactly zero"):
        supernat_step(torch.eye(2), torch.zeros(2), torch.tensor([1.0, 0.0]), eta=0.1)
