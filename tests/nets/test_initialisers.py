import math

import pytest
import torch
from torch import nn

from regimes import nets
from regimes._random import generator


def linear(fan_in=400, fan_out=600, dtype=torch.float64):
    return nn.Linear(fan_in, fan_out, dtype=dtype, device="meta").to_empty(device="cpu")


@pytest.mark.parametrize(
    ("scheme", "variance", "bound"),
    [
        ("kaiming", 2 / 400, math.inf),
        ("xavier", 2 / 1000, math.inf),
        ("torch_default", 1 / 1200, 1 / 20),
        ("lecun", 1 / 400, 2.2738 / 20),
        ("normal", 1.0, math.inf),
    ],
)
def test_laws(scheme, variance, bound):
    assert scheme in nets.initialiser_names()
    layer = nets.initialise(linear(), scheme, generator(0, "test"))
    weight, bias = layer.weight.detach(), layer.bias.detach()
    # 240 000 draws: the standard error of a variance is 0.3 %
    assert weight.mean().abs() < 4 * math.sqrt(variance / weight.numel())
    assert weight.square().mean() == pytest.approx(variance, rel=0.012)
    assert weight.abs().max() <= bound
    if math.isfinite(bound):
        assert weight.abs().max() > 0.99 * bound
    if scheme == "torch_default":
        assert bias.abs().max() <= bound
        assert bias.square().mean() == pytest.approx(variance, rel=0.2)
    else:
        assert not bias.any()


def test_truncation_is_corrected_exactly():
    # the largest of many draws is the cut, 2 std of the normal before cutting; with the variance
    # of the cut law by numerical integration the product must be 1 / fan_in = 1
    layer = nets.initialise(linear(1, 10**6), "lecun", generator(1, "test"))
    std = layer.weight.detach().abs().max() / 2
    u = torch.linspace(-2, 2, 40001, dtype=torch.float64)
    density = torch.exp(-(u**2) / 2)
    variance = torch.trapezoid(u**2 * density, u) / torch.trapezoid(density, u)
    assert float(std**2 * variance) == pytest.approx(1.0, rel=1e-4)


def test_convolution_fans():
    conv = nn.Conv2d(8, 16, 5, groups=4, dtype=torch.float64, device="meta")
    conv = nets.initialise(conv.to_empty(device="cpu"), "torch_default", generator(0, "test"))
    bound = 1 / math.sqrt(2 * 25)  # each output sees 8 / 4 channels
    assert 0.98 * bound < conv.weight.abs().max() <= bound
    conv = nets.initialise(conv, "xavier", generator(0, "test"))
    variance = 2 / (2 * 25 + 16 * 25)
    assert float(conv.weight.detach().square().mean()) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("shape", [(10, 10), (4, 10), (25, 10), (1, 7)])
def test_orthogonal_weights_come_in_blocks(shape):
    layer = nets.initialise(linear(shape[1], shape[0]), "orthogonal", generator(0, "test"))
    assert not layer.bias.any()
    for block in layer.weight.detach().split(shape[1]):
        torch.testing.assert_close(block @ block.T, torch.eye(len(block), dtype=torch.float64))


def test_the_law_of_orthogonal_matrices_is_uniform():
    draws = generator(0, "test")
    layers = (nets.initialise(linear(3, 3), "orthogonal", draws) for _ in range(2000))
    traces = torch.stack([layer.weight.detach().trace() for layer in layers])
    # mean 0 and mean square 1 for the uniform law on O(3)
    assert abs(float(traces.mean())) < 4 / 2000**0.5
    assert float(traces.square().mean()) == pytest.approx(1.0, abs=0.12)


def test_filters_are_orthogonal_as_vectors():
    conv = nn.Conv2d(2, 5, 3, dtype=torch.float64, device="meta").to_empty(device="cpu")
    rows = nets.initialise(conv, "orthogonal", generator(0, "test")).weight.detach().flatten(1)
    torch.testing.assert_close(rows @ rows.T, torch.eye(5, dtype=torch.float64))


def test_draws_follow_named_parameters_in_float64():
    module = nn.Sequential(linear(3, 2), nn.ReLU(), linear(2, 1))
    nets.initialise(module, "torch_default", generator(5, "test"))
    draws = generator(5, "test")
    for (_, parameter), fan_in in zip(module.named_parameters(), (3, 3, 2, 2), strict=True):
        expected = torch.rand(parameter.shape, generator=draws, dtype=torch.float64) * 2 - 1
        torch.testing.assert_close(parameter.detach(), expected / math.sqrt(fan_in))


@pytest.mark.parametrize("scheme", nets.initialiser_names())
def test_precisions_agree(scheme):
    double, single = (
        nets.initialise(linear(5, 4, dtype), scheme, generator(0, "test"))
        for dtype in (torch.float64, torch.float32)
    )
    assert torch.equal(double.weight.float(), single.weight)


def test_normalisation_layers_start_fresh():
    norm = nn.BatchNorm2d(3, device="meta").to_empty(device="cpu")
    nets.initialise(norm, "kaiming", generator(0, "test"))
    assert norm.weight.tolist() == norm.running_var.tolist() == [1.0] * 3
    assert norm.bias.tolist() == norm.running_mean.tolist() == [0.0] * 3
    assert norm.num_batches_tracked == 0


def test_bad_input():
    with pytest.raises(ValueError, match=r"unknown initialiser 'kaming'; use one of: kaiming"):
        nets.initialise(linear(), "kaming", generator(0, "test"))
    embedding = nn.Sequential(nn.Embedding(2, 2, device="meta"))
    with pytest.raises(ValueError, match="no rule to initialise 0 of type Embedding"):
        nets.initialise(embedding, "kaiming", generator(0, "test"))
