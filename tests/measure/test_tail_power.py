"""Tails of projections against the sum of all of them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regimes.kernels import Laplace
from regimes.measure import kernel_pca, tail_power


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 25))
def test_few_modes_give_the_tail_of_all(seed, r):
    draws = torch.Generator().manual_seed(seed)
    x = torch.randn(25, 3, generator=draws, dtype=torch.float64)
    y = torch.randn(25, generator=draws, dtype=torch.float64)
    K = Laplace(1.0)(x)
    whole = kernel_pca(K).projections(y)
    expected = whole.flip(0).cumsum(0).flip(0)
    found = tail_power(kernel_pca(K, r).projections(y), y)
    assert torch.allclose(found, expected[:r], atol=1e-12)
    assert float(found[0]) == pytest.approx(float(y.square().mean()))


def test_bad_input_is_told():
    y = torch.ones(4)
    with pytest.raises(ValueError, match=r"the projections sum to 3, more than \|y\|\^2/p = 1"):
        tail_power(torch.tensor([2.0, 1.0]), y)
    with pytest.raises(ValueError, match=r"projections must be squares \(r,\)"):
        tail_power(torch.tensor([-0.5]), y)
    with pytest.raises(ValueError, match=r"projections must be squares \(r,\)"):
        tail_power(torch.ones(2, 2), y)
