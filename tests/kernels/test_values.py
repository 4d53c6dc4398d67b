"""Values of a kernel, some rows at a time."""

import numpy as np
import pytest
import torch

from regimes.kernels import _values, kernel_values


def gaussian(x, z):
    return torch.exp(-(torch.cdist(x, z) ** 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_at_a_time_give_the_whole_kernel(monkeypatch, dtype):
    monkeypatch.setitem(_values._ENTRIES, "cpu", 20)
    x = torch.randn(30, 3, generator=torch.Generator().manual_seed(0)).to(dtype)
    calls = []

    def watched(a, b):
        calls.append(len(a))
        return gaussian(a, b)

    made = kernel_values(watched, x, x[:7])
    assert made.dtype == np.float64
    assert calls == [2] * 15
    np.testing.assert_allclose(made, gaussian(x, x[:7]), rtol=1e-5)


def test_one_column_too_many_for_the_budget_is_made_row_by_row(monkeypatch):
    monkeypatch.setitem(_values._ENTRIES, "cpu", 2)
    x = torch.arange(3.0)[:, None]
    np.testing.assert_array_equal(kernel_values(lambda a, b: a @ b.T, x, x), np.outer(x, x))


def test_bad_input_is_told():
    x = torch.ones(4, 2)
    with pytest.raises(ValueError, match="points on both sides, got 4 and 0"):
        kernel_values(gaussian, x, x[:0])
    with pytest.raises(ValueError, match=r"of shape \(4, 4\); it gave \(4,\)"):
        kernel_values(lambda a, b: a[:, 0], x, x)
