import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.measure import (
    alignment_from_modes,
    energy_concentration,
    generalisation_term,
    gram_eigs,
    rkhs_lower_bound,
    rkhs_norm2,
    target_alignment,
)

M = 12


def problem(seed, m=M, p=30):
    numbers = torch.Generator().manual_seed(seed)
    phi = torch.randn(m, p, generator=numbers, dtype=torch.float64)
    f = torch.randn(m, generator=numbers, dtype=torch.float64)
    return phi, phi @ phi.T, f


def mercer(K):
    pairs = gram_eigs(K)
    return pairs.values / len(K), pairs.vectors * len(K) ** 0.5


def test_lin_02_alignment_is_the_squared_mean_gradient(dtype, tolerance):
    phi, K, f = problem(0)
    expected = (phi * f[:, None]).mean(0).norm() ** 2
    found = target_alignment(K.to(dtype), f.to(dtype))
    torch.testing.assert_close(found.double(), expected, rtol=10 * tolerance, atol=0)
    rayleigh = target_alignment(K, f, normalise="rayleigh")
    assert float(rayleigh) == pytest.approx(float(f @ K @ f / (f @ f)), rel=1e-12)


def test_lin_03_an_eigenfunction_aligns_with_its_eigenvalue():
    _, K, _ = problem(1)
    lam, functions = mercer(K)
    torch.testing.assert_close(target_alignment(K, functions), lam, rtol=1e-10, atol=0)
    found = alignment_from_modes(functions, lam, functions)
    torch.testing.assert_close(found, lam, rtol=1e-10, atol=0)


@given(st.integers(0, 10**6))
def test_lin_04_the_norm_is_never_below_its_bound(seed):
    _, K, f = problem(seed)
    lam, functions = mercer(K)
    norm2 = float(rkhs_norm2(f, lam, functions))
    bound = float(rkhs_lower_bound(f, target_alignment(K, f)))
    assert bound <= norm2 * (1 + 1e-10)
    expected = float(f @ torch.linalg.solve(K, f))  # all modes: f^T K^-1 f
    assert norm2 == pytest.approx(expected, rel=1e-8)


def test_lin_04_equality_holds_for_eigenfunctions():
    _, K, _ = problem(2)
    lam, functions = mercer(K)
    norms = rkhs_norm2(functions, lam, functions)
    bounds = rkhs_lower_bound(functions, target_alignment(K, functions))
    torch.testing.assert_close(norms, bounds, rtol=1e-6, atol=0)


def test_the_two_conventions_agree_and_modes_can_be_cut():
    _, K, f = problem(3)
    lam, functions = mercer(K)
    pairs = gram_eigs(K)
    for measure in (rkhs_norm2, alignment_from_modes):
        expected = measure(f, lam, functions, modes=5)
        found = measure(f, pairs.values, pairs.vectors, modes=5, convention="unit")
        torch.testing.assert_close(found, expected)
    terms = [float((functions[j] * f).mean() ** 2 / lam[j]) for j in range(5)]
    assert float(rkhs_norm2(f, lam, functions, modes=5)) == pytest.approx(sum(terms), rel=1e-12)
    torch.testing.assert_close(alignment_from_modes(f, lam, functions), target_alignment(K, f))


def test_generalisation_term_is_its_formula():
    norm2 = torch.tensor([3.0, 12.0])
    assert generalisation_term(norm2, torch.tensor(4.0), 3).tolist() == [2.0, 4.0]


def test_energy_concentration_is_the_share_on_the_top_modes(dtype, tolerance):
    _, K, f = problem(4)
    vectors = gram_eigs(K).vectors
    found = energy_concentration(vectors.to(dtype), f.to(dtype), K=4)
    energy = sum(float(vectors[j] @ f) ** 2 for j in range(4)) / float(f @ f)
    assert float(found.squared) == pytest.approx(energy, rel=10 * tolerance)
    assert float(found.value) == pytest.approx(energy**0.5, rel=10 * tolerance)
    assert found.baseline == pytest.approx((4 / M) ** 0.5)
    assert float(energy_concentration(vectors, f, K=M).value) == pytest.approx(1)


def test_random_labels_concentrate_like_the_baseline():
    numbers = torch.Generator().manual_seed(0)
    basis, _ = torch.linalg.qr(torch.randn(200, 200, generator=numbers, dtype=torch.float64))
    labels = (2.0 * torch.randint(2, (500, 200), generator=numbers) - 1).double()
    found = energy_concentration(basis, labels, K=50)
    assert found.value.shape == (500,)
    assert float(found.squared.mean()) == pytest.approx(found.baseline**2, rel=0.02)


def test_bad_input_is_refused():
    _, K, f = problem(0)
    lam, functions = mercer(K)
    with pytest.raises(ValueError, match="ask for at most 11 modes"):
        rkhs_norm2(f, torch.cat([lam[:-1], torch.zeros(1)]), functions)
    with pytest.raises(ValueError, match="modes must be at most the number given, 12, got 13"):
        rkhs_norm2(f, lam, functions, modes=13)
    with pytest.raises(ValueError, match="target is zero everywhere"):
        target_alignment(K, torch.zeros(M))
    with pytest.raises(ValueError, match=r"shape \(12,\) or \(q, 12\), got \(11,\)"):
        target_alignment(K, f[1:])
    with pytest.raises(ValueError, match="unknown convention 'mercers'"):
        rkhs_norm2(f, lam, functions, convention="mercers")
    with pytest.raises(ValueError, match="at least K=50 rows"):
        energy_concentration(functions, f)
    with pytest.raises(ValueError, match="one output"):
        target_alignment(torch.eye(4).reshape(2, 2, 2, 2), torch.ones(4))
    with pytest.raises(ValueError, match=r"lam must have shape \(k,\)"):
        rkhs_norm2(f, lam[1:], functions)
