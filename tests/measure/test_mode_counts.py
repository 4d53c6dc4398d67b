"""Eigenvalues by sign, and the gap over the zeros."""

import math

import pytest
import torch

from regimes.measure import mode_counts


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_signs_of_a_matrix_with_known_eigenvalues(dtype, draw):
    lam = torch.tensor([3.0, 1.0, 0.5, 0.0, 0.0, -2.0, -1.0], dtype=torch.float64)
    q, _ = torch.linalg.qr(draw(7, 7))
    found = mode_counts(torch.linalg.eigvalsh(((q * lam) @ q.T).to(dtype)), cutoff=1e-5)
    assert (found.negative, found.zero, found.positive) == (2, 2, 3)
    assert found.rank == 5
    assert found.negative_share == 2 / 5
    assert found.gap > 1e4


def test_the_rank_of_a_gram(draw):
    rows = draw(4, 10)
    found = mode_counts(torch.linalg.eigvalsh(rows.T @ rows))
    assert (found.rank, found.zero, found.negative) == (4, 6, 0)
    assert found.gap > 1e10


def test_the_gap_is_between_what_is_zero_and_what_is_not():
    lam = torch.tensor([1.0, 1e-3, 1e-12, -1e-11], dtype=torch.float64)
    assert mode_counts(lam).gap == pytest.approx(1e8)
    exact = torch.tensor([1.0, 0.0], dtype=torch.float64)
    assert mode_counts(exact).gap == pytest.approx(1 / torch.finfo(torch.float64).eps)


def test_a_zero_matrix_has_no_share_and_no_gap():
    found = mode_counts(torch.zeros(3))
    assert (found.rank, found.zero, found.gap) == (0, 3, 0.0)
    assert math.isnan(found.negative_share)


def test_one_spectrum_at_a_time():
    with pytest.raises(ValueError, match=r"one spectrum of shape \(r,\)"):
        mode_counts(torch.ones(2, 2))
