import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import nets
from regimes.nets import ABC


def test_named_forms():
    assert ABC.ntk(2) == ABC(a=(0, 0.5, 0.5), b=(0, 0, 0), c=0)
    assert ABC.mean_field(3) == ABC(a=(0, 0.5, 0.5, 1), b=(0, 0, 0, 0), c=-1)
    assert ABC.maximal_update(3) == ABC(a=(-0.5, 0, 0, 0.5), b=(0.5,) * 4, c=0)
    assert ABC.ntk(0).weight_multipliers(4, 100) == [0.5]
    assert ABC([0, 1], [0, 0]) == ABC((0.0, 1.0), (0.0, 0.0))


@pytest.mark.parametrize("name", ["ntk", "mean_field"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_names_are_members_of_the_family(name, depth, draw):
    x = draw(4, 6)
    make = {"ntk": ABC.ntk, "mean_field": ABC.mean_field}[name]
    named = nets.FullyConnected(6, 5, depth, parametrization=name, dtype=torch.float64)
    general = nets.FullyConnected(6, 5, depth, parametrization=make(depth), dtype=torch.float64)
    assert torch.equal(named(x), general(x))


@given(st.floats(-1.5, 1.5), st.integers(1, 3))
def test_shift_keeps_the_function_and_scales_its_kernel(s, depth):
    """[Yang 2021]: (a + s, b - s, c - 2 s) leaves the function trajectory unchanged."""
    width = 7
    x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
    before = ABC.mean_field(depth)
    after = before.shifted(s)
    outputs, kernels = [], []
    for scales in (before, after):
        net = nets.FullyConnected(
            4, width, depth, parametrization=scales, activation="tanh", dtype=torch.float64
        )
        rows = [
            torch.cat(
                [g.flatten() for g in torch.autograd.grad(net(x)[i, 0], list(net.parameters()))]
            )
            for i in range(len(x))
        ]
        features = torch.stack(rows)
        outputs.append(net(x).detach())
        # the speed of the outputs is the tangent kernel times the rate h^-c
        kernels.append(features @ features.T * width**-scales.c)
    torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(kernels[0], kernels[1], rtol=1e-10, atol=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="equally many"):
        ABC(a=(0.0, 0.5), b=(0.0,))
    with pytest.raises(ValueError, match="equally many"):
        ABC(a=(), b=())
    with pytest.raises(ValueError, match="a_2 must be a finite number"):
        ABC(a=(0.0, float("nan")), b=(0.0, 0.0))
    with pytest.raises(ValueError, match="depth must be >= 1"):
        ABC.mean_field(0)
    with pytest.raises(ValueError, match="depth 3 needs 4 exponents"):
        nets.FullyConnected(4, 5, 3, parametrization=ABC.ntk(1))
    with pytest.raises(ValueError, match="unknown parametrization 'nkt'; use one of: ntk"):
        nets.FullyConnected(4, 5, parametrization="nkt")
