import pytest
import torch

from regimes.measure import (
    center,
    center_cross,
    eigenfunctions,
    gram_eigs,
    metric,
    principal_directions,
    shared_spectrum,
)


def features_of(tanh_net, points=None):
    # tangent features (n, c, P)
    f, w, x = tanh_net
    return torch.func.jacrev(lambda flat: f(flat, x if points is None else points))(w)


def test_ali_01_metric_and_kernel_share_the_spectrum(tanh_net):
    phi = features_of(tanh_net)
    assert phi.shape == (12, 2, 114)
    found = shared_spectrum(phi)
    assert len(found.kernel) == 24
    assert found.gap < 1e-9
    relative = (found.metric - found.kernel).abs() / found.kernel
    assert float(relative.max()) < 1e-9


def test_ali_01_eigenfunctions_are_orthonormal_and_extend_the_eigenvectors(tanh_net):
    phi = features_of(tanh_net)
    K = torch.einsum("iyp,jzp->iyjz", phi, phi)
    pairs = gram_eigs(K)
    found = eigenfunctions(pairs.values, pairs.vectors, K)
    assert float((found.functions - pairs.vectors).abs().max()) < 1e-9
    flat = found.functions.reshape(24, 24)
    assert float((flat @ flat.T - torch.eye(24)).abs().max()) < 1e-9


def test_on_new_points_both_formulas_agree(tanh_net, draw):
    """k(x, X) u / lam and <v, Phi(x)> / sqrt(lam) [Baratin 2021, eq. 47]."""
    points = draw(5, 2, seed=9)
    phi, new = features_of(tanh_net), features_of(tanh_net, points)
    K = torch.einsum("iyp,jzp->iyjz", phi, phi)
    cross = torch.einsum("iyp,jzp->iyjz", new, phi)
    pairs = gram_eigs(K, 6)
    found = eigenfunctions(pairs.values, pairs.vectors, cross)
    assert found.functions.shape == (6, 5, 2)
    v = torch.einsum("kiy,iyp->kp", pairs.vectors, phi) / pairs.values.sqrt()[:, None]
    expected = torch.einsum("kp,myp->kmy", v, new) / pairs.values.sqrt()[:, None, None]
    torch.testing.assert_close(found.functions, expected)


def test_population_normalisation_scales_both(draw):
    phi = draw(7, 20)
    K = phi @ phi.T
    pairs = gram_eigs(K, 3)
    found = eigenfunctions(pairs.values, pairs.vectors, K, normalisation="population")
    torch.testing.assert_close(found.values, pairs.values / 7)
    torch.testing.assert_close((found.functions**2).mean(1), torch.ones(3).double())
    expected = torch.linalg.eigvalsh(metric(phi, expectation=True)).flip(0)[:3]
    torch.testing.assert_close(found.values, expected)


def test_a_centred_kernel_extends_with_the_centred_cross_gram(draw):
    train, new = draw(8, 15), draw(3, 15, seed=1)
    pairs = gram_eigs(center(train @ train.T), 4)
    cross = center_cross(new @ train.T, train @ train.T)
    found = eigenfunctions(pairs.values, pairs.vectors, cross).functions
    shifted = train - train.mean(0)
    v = pairs.vectors @ shifted / pairs.values.sqrt()[:, None]
    expected = v @ (new - train.mean(0)).T / pairs.values.sqrt()[:, None]
    torch.testing.assert_close(found, expected)


def test_principal_directions_are_the_right_singular_vectors(draw, dtype, tolerance):
    phi = draw(4, 2, 30)
    found = principal_directions(phi.to(dtype), 5)
    rows = phi.reshape(8, 30)
    lam = torch.linalg.eigvalsh(rows @ rows.T).flip(0)[:5]
    sizes = found.singular_values.double()
    torch.testing.assert_close(sizes, lam.sqrt(), rtol=10 * tolerance, atol=0)
    moved = (rows @ found.directions.double().T).norm(dim=0)
    torch.testing.assert_close(moved, lam.sqrt(), rtol=10 * tolerance, atol=0)


def test_bad_input_is_refused(draw):
    K = draw(3, 3)
    with pytest.raises(ValueError, match="go with K_new"):
        eigenfunctions(torch.ones(2), draw(2, 3), draw(4, 2, 3, 2))
    with pytest.raises(ValueError, match="do not share modes and samples"):
        eigenfunctions(torch.ones(2), draw(2, 3), draw(4, 5))
    with pytest.raises(ValueError, match="ask for at most 1 modes"):
        eigenfunctions(torch.tensor([1.0, 0.0]), draw(2, 3), K)
    with pytest.raises(ValueError, match=r"\(n, P\) or \(n, c, P\)"):
        metric(torch.ones(3))
    with pytest.raises(ValueError, match="no 4 singular vectors"):
        principal_directions(draw(3, 9), 4)
