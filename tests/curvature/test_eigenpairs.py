"""Eigenpairs of matrices whose spectrum is known."""

import pytest
import torch

from regimes.curvature._eigenpairs import Search, eigenpairs
from tests.curvature.zoo import drawn


def matrix(values):
    """A symmetric matrix with these eigenvalues."""
    n = len(values)
    q, _ = torch.linalg.qr(drawn(n, n))
    return q @ torch.diag(values) @ q.T


def found(H, r, dtype=torch.float64, **options):
    H = H.to(dtype)
    return eigenpairs(lambda v: v @ H, H[0], r, Search(**options))


SPECTRA = {
    "decaying": torch.logspace(0, -4, 300, dtype=torch.float64),
    "indefinite": torch.cat([-torch.logspace(0.5, -3, 150), torch.logspace(0, -3, 250)]).double(),
    "low rank": torch.cat([torch.tensor([3.0, 2.0, 1.0]), torch.zeros(297)]).double(),
    "repeated": torch.cat([torch.full((5,), 2.0), torch.linspace(-1, 1, 300)]).double(),
    "zero": torch.zeros(300, dtype=torch.float64),
    "one number": torch.full((300,), -2.0, dtype=torch.float64),
    "small": torch.linspace(-2, 1, 20, dtype=torch.float64),
}
ORDER = {
    "algebraic": lambda v: v.sort(descending=True).values,
    "smallest": lambda v: v.sort().values,
    "magnitude": lambda v: v[v.abs().argsort(descending=True)],
}


@pytest.mark.parametrize("end", ORDER)
@pytest.mark.parametrize("name", SPECTRA)
def test_known_spectra(name, end, dtype):
    true, r = SPECTRA[name], 6
    pairs = found(matrix(true), r, dtype, end=end)
    assert bool(pairs.converged.all()) == ((name, end) != ("decaying", "smallest"))  # no gaps there
    tolerance = 1e-5 if dtype == torch.float64 else 1e-3
    near = tolerance * float(true.abs().max()) + 1e-9
    # of one magnitude either sign may come first
    signed = torch.abs if end == "magnitude" else torch.clone
    expected = ORDER[end](true)[:r]
    sure = pairs.converged
    torch.testing.assert_close(
        signed(pairs.values[sure]), signed(expected[sure]), rtol=0, atol=near
    )
    gram = pairs.vectors.T @ pairs.vectors
    torch.testing.assert_close(gram, torch.eye(r, dtype=dtype), rtol=0, atol=tolerance)


def test_a_second_look_finds_values_that_repeat():
    H = matrix(SPECTRA["repeated"])
    quick, thorough = found(H, 5, repeats=False), found(H, 5)
    torch.testing.assert_close(thorough.values, torch.full((5,), 2.0).double())
    assert quick.products < thorough.products


def test_residuals_are_of_the_vectors_that_are_returned():
    H = matrix(SPECTRA["decaying"])
    pairs = found(H, 4, tolerance=1e-3)
    images = H @ pairs.vectors - pairs.vectors * pairs.values
    torch.testing.assert_close(pairs.residuals, images.norm(dim=0) / pairs.values[0])


def test_a_search_that_ends_too_early_says_so():
    H = matrix(torch.linspace(0, 1, 400, dtype=torch.float64))  # no gap at the end
    pairs = found(H, 5, most=40)
    assert pairs.products <= 45
    assert not bool(pairs.converged.any())
    assert bool((pairs.residuals > 1e-4).any())
    assert "0 of 5 converged" in repr(pairs)
    assert "<td" in pairs._repr_html_()


def test_a_restarted_search_ends_where_one_run_would():
    H = matrix(torch.linspace(0, 1, 400, dtype=torch.float64).pow(3))
    pairs = found(H, 2, tolerance=1e-9)
    assert 64 < pairs.products < 1000  # several restarts
    assert bool(pairs.converged.all())
    assert abs(float(pairs.values[0]) - 1) < 1e-9


def test_the_same_seed_gives_the_same_numbers():
    H = matrix(SPECTRA["indefinite"])
    assert torch.equal(found(H, 2, seed=3).vectors, found(H, 2, seed=3).vectors)
    assert not torch.equal(found(H, 2, seed=3).vectors, found(H, 2, seed=4).vectors)
