"""Conjugate gradients against a dense solve, from whatever multiplies."""

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import aslinearoperator

from regimes.kernels import conjugate_gradients


def system(dtype=torch.float64, n=40, k=3):
    draws = torch.Generator().manual_seed(0)
    a = torch.randn(n, n, generator=draws, dtype=torch.float64)
    return (a @ a.T / n).to(dtype), torch.randn(n, k, generator=draws, dtype=torch.float64).to(
        dtype
    )


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-11)])
def test_columns_solve_their_systems(dtype, tolerance):
    K, y = system(dtype)
    found = conjugate_gradients(K, y, 0.1, tolerance=tolerance)
    exact = torch.linalg.solve(K.double() + 0.1 * torch.eye(40).double(), y.double())
    assert bool(found.converged.all())
    assert float((found.values.double() - exact).abs().max()) < 100 * tolerance * exact.abs().max()
    left = y.double() - K.double() @ found.values.double() - 0.1 * found.values.double()
    np.testing.assert_allclose(
        found.residuals, left.norm(dim=0) / y.double().norm(dim=0), rtol=0.1, atol=1e-13
    )


def test_a_gram_an_operator_and_a_function_are_the_same():
    K, y = system()
    each = [K, aslinearoperator(K.numpy()), lambda v: K @ v]
    found = [conjugate_gradients(op, y, 0.5, tolerance=1e-12).values for op in each]
    assert all(torch.allclose(found[0], other, atol=1e-12) for other in found[1:])
    single = conjugate_gradients(K, y[:, 0], 0.5, tolerance=1e-12).values
    assert torch.allclose(single, found[0][:, 0], atol=1e-10)


def test_a_column_that_has_converged_takes_part_in_no_more_products():
    K = torch.diag(torch.tensor([1.0, 1.0, 1.0, 2.0, 3.0, 4.0], dtype=torch.float64))
    y = torch.tensor([[1.0, 1.0, 1.0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]).double().T
    widths = []

    def product(v):
        widths.append(v.shape[1])
        return K @ v

    found = conjugate_gradients(product, y, tolerance=1e-10)
    assert widths == [2, 1, 1, 1, 3]  # the last checks all
    assert found.steps == 4
    assert bool(found.converged.all())
    assert not bool(found.values[:, 2].any())


def test_what_did_not_converge_says_so():
    K, y = system()
    found = conjugate_gradients(K, y, 1e-8, tolerance=1e-12, max_steps=2)
    assert not bool(found.converged.any())
    assert "0 of 3 columns" in repr(found)
    negative = conjugate_gradients(-K, y, tolerance=1e-6)
    assert not bool(negative.converged.any())


def test_bad_input_is_told():
    K, y = system()
    with pytest.raises(ValueError, match="ridge must not be negative"):
        conjugate_gradients(K, y, -1.0)
    with pytest.raises(ValueError, match=r"K must have shape \(40, 40\)"):
        conjugate_gradients(K[:3], y)
    with pytest.raises(ValueError, match="finite real numbers"):
        conjugate_gradients(K, y.long())
    with pytest.raises(ValueError, match="a Gram, a LinearOperator or a function"):
        conjugate_gradients("K", y)
    with pytest.raises(ValueError, match="not finite"):
        conjugate_gradients(lambda v: v * torch.nan, y)
