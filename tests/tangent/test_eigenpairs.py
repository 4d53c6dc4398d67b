"""Eigenpairs by both methods, the condition, and the extension from some samples to all."""

import pytest
import torch

from regimes._random import generator
from regimes.tangent import TangentKernel, nystrom_eigenpairs
from tests.tangent import zoo


@pytest.mark.parametrize("method", ["dense", "lanczos", "auto"])
@pytest.mark.parametrize("name", ["mlp one output", "lenet"])
def test_top_eigenpairs(name, method):
    network, x = zoo.build(name)
    kernel = TangentKernel(network)
    size = kernel.operator(x).shape[0]
    gram = kernel(x).reshape(size, size)
    found = kernel.top_eigenpairs(x, 3, method=method)
    true = torch.linalg.eigvalsh(gram).flip(0)[:3]
    assert torch.allclose(found.values, true, rtol=1e-8)
    assert found.converged.all()
    assert (found.residuals < 1e-6).all()
    vectors = found.vectors.reshape(size, 3)
    assert torch.allclose(vectors.T @ vectors, torch.eye(3, dtype=torch.float64), atol=1e-8)
    assert torch.allclose(gram @ vectors, vectors * found.values, atol=1e-6 * float(true[0]))


def test_eigenpairs_refuse_nonsense():
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    with pytest.raises(ValueError, match="asked of a kernel of 5 rows"):
        kernel.top_eigenpairs(x, 6)
    with pytest.raises(ValueError, match="method"):
        kernel.top_eigenpairs(x, 2, method="power")


def test_condition():
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    values = torch.linalg.eigvalsh(kernel(x))
    found = kernel.condition(x)
    assert found.value == pytest.approx(float(values[-1] / values[0]), rel=1e-8)
    assert found.converged


def test_nystrom_is_exact_with_all_samples_and_close_with_most():
    network, _ = zoo.build("mlp one output")
    x = torch.randn(60, 6, generator=generator(5, "test"), dtype=torch.float64)
    kernel = TangentKernel(network)
    exact = kernel.top_eigenpairs(x, 3)
    whole = nystrom_eigenpairs(kernel, x, 60, 3)
    assert torch.allclose(whole.values, exact.values, rtol=1e-8)
    assert (whole.residuals < 1e-8).all()
    most = nystrom_eigenpairs(kernel, x, 40, 3)
    assert float(most.values[0] / exact.values[0]) == pytest.approx(1, abs=0.15)
    overlap = (most.vectors[:, 0] @ exact.vectors[:, 0]).abs() / most.vectors[:, 0].norm()
    assert overlap > 0.98
    with pytest.raises(ValueError, match="k <= m0 <= n"):
        nystrom_eigenpairs(kernel, x, 2, 3)
