"""Matrix-free products, traces, alignment."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes._random import generator
from regimes.tangent import TangentKernel
from tests.tangent import zoo

NAMES = ["mlp one output", "lenet", "attention", "tied embedding and layer", "nothing known"]


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=generator(seed, "test"), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("name", NAMES)
def test_matvec_equals_gram_times_vector(name, dtype, tolerance):
    network, x = zoo.build(name, dtype)
    kernel = TangentKernel(network)
    gram = kernel(x)
    n = len(gram)
    c = 1 if gram.dim() == 2 else gram.shape[1]
    flat = gram.reshape(n * c, n * c)
    shape = (n,) if c == 1 else (n, c)
    for columns in ((), (1,), (3,)):
        v = normal(*shape, *columns, dtype=dtype)
        expected = (flat @ v.reshape(n * c, -1)).reshape(v.shape)
        assert torch.allclose(kernel.matvec(x, v), expected, rtol=20 * tolerance,
                              atol=20 * tolerance * expected.abs().max())  # fmt: skip
    some = zoo.take(x, slice(1, 3))
    v = normal(2, *shape[1:], dtype=dtype)
    expected = (gram[:, 1:3] @ v) if c == 1 else torch.einsum("iajb,jb->ia", gram[:, :, 1:3], v)
    assert torch.allclose(kernel.matvec(x, v, some), expected, rtol=1e-3 if dtype == torch.float32
                          else 1e-9)  # fmt: skip


def test_matvec_refuses_wrong_shapes():
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network)
    with pytest.raises(ValueError, match=r"expected a vector of shape \(5, 2\) or \(5, 2, k\)"):
        kernel.matvec(x, torch.ones(5, 3, dtype=torch.float64))


@pytest.mark.parametrize("name", NAMES)
def test_operator_is_the_gram(name):
    network, x = zoo.build(name)
    kernel = TangentKernel(network)
    operator = kernel.operator(x)
    size = operator.shape[0]
    dense = torch.as_tensor(operator @ torch.eye(size, dtype=torch.float64).numpy())
    assert torch.allclose(dense, kernel(x).reshape(size, size), atol=1e-10)


def test_stochastic_trace_within_its_error():
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network)
    estimate = kernel.stochastic_trace(x, samples=400, seed=3)
    assert abs(estimate.value - kernel.trace(x)) < 4 * estimate.error
    assert estimate.error < 0.2 * estimate.value
    again = kernel.stochastic_trace(x, samples=400, seed=3)
    assert again == estimate


@pytest.mark.parametrize("name", ["mlp one output", "lenet"])
def test_target_alignment_needs_no_gram(name, dtype):
    """LIN-02: alpha(f) = f^T K f / m^2, for one target and for many."""
    network, x = zoo.build(name, dtype)
    kernel = TangentKernel(network)
    gram = kernel(x)
    n = len(gram)
    c = 1 if gram.dim() == 2 else gram.shape[1]
    flat = gram.reshape(n * c, n * c).double()
    y = normal(*((n,) if c == 1 else (n, c)), 3, dtype=dtype)
    columns = y.reshape(n * c, 3).double()
    quadratic = (columns * (flat @ columns)).sum(0)
    rel = 1e-5 if dtype == torch.float32 else 1e-10
    found = kernel.target_alignment(x, y)
    assert torch.allclose(found.double(), quadratic / n**2, rtol=rel)
    rayleigh = kernel.target_alignment(x, y, normalise="rayleigh")
    assert torch.allclose(rayleigh.double(), quadratic / columns.square().sum(0), rtol=rel)
    one = kernel.target_alignment(x, y[..., 0])
    assert one.dim() == 0
    assert torch.allclose(one, found[0], rtol=rel)
    with pytest.raises(ValueError, match="normalise"):
        kernel.target_alignment(x, y, normalise="sum")


def test_mercer_eigenvector_returns_its_eigenvalue():
    """LIN-03: alpha(phi_j) = lambda_j with phi_j of unit mean square and lambda the Gram's / n."""
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    pairs = kernel.top_eigenpairs(x, 3)
    n = len(x)
    found = kernel.target_alignment(x, n**0.5 * pairs.vectors)
    assert torch.allclose(found, pairs.values / n, rtol=1e-8)


def test_lemma_one_bound():
    """LIN-04: ||f||^2_Theta >= ||f||^4 / alpha(f), with equality for an eigenfunction."""
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    gram = kernel(x)
    n = len(x)
    y = normal(n).sign()
    # E-norms: ||f||_2^2 = mean f^2 and ||f||_Theta^2 = f^T (K/n)^-1 f / n
    norm = float(y @ torch.linalg.solve(gram / n, y) / n)
    bound = float(y.square().mean()) ** 2 / float(kernel.target_alignment(x, y))
    assert norm >= bound
    phi = n**0.5 * kernel.top_eigenpairs(x, 1).vectors[:, 0]
    norm = float(phi @ torch.linalg.solve(gram / n, phi) / n)
    bound = float(phi.square().mean()) ** 2 / float(kernel.target_alignment(x, phi))
    assert norm / bound == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 1000))
def test_matvec_is_linear_and_symmetric(seed):
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    u, v = normal(5, seed=seed), normal(5, seed=seed + 1)
    assert float(u @ kernel.matvec(x, v)) == pytest.approx(float(v @ kernel.matvec(x, u)), rel=1e-9)
    both = kernel.matvec(x, 2 * u - 3 * v)
    assert torch.allclose(both, 2 * kernel.matvec(x, u) - 3 * kernel.matvec(x, v), atol=1e-9)
