"""Kernel ridge regression against the normal equations of a linear model."""

import pytest
import torch

from regimes import nets
from regimes.kernels import kernel_ridge
from regimes.tangent import TangentKernel


def linear(x, z):
    return x @ z.T


def task(dtype=torch.float64):
    draws = torch.Generator().manual_seed(1)
    x = torch.randn(30, 5, generator=draws, dtype=torch.float64)
    y = torch.randn(30, 2, generator=draws, dtype=torch.float64)
    return (
        x.to(dtype),
        y.to(dtype),
        torch.randn(7, 5, generator=draws, dtype=torch.float64).to(dtype),
    )


@pytest.mark.parametrize("method", ["dense", "cg"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_linear_kernel_gives_the_ridge_solution(method, dtype):
    x, y, new = task(dtype)
    fit = kernel_ridge(linear, x, y, 0.7, new, method=method, tolerance=1e-5)
    X, Y = x.double(), y.double()
    w = torch.linalg.solve(X.T @ X + 0.7 * torch.eye(5).double(), X.T @ Y)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-5
    assert torch.allclose(fit.outputs_test.double(), new.double() @ w, atol=tolerance)
    assert torch.allclose(fit.outputs_train.double(), X @ w, atol=tolerance)
    assert bool(fit.converged.all())
    assert fit.dual.dtype == dtype


def test_leave_one_out_is_a_fit_without_the_point():
    x, y, _ = task()
    fit = kernel_ridge(linear, x, y[:, 0], 0.3)
    for i in (0, 13, 29):
        rest = [j for j in range(30) if j != i]
        other = kernel_ridge(linear, x[rest], y[rest, 0], 0.3, x[[i]])
        assert torch.allclose(fit.leave_one_out[i], other.outputs_test[0], atol=1e-10)


def test_a_tangent_kernel_with_products_and_without():
    x, y, new = task()
    kernel = TangentKernel(nets.FullyConnected(5, 20, seed=0, dtype=torch.float64))
    dense = kernel_ridge(kernel, x, y, 0.1, new)
    products = kernel_ridge(kernel, x, y, 0.1, new, memory="10KiB", tolerance=1e-10)
    assert "closed form" in repr(dense)
    assert "on products" in repr(products)
    assert torch.allclose(dense.outputs_test, products.outputs_test, atol=1e-7)
    features, other = kernel.features(x)[:, 0], kernel.features(new)[:, 0]
    gram = features @ features.T + 0.1 * torch.eye(30).double()
    assert torch.allclose(
        dense.outputs_test, other @ features.T @ torch.linalg.solve(gram, y), atol=1e-8
    )


def test_bad_input_is_told():
    x, y, new = task()
    with pytest.raises(ValueError, match="not positive to rounding; raise the ridge"):
        kernel_ridge(linear, x, y, 0.0, new)
    with pytest.raises(ValueError, match="of class labels make"):
        kernel_ridge(linear, x, y[:, 0].long(), 1.0)
    with pytest.raises(ValueError, match=r"y must hold targets \(30,\)"):
        kernel_ridge(linear, x, y[:3], 1.0)
    with pytest.raises(ValueError, match=r"y must be a tensor .* by torch.as_tensor"):
        kernel_ridge(linear, x, y.numpy(), 1.0)
    with pytest.raises(ValueError, match="x is empty"):
        kernel_ridge(linear, x[:0], y[:0], 1.0)
    with pytest.raises(ValueError, match="outputs='trace'"):
        kernel_ridge(lambda a, b: (a @ b.T)[:, None, :, None], x, y, 1.0)
