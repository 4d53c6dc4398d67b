"""What is read off a spectral density, with errors that cover."""

import pytest
import torch

from regimes.curvature import Curvature, SpectralDensity
from regimes.curvature._density import spectral_density
from tests.curvature.test_eigenpairs import SPECTRA, matrix
from tests.curvature.zoo import CASES, hessians

H = matrix(torch.cat([SPECTRA["indefinite"] / 10, torch.tensor([2.0, 3.0, 5.0]).double()]))
EIGENVALUES = torch.linalg.eigvalsh(H)


def density(seed=0, vectors=8, dtype=torch.float64, outliers=4):
    matrix_ = H.to(dtype)
    return spectral_density(
        lambda v: v @ matrix_, matrix_[0], steps=30, vectors=vectors, outliers=outliers,
        at_once=5000, seed=seed,
    )  # fmt: skip


# what is read, its true value, and an error below which it says something
READINGS = {
    "mean": (lambda d: d.mean(lambda v: v), EIGENVALUES.mean(), 0.002),
    "square": (lambda d: d.mean(torch.square), EIGENVALUES.square().mean(), 0.001),
    "above the bulk": (lambda d: d.count(above=1.0), torch.tensor(3.0), 1e-6),
    "in the bulk": (lambda d: d.fraction(above=0.02), (EIGENVALUES > 0.02).double().mean(), 0.1),
    "below": (lambda d: d.count(above=-0.1), (EIGENVALUES > -0.1).sum(), 8),
}


@pytest.fixture(scope="module")
def densities():
    every = density(vectors=20 * 40)
    parts = (t.split(20) for t in (every.nodes, every.weights, every.residuals))
    return [SpectralDensity(*each, every.known, len(H)) for each in zip(*parts, strict=True)]


@pytest.mark.parametrize("name", READINGS)
def test_errors_cover(densities, name):
    read, true, useful = READINGS[name]
    found = [read(each) for each in densities]
    apart = torch.tensor([(e.value - float(true)) / (e.error + 1e-12) for e in found])
    # doubt of resolution only adds to the errors
    assert float((apart.abs() < 2).double().mean()) >= 0.85
    assert float((apart.abs() < 1).double().mean()) >= 0.5
    errors = torch.tensor([e.error for e in found])
    assert float(errors.median()) < useful


def test_the_curve_is_the_smoothed_spectrum(dtype):
    width = 0.2
    at, values, errors = density(vectors=20, dtype=dtype).density(width=width)
    apart = (at[:, None] - EIGENVALUES) / width
    true = torch.exp(-apart.square() / 2).mean(1) / (width * (2 * torch.pi) ** 0.5)
    assert float(((values - true).abs() <= 3 * errors + 1e-4).double().mean()) > 0.97
    assert abs(float(torch.trapezoid(values, at)) - 1) < 1e-3
    assert float(errors.max()) > 0


def test_places_and_width_are_the_readers():
    at, values, errors = density().density(torch.tensor([0.0, 5.0]), width=0.5)
    assert at.tolist() == [0.0, 5.0]
    assert values.shape == errors.shape == (2,)


def test_edges_come_from_inside():
    low, high = density().edges
    assert abs(high - 5) < 1e-9
    assert EIGENVALUES[0] - 1e-9 <= low < -0.3


@pytest.mark.parametrize("part", ["total", "gauss_newton", "network"])
def test_of_a_network(part):
    net, x, y, loss = CASES["convolutions"].arguments()
    found = Curvature(net, x, y, loss).spectral_density(part, vectors=20, steps=20, seed=1)
    true = torch.linalg.eigvalsh(hessians("convolutions")[part])
    mean = found.mean(lambda v: v)
    assert abs(mean.value - float(true.mean())) <= 3 * mean.error + 1e-12
    assert found.size == len(true)
    assert true[0] - 1e-9 <= found.edges[0] <= found.edges[1] <= true[-1] + 1e-9


def test_a_spectrum_of_one_point_has_a_curve():
    one = torch.ones(2, 3, dtype=torch.float64)
    for value in (0.0, 2.0):
        flat = SpectralDensity(value * one, one / 3, 0 * one, one[:0, 0], 7)
        at, values, _ = flat.density()
        assert bool(torch.isfinite(values).all())
        assert abs(float(torch.trapezoid(values, at)) - 1) < 1e-2


REFUSED = [
    (lambda d: d.fraction(above=float("nan")), "above must be a finite number"),
    (lambda d: d.density(width=0.0), "width must be a finite number in"),
    (lambda d: d.density([0.0, 1.0]), "points must be a tensor of places"),
    (lambda d: d.density(torch.tensor([float("nan")])), "points must be finite"),
    (lambda d: d.mean(lambda v: v.sum()), "one of the same shape"),
    (lambda d: d.mean("square"), "a function of eigenvalues, got 'square'"),
    (lambda d: d.mean(lambda v: (v - 1e9).log()), "not finite at all eigenvalues, which go from"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, words = REFUSED[number]
    with pytest.raises(ValueError, match=words):
        call(density())


def test_it_shows_itself():
    assert "403 eigenvalues in [-0.3162, 5]: 4 known" in repr(density())
    assert "8 random vectors with 30 steps" in repr(density())
    assert "lowest, highest" in density()._repr_html_()


def test_known_outliers_leave_less_to_chance():
    def errors(outliers):
        return density(outliers=outliers).mean(torch.square).error

    assert errors(4) < errors(0) / 20
