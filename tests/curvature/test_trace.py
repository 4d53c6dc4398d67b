"""Traces: exact where they must be, and with errors that cover."""

import pytest
import torch

from regimes.curvature._trace import hutch_plus_plus, hutchinson
from tests.curvature.test_eigenpairs import SPECTRA, matrix
from tests.curvature.zoo import drawn

SAMPLES = 30


def estimates(way, H, count, dtype=torch.float64):
    H = H.to(dtype)
    found = [way(lambda v: v @ H, H[0], SAMPLES, seed) for seed in range(count)]
    return torch.tensor([[e.value, e.error] for e in found], dtype=torch.float64)


@pytest.mark.parametrize("way", [hutchinson, hutch_plus_plus])
@pytest.mark.parametrize("spectrum", ["decaying", "indefinite"])
def test_errors_cover(way, spectrum, dtype):
    H = matrix(SPECTRA[spectrum])
    values, errors = estimates(way, H, 100, dtype).T
    apart = (values - H.trace()) / errors
    # of Student's t of 9 degrees of freedom 92 % lie within 2 and 65 % within 1
    assert 0.85 <= float((apart.abs() < 2).double().mean()) <= 0.99
    assert 0.5 <= float((apart.abs() < 1).double().mean()) <= 0.8
    assert abs(float(apart.mean())) < 0.35


def test_what_stands_out_is_found_exactly():
    H = matrix(SPECTRA["low rank"])
    (value, error), (_, plain) = estimates(hutch_plus_plus, H, 1)[0], estimates(hutchinson, H, 1)[0]
    assert abs(float(value) - 6) < 1e-9
    assert float(error) < 1e-9 < float(plain)


def test_random_signs_know_the_diagonal():
    D = torch.diag(drawn(50))
    value, error = estimates(hutchinson, D, 1)[0]
    assert abs(float(value - D.trace())) < 1e-12
    assert float(error) < 1e-12


@pytest.mark.parametrize("size", [1, 3, 12])
def test_more_samples_than_rows(size):
    H = matrix(drawn(size))
    value, error = estimates(hutch_plus_plus, H, 1)[0]
    assert abs(float(value - H.trace())) <= 3 * float(error) + 1e-12
