import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.measure import effective_rank, spectrum, spectrum_summary, trace_ratio

spectra = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12).map(
    lambda values: torch.tensor(values, dtype=torch.float64)
)


def test_spectrum_of_a_known_matrix(draw, dtype, tolerance):
    lam = torch.tensor([5.0, 2.0, 0.5, 0.0, 0.0, 0.0], dtype=torch.float64)
    basis, _ = torch.linalg.qr(draw(6, 6))
    K = (basis * lam) @ basis.T
    found = spectrum(K.to(dtype))
    assert found.dtype == dtype
    assert bool((found >= 0).all())
    torch.testing.assert_close(found.double(), lam, rtol=tolerance, atol=5 * tolerance)


def test_kernels_of_several_outputs_are_flattened(draw):
    features = draw(4, 3, 20)
    K = torch.einsum("iyp,jzp->iyjz", features, features)
    torch.testing.assert_close(spectrum(K), spectrum(K.reshape(12, 12)))


def test_a_matrix_that_is_no_gram_is_refused(draw):
    with pytest.raises(ValueError, match="not positive semi-definite: it has an eigenvalue -1"):
        spectrum(torch.diag(torch.tensor([2.0, -1.0])))
    with pytest.raises(ValueError, match="must be symmetric"):
        spectrum(draw(4, 4))


def test_summary_is_max_mean_and_median(draw):
    for size in (4, 5):
        lam = draw(size) ** 2
        found = spectrum_summary(lam)
        assert found.max == float(lam.max())
        assert found.mean == pytest.approx(float(lam.mean()))
        ordered = sorted(lam.tolist())
        assert found.median == (ordered[(size - 1) // 2] + ordered[size // 2]) / 2


@given(spectra)
def test_effective_rank_is_the_exponential_entropy(lam):
    shares = [x / float(lam.sum()) for x in lam.tolist()]
    expected = math.exp(-sum(p * math.log(p) for p in shares))
    found = float(effective_rank(lam))
    assert found == pytest.approx(expected, rel=1e-12)
    assert 1 - 1e-12 <= found <= len(lam) * (1 + 1e-12)


def test_effective_rank_at_its_two_ends():
    assert float(effective_rank(torch.ones(7))) == pytest.approx(7)
    assert float(effective_rank(torch.tensor([3.0, 0.0, 0.0]))) == 1.0


@given(spectra, st.integers(1, 12))
def test_trace_ratio_is_the_share_of_the_top(lam, k):
    k = min(k, len(lam))
    expected = sum(sorted(lam.tolist())[-k:]) / float(lam.sum())
    assert float(trace_ratio(lam, k)) == pytest.approx(expected, rel=1e-12)


def test_stacks_of_spectra_are_measured_one_by_one(draw):
    lam = draw(2, 3, 8) ** 2
    assert effective_rank(lam).shape == (2, 3)
    assert float(effective_rank(lam)[1, 2]) == pytest.approx(float(effective_rank(lam[1, 2])))
    assert float(trace_ratio(lam, 3)[0, 1]) == pytest.approx(float(trace_ratio(lam[0, 1], 3)))


def test_bad_spectra_are_refused():
    with pytest.raises(ValueError, match="k must be at most the number of eigenvalues 2, got 3"):
        trace_ratio(torch.ones(2), 3)
    with pytest.raises(ValueError, match="non-negative"):
        effective_rank(torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="every eigenvalue is zero"):
        effective_rank(torch.zeros(3))
    with pytest.raises(ValueError, match="one spectrum"):
        spectrum_summary(torch.ones(2, 2))
