import pytest
import torch

from regimes.measure import fix_signs, gram_eigs, nystrom_eigs


def matrix_with(lam, draw, seed=0):
    basis, _ = torch.linalg.qr(draw(len(lam), len(lam), seed=seed))
    return (basis * lam) @ basis.T, basis.T


@pytest.mark.parametrize("method", ["dense", "lanczos"])
def test_pairs_of_a_known_matrix(draw, dtype, tolerance, method):
    lam = torch.linspace(10.0, 1.0, 10, dtype=torch.float64)
    K, rows = matrix_with(lam, draw)
    pairs = gram_eigs(K.to(dtype), 4, method=method)
    assert pairs.method == method
    assert pairs.vectors.shape == (4, 10)
    assert pairs.vectors.dtype == pairs.values.dtype == dtype
    torch.testing.assert_close(pairs.values.double(), lam[:4], rtol=10 * tolerance, atol=0)
    expected = fix_signs(rows[:4])
    torch.testing.assert_close(pairs.vectors.double(), expected, rtol=0, atol=100 * tolerance)
    assert bool(pairs.converged.all())


def test_rows_are_orthonormal_and_residuals_are_what_they_say(draw):
    phi = draw(30, 60)
    K = phi @ phi.T
    pairs = gram_eigs(K)
    torch.testing.assert_close(pairs.vectors @ pairs.vectors.T, torch.eye(30).double())
    by_hand = [
        float((K @ u - lam * u).norm()) for lam, u in zip(pairs.values, pairs.vectors, strict=True)
    ]
    assert pairs.residuals.tolist() == pytest.approx(by_hand, abs=1e-10)
    assert bool((pairs.values.diff() <= 0).all())


def test_large_matrices_take_lanczos_and_agree_with_dense(draw):
    phi = draw(1600, 40) * torch.linspace(1.5, 1, 40).double()
    few = gram_eigs(phi @ phi.T, 3)
    assert few.method == "lanczos"
    assert bool(few.converged.all())
    torch.testing.assert_close(few.values, torch.linalg.eigvalsh(phi.T @ phi).flip(0)[:3])
    torch.testing.assert_close(few.vectors @ few.vectors.T, torch.eye(3).double())


def test_a_block_agrees_with_dense_pair_by_pair(draw, dtype):
    lam = torch.arange(1, 401, dtype=torch.float64) ** -1.5
    K, _ = matrix_with(lam, draw)
    some = gram_eigs(K.to(dtype), 40, method="block")
    every = gram_eigs(K.to(dtype), 40, method="dense")
    assert some.method == "block"
    torch.testing.assert_close(some.values, every.values, rtol=1e-5, atol=0)
    overlaps = (some.vectors.double() * every.vectors.double()).sum(1)
    torch.testing.assert_close(overlaps, torch.ones(40).double(), rtol=0, atol=1e-4)
    assert float((some.residuals / some.values[0]).max()) < 1e-5


def test_a_block_filters_flat_spectra_and_says_when_it_has_no_time(draw, monkeypatch):
    K, _ = matrix_with(torch.linspace(1.0, 0.5, 400, dtype=torch.float64), draw)
    every = gram_eigs(K, 40, method="dense")
    torch.testing.assert_close(
        gram_eigs(K, 40, method="block").values, every.values, rtol=1e-6, atol=0
    )
    monkeypatch.setattr("regimes.measure._eigenpairs._ROUNDS", 3)
    with pytest.raises(RuntimeError, match="did not stand still within 3 rounds"):
        gram_eigs(K, 40, method="block")


def test_several_outputs_give_vectors_of_samples_and_outputs(draw):
    features = draw(4, 3, 30)
    K = torch.einsum("iyp,jzp->iyjz", features, features)
    pairs = gram_eigs(K, 5)
    assert pairs.vectors.shape == (5, 4, 3)
    flat = gram_eigs(K.reshape(12, 12), 5)
    torch.testing.assert_close(pairs.vectors.reshape(5, 12), flat.vectors)


def test_signs_follow_the_largest_entry_and_ties_the_first():
    rows = torch.tensor([[0.1, -0.9, 0.2], [-0.5, 0.5, 0.1], [0.3, 0.2, 0.1]])
    expected = torch.tensor([[-0.1, 0.9, -0.2], [0.5, -0.5, -0.1], [0.3, 0.2, 0.1]])
    assert torch.equal(fix_signs(rows), expected)
    nearly = torch.tensor([[-0.5, 0.5 * (1 + 1e-7), 0.1]])
    assert float(fix_signs(nearly)[0, 0]) > 0


def test_nystrom_is_exact_when_the_block_is_everything(draw):
    phi = draw(12, 30)
    K = phi @ phi.T
    whole, extended = gram_eigs(K, 5), nystrom_eigs(K, 5)
    torch.testing.assert_close(extended.values, whole.values)
    torch.testing.assert_close(extended.vectors, whole.vectors)


def test_nystrom_follows_its_formula_and_is_exact_at_low_rank(draw):
    phi = draw(40, 3)
    phi[:20] = phi[20:]  # the block then has the second moments of the whole
    K = phi @ phi.T
    pairs = nystrom_eigs(K[:, :20], 3)
    lam, u = torch.linalg.eigh(K[:20, :20])
    for row, j in zip(range(3), (-1, -2, -3), strict=True):
        by_hand = (20 / 40) ** 0.5 * K[:, :20] @ u[:, j] / lam[j]
        torch.testing.assert_close(pairs.vectors[row], fix_signs(by_hand[None])[0])
    whole = gram_eigs(K, 3)
    torch.testing.assert_close(pairs.values, whole.values)
    torch.testing.assert_close(pairs.vectors, whole.vectors)


def test_bad_requests_are_refused(draw):
    K = torch.eye(3)
    with pytest.raises(ValueError, match="k must be at most the number of rows 3, got 4"):
        gram_eigs(K, 4)
    with pytest.raises(ValueError, match="unknown method 'lancos'; use one of: lanczos"):
        gram_eigs(K, 1, method="lancos")
    with pytest.raises(ValueError, match="fewer than all 3 pairs"):
        gram_eigs(K, 3, method="lanczos")
    with pytest.raises(ValueError, match="first m0 columns"):
        nystrom_eigs(torch.ones(2, 3), 1)
    rank_one = torch.outer(torch.arange(1.0, 5.0), torch.arange(1.0, 5.0))
    with pytest.raises(ValueError, match="only 1 of the 2 eigenvalues"):
        nystrom_eigs(rank_one, 2)
