"""Neural anisotropy directions and the mixed derivative."""

import pytest
import torch

from regimes import nets
from regimes._random import generator
from regimes.tangent import MixedDerivative, TangentKernel, anisotropy_directions
from tests.tangent import zoo


def smooth(d=10, seed=0):
    return nets.FullyConnected(
        d, 16, depth=2, activation="gelu", bias=True, seed=seed, dtype=torch.float64
    )


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed, "test"), dtype=torch.float64)


def explicit(network, x):
    """(P, d) by differentiating the mean input gradient entry by entry."""
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(network(x)[:, 0].mean(), x, create_graph=True)
    mean = gradient.sum(0)
    columns = []
    for entry in mean.flatten():
        found = torch.autograd.grad(
            entry, list(network.parameters()), retain_graph=True, allow_unused=True
        )
        flat = [
            (torch.zeros_like(p) if g is None else g).flatten()
            for p, g in zip(network.parameters(), found, strict=True)
        ]
        columns.append(torch.cat(flat))
    return torch.stack(columns, 1)


def test_operator_equals_explicit_derivative():
    network, x = smooth(5), normal(4, 5)
    true = explicit(network, x)
    mixed = MixedDerivative(network, x)
    assert mixed.shape == true.shape
    assert torch.allclose(mixed.dense(), true, atol=1e-12)
    u = normal(5, seed=1)
    image = torch.cat([p.flatten() for p in mixed.to_parameters(u).values()])
    assert torch.allclose(image, true @ u, atol=1e-12)
    w = {name: normal(*p.shape, seed=2) for name, p in mixed.parameters.items()}
    flat = torch.cat([part.flatten() for part in w.values()])
    assert torch.allclose(mixed.to_input(w), true.T @ flat, atol=1e-12)


@pytest.mark.parametrize("memory", [None, "60KiB"])
def test_directions_are_right_singular_vectors(memory):
    network, x = smooth(6), normal(3, 6)
    true = torch.linalg.svd(explicit(network, x), full_matrices=False)
    found = anisotropy_directions(network, x, memory=memory)
    assert torch.allclose(found.singular_values, true.S, rtol=1e-6)
    assert torch.allclose(found.alignments, true.S.square(), rtol=1e-6)
    overlap = (found.directions * true.Vh).sum(1).abs()
    assert torch.allclose(overlap, torch.ones(6, dtype=torch.float64), atol=1e-6)


def test_alignment_of_linear_predictors():
    """LIN-11 (Theorem 1): alpha(u.x) = ||E[d2f/dx dtheta] u||^2 for Gaussian x, within 5 %."""
    network = smooth(10)
    x = normal(200_000, 10, seed=3)
    mixed = MixedDerivative(network, x)
    kernel = TangentKernel(network)
    for seed in range(2):
        u = normal(10, seed=seed)
        u /= u.norm()
        predicted = sum(float(p.square().sum()) for p in mixed.to_parameters(u).values())
        measured = float(kernel.target_alignment(x, x @ u))
        assert measured == pytest.approx(predicted, rel=0.05)


def test_images_at_zero():
    network, _ = zoo.build("lenet")
    found = anisotropy_directions(network, input_shape=(1, 8, 8), k=5)
    assert found.directions.shape == (5, 1, 8, 8)
    assert (found.singular_values.diff() <= 1e-12).all()


def test_refuses_nonsense():
    network = smooth(4)
    with pytest.raises(ValueError, match="input_shape"):
        anisotropy_directions(network)
    with pytest.raises(ValueError, match="5 directions asked of an input space of 4"):
        anisotropy_directions(network, input_shape=(4,), k=5)
    with pytest.raises(ValueError, match="output 1 does not exist"):
        MixedDerivative(network, normal(2, 4), output=1)
    with pytest.raises(ValueError, match="too small for one column"):
        anisotropy_directions(network, input_shape=(4,), memory="1KiB")
