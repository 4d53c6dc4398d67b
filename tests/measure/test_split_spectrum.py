import pytest
import torch

from regimes import measure
from regimes.measure._split_spectrum import gauss_hermite


@pytest.mark.parametrize(("d", "d_par", "nodes"), [(3, 1, 20), (5, 1, 12), (4, 2, 7)])
def test_comp_35_spectrum_is_that_of_the_two_parts(draw, d, d_par, nodes):
    """COMP-35: spec(Theta_1) and d_perp copies of spec(Theta_2), 1e-10 of the top."""
    beta, w, b = draw(60, seed=1), draw(60, d_par, seed=2), draw(60, seed=3)
    found = measure.split_spectrum(beta, w, b, d=d, nodes=nodes)
    assert found.copies == d - d_par
    assert len(found.full) == nodes**d_par * 3 ** (d - d_par)
    assert len(found.first) == len(found.second) == nodes**d_par
    assert found.error < 1e-10
    assert float(found.second[0]) > 1e-3 * float(found.full[0])  # the copies are really there
    wrong = torch.cat([found.first, found.second]).sort(descending=True).values
    assert float((found.full[: len(wrong)] - wrong).abs().max()) > 1e-4 * float(found.full[0])


def test_comp_35_eigenfunctions_and_null_space(draw):
    d, h = 3, 50
    beta, w, b = draw(h, seed=1), draw(h, d, seed=2), draw(h, seed=3)
    w[:, 1:] = 0
    x, weights = gauss_hermite([12, 4, 4], w)
    K = measure.shallow_kernel(beta, w, b, x)
    apply = K * weights
    top = float(measure.split_spectrum(beta, w[:, :1], b, d=d, nodes=12).full[0])
    for nothing in (x[:, 1] ** 2 - 1, x[:, 1] * x[:, 2], (x[:, 2] ** 2 - 1) * x[:, 0]):
        assert float((apply @ nothing).abs().max()) < 1e-12 * top
    # (u.x_perp) phi(x_par), with phi of Theta_2, for any direction u
    x_par, mass = gauss_hermite([12], w)
    second = measure.theta2(beta, w[:, :1], b, x_par, d=d)
    lam, vectors = torch.linalg.eigh(mass.sqrt()[:, None] * second * mass.sqrt())
    phi = (vectors[:, -1] / mass.sqrt()).repeat_interleave(16)
    for u in ([1.0, 0.0], [0.6, -0.8]):
        function = phi * (x[:, 1:] @ torch.tensor(u, dtype=torch.float64))
        gap = apply @ function - lam[-1] * function
        assert float(gap.abs().max()) < 1e-10 * float(function.abs().max()) * float(lam[-1])


def test_quadrature_averages_gaussians():
    x, weights = gauss_hermite([5, 3], torch.zeros(1).double())
    assert x.shape == (15, 2)
    assert float(weights.sum()) == pytest.approx(1)
    for power, moment in ((2, 1), (4, 3), (6, 15), (8, 105)):
        assert float(weights @ x[:, 0] ** power) == pytest.approx(moment)
    assert float(weights @ (x[:, 0] ** 2 * x[:, 1] ** 4)) == pytest.approx(3)


def test_bad_input_is_refused(draw):
    beta, w, b = draw(5), draw(5, 1), draw(5)
    with pytest.raises(ValueError, match="the grid has 59049000 points"):
        measure.split_spectrum(beta, w, b, d=11, nodes=1000)
    with pytest.raises(ValueError, match="d must be an integer >= 2, got 1"):
        measure.split_spectrum(beta, w, b, d=1)
    with pytest.raises(ValueError, match="perpendicular_nodes must be an integer >= 2, got 1"):
        measure.split_spectrum(beta, w, b, d=2, perpendicular_nodes=1)
    with pytest.raises(ValueError, match=r"w must have shape \(h, d_par\)"):
        measure.split_spectrum(beta, w[:, 0], b, d=2)
