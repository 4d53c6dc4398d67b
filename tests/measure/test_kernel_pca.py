import pytest
import torch

from regimes.measure import center, kernel_pca


def labelled(draw, p=14, features=30):
    phi = draw(p, features)
    y = torch.where(draw(p, seed=1) > 0, 1.0, -1.0).double()
    return phi @ phi.T, y


def test_functions_and_values_follow_the_definition(draw, dtype, tolerance):
    K, _ = labelled(draw)
    pca = kernel_pca(K.to(dtype), 4)
    lam, v = torch.linalg.eigh(K)
    assert pca.functions.shape == (4, 14)
    torch.testing.assert_close(
        pca.values.double(), lam.flip(0)[:4] / 14, rtol=10 * tolerance, atol=0
    )
    overlaps = (pca.functions.double() @ v.flip(1)[:, :4] / 14**0.5).diagonal().abs()
    torch.testing.assert_close(overlaps, torch.ones(4).double(), rtol=100 * tolerance, atol=0)
    squares = (pca.functions.double() ** 2).mean(1)
    torch.testing.assert_close(squares, torch.ones(4).double(), rtol=10 * tolerance, atol=0)
    assert pca.trace == pytest.approx(float(K.trace()) / 14, rel=10 * tolerance)


def test_projections_sum_to_one_over_all_modes(draw):
    K, y = labelled(draw)
    omega2 = kernel_pca(K).projections(y)
    assert float(omega2.sum()) == pytest.approx(1, rel=1e-12)
    v = torch.linalg.eigh(K).eigenvectors.flip(1)
    expected = [float(v[:, r] @ y) ** 2 / 14 for r in range(14)]
    assert omega2.tolist() == pytest.approx(expected, abs=1e-12)


def test_centred_pca_is_that_of_the_centred_gram(draw):
    K, _ = labelled(draw)
    found = kernel_pca(K, 3, centered=True)
    expected = kernel_pca(center(K), 3)
    assert found.centered
    torch.testing.assert_close(found.values, expected.values)
    torch.testing.assert_close(found.functions, expected.functions)
    assert float(found.functions.mean(1).abs().max()) < 1e-10
    assert found.trace == pytest.approx(float(center(K).trace()) / 14)


def test_comp_41_rkhs_norm_in_plain_and_ridge_form(draw):
    K, y = labelled(draw)
    pca = kernel_pca(K)
    plain = float(y @ torch.linalg.solve(K, y))  # sum omega^2/lam = y^T K^-1 y with lam = eig/p
    assert float(pca.rkhs_norm(y)) == pytest.approx(plain, rel=1e-8)
    operator = K / K.trace()
    ridge = float(y @ torch.linalg.solve(operator + 0.01 * torch.eye(14), y)) / 14
    assert float(pca.rkhs_norm(y, ridge=0.01, trace_one=True)) == pytest.approx(ridge, rel=1e-8)
    # a kernel along the label has a smaller norm than a generic one of the same trace
    aligned = kernel_pca(torch.outer(y, y) + 0.01 * K)
    learned = aligned.rkhs_norm(y, ridge=0.01, trace_one=True)
    assert float(learned) < 0.8 * ridge


def test_bad_input_is_refused(draw):
    K, y = labelled(draw)
    with pytest.raises(ValueError, match=r"y must have shape \(14,\), got \(3,\)"):
        kernel_pca(K, 2).projections(y[:3])
    with pytest.raises(ValueError, match="give a positive ridge"):
        kernel_pca(torch.zeros(3, 3)).rkhs_norm(torch.ones(3))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        kernel_pca(torch.diag(torch.tensor([1.0, -1.0])))
    with pytest.raises(ValueError, match="one output"):
        kernel_pca(torch.eye(4).reshape(2, 2, 2, 2))
