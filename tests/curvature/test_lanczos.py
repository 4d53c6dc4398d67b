"""The quadrature against moments of known matrices."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.curvature._lanczos import quadrature
from tests.curvature.test_eigenpairs import SPECTRA, matrix
from tests.curvature.zoo import drawn


@given(st.integers(1, 9), st.integers(2, 30), st.integers(0, 5))
def test_moments_below_twice_the_steps_are_exact(steps, size, seed):
    H = matrix(drawn(size, seed=seed).sort().values)
    v = drawn(2, size, seed=seed + 1)
    nodes, weights, _ = quadrature(lambda u: u @ H, v, steps)
    image = v
    for power in range(2 * steps):
        true = (v * image).sum(1) / v.square().sum(1)
        scale = (weights * nodes.abs() ** power).sum(1).clamp_min(1e-300)
        assert bool((((weights * nodes**power).sum(1) - true).abs() <= 1e-8 * scale).all())
        image = image @ H


def test_more_steps_than_eigenvalues_change_nothing(dtype, tolerance):
    H = matrix(torch.tensor([-1.0, 0.0, 2.0, 2.0]).double()).to(dtype)
    v = drawn(3, 4).to(dtype)
    nodes, weights, _ = quadrature(lambda u: u @ H, v, 12)
    torch.testing.assert_close(weights.sum(1), torch.ones(3).double())
    for g in (torch.abs, torch.cosh):
        values, vectors = torch.linalg.eigh(H.double())
        along = (v.double() @ vectors).square() / v.double().square().sum(1, keepdim=True)
        expected = (along * g(values)).sum(1)
        torch.testing.assert_close(
            (weights * g(nodes)).sum(1), expected, rtol=0, atol=30 * tolerance
        )


def test_lost_orthogonality_does_not_spoil_it():
    true = SPECTRA["decaying"]
    H, v = matrix(true), drawn(2, 300)
    nodes, weights, residuals = quadrature(lambda u: u @ H, v, 120)
    assert bool(((nodes[0].diff()[-20:] / nodes[0, -1]) < 1e-8).any())  # the top one came twice
    values, vectors = torch.linalg.eigh(H)
    along = (v @ vectors).square() / v.square().sum(1, keepdim=True)
    for g in (torch.square, torch.sin):
        torch.testing.assert_close((weights * g(nodes)).sum(1), (along * g(values)).sum(1))
    assert float(residuals[0, -1]) < 1e-8
    assert bool((residuals >= 0).all())


def test_of_nothing_comes_nothing():
    nodes, weights, _ = quadrature(torch.zeros_like, drawn(2, 5), 3)
    assert not nodes.any()
    torch.testing.assert_close(weights.sum(1), torch.ones(2).double())
