import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regimes import nets

SPEC_ACTIVATIONS = [
    "relu",
    "softplus_5",
    "tanh",
    "swish_1",
    "swish_10",
    "gelu",
    "erf",
    "linear",
]


def sphere(n, d, dtype=torch.float64):
    """Inputs normalised to sum x_i^2 = d."""
    x = torch.randn(n, d, dtype=dtype, generator=torch.Generator().manual_seed(3))
    return x * math.sqrt(d) / x.norm(dim=1, keepdim=True)


@pytest.fixture(scope="module")
def wide_networks():
    return [
        nets.FullyConnected(200, 2000, depth=4, seed=seed, dtype=torch.float32) for seed in range(3)
    ]


@pytest.mark.parametrize("sigma", SPEC_ACTIVATIONS)
def test_preactivations_have_unit_second_moment_at_every_depth(sigma, wide_networks):
    x = sphere(40, 200, torch.float32)
    moments = torch.zeros(4)
    for net in wide_networks:
        net.activation = nets.activation(sigma)  # the weights do not depend on it
        with torch.no_grad():
            moments += torch.stack([z.square().mean() for z in net.preactivations(x)])
    moments /= len(wide_networks)
    assert ((moments - 1).abs() < 0.05).all(), moments


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("bias", [False, True])
def test_ntk_formula(depth, bias, dtype, tolerance):
    """[Geiger 2020, eqs. 11 to 14], written out."""
    d, h = 7, 5
    net = nets.FullyConnected(
        d,
        h,
        depth,
        2,
        activation="softplus_5",
        bias=bias,
        bias_std=1.0 if bias else None,
        dtype=dtype,
    )
    x = sphere(4, d, dtype)
    w = [p.detach() for n, p in net.named_parameters() if n.endswith("weight")]
    b = [p.detach() for n, p in net.named_parameters() if n.endswith("bias")]
    z, found = x, net.preactivations(x)
    for layer in range(depth + 1):
        fan_in = d if layer == 0 else h
        pre = z @ w[layer].T / math.sqrt(fan_in)
        if bias:
            pre = pre + 0.1 * b[layer]
        if layer < depth:
            torch.testing.assert_close(found[layer], pre, rtol=tolerance, atol=tolerance)
            z = 1.4043833476 * torch.log1p(torch.exp(5 * pre)) / 5
    torch.testing.assert_close(net(x), pre, rtol=10 * tolerance, atol=10 * tolerance)
    assert len(found) == depth
    assert len(b) == (depth + 1 if bias else 0)


def test_compression_formula(dtype, tolerance):
    """[Paccolat 2021, eq. 1]: f = (1/h) sum_n beta_n sqrt2 max(0, w_n.x / sqrt d + b_n)."""
    d, h = 4, 6
    net = nets.FullyConnected(d, h, parametrization="mean_field", bias=True, seed=2, dtype=dtype)
    net.requires_grad_(False)
    (hidden, readout), x = net.layers, sphere(5, d, dtype)
    assert hidden.bias.abs().min() > 0  # drawn from N(0, 1)
    assert readout.bias is None
    for x_mu, f in zip(x, net(x), strict=True):
        expected = 0.0
        for n in range(h):
            u = sum(float(hidden.weight[n, i] * x_mu[i]) for i in range(d)) / math.sqrt(d)
            u += float(hidden.bias[n])
            expected += float(readout.weight[0, n]) * math.sqrt(2) * max(0.0, u) / h
        assert float(f) == pytest.approx(expected, rel=10 * tolerance, abs=tolerance)


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 20), st.integers(1, 3))
def test_mean_field_is_ntk_over_sqrt_h(depth, d, h, c):
    mean_field, ntk = (
        nets.FullyConnected(d, h, depth, c, parametrization=name, dtype=torch.float64)
        for name in ("mean_field", "ntk")
    )
    x = sphere(3, d)
    for a, b in zip(mean_field.parameters(), ntk.parameters(), strict=True):
        assert torch.equal(a, b)
    torch.testing.assert_close(mean_field(x), ntk(x) / math.sqrt(h), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sigma", ["relu", "tanh"])
def test_standard_is_plain_torch(sigma, dtype, tolerance):
    net = nets.FullyConnected(
        6,
        5,
        2,
        3,
        parametrization="standard",
        activation=sigma,
        bias=True,
        init="torch_default",
        dtype=dtype,
    )
    first, second, third = net.layers
    assert all(type(layer) is nn.Linear for layer in net.layers)
    assert all(layer.bias.abs().min() > 0 for layer in net.layers)
    act = {"relu": nn.ReLU(), "tanh": nn.Tanh()}[sigma]
    x = sphere(4, 6, dtype)
    plain = nn.Sequential(first, act, second, act, third)
    torch.testing.assert_close(net(x), plain(x), rtol=tolerance, atol=tolerance)


def test_bias_forms():
    def biases(**options):
        net = nets.FullyConnected(4, 50, bias=True, **options)
        return [
            None
            if layer.bias is None
            else (getattr(layer, "bias_multiplier", 1.0), bool(layer.bias.any()))
            for layer in net.layers
        ]

    assert biases(parametrization="mean_field") == [(1.0, True), None]
    assert biases(parametrization="mean_field", depth=2) == [(0.1, False)] * 3
    assert biases(parametrization="ntk") == [(0.1, False)] * 2
    assert biases(parametrization="standard") == [(1.0, False)] * 2
    assert biases(parametrization="standard", init="torch_default") == [(1.0, True)] * 2
    assert biases(parametrization="standard", bias_multiplier=2.0) == [(2.0, False)] * 2
    assert biases(bias_std=0.5, bias_multiplier=3.0, output_bias=False) == [(3.0, True), None]
    only_output = nets.FullyConnected(4, 5, output_bias=True)
    assert [layer.bias is not None for layer in only_output.layers] == [False, True]


def test_biases_have_the_asked_std():
    net = nets.FullyConnected(2, 40_000, bias=True, bias_std=0.5, dtype=torch.float64)
    assert float(net.layers[0].bias.detach().std()) == pytest.approx(0.5, rel=0.02)


def test_parameter_counts():
    assert nets.FullyConnected(7, 9, 3, 2).n_params == 243  # [Geiger 2021b, fig. 1]
    assert nets.MLP(3072, 100, 3, 1).n_params == 317_501  # [Ortiz-Jimenez 2021, app. A]
    for d, h, depth, c in ((3, 5, 1, 1), (4, 6, 2, 3), (2, 3, 4, 2)):
        assert nets.FullyConnected(d, h, depth, c).n_params == d * h + (depth - 1) * h * h + h * c


def test_mlp_counts_weight_matrices(draw):
    net = nets.MLP(6, 5, 4, 2, dtype=torch.float64)
    assert len(net.layers) == 4
    assert net.depth == 3
    x = draw(3, 6)
    z = x
    for i, layer in enumerate(net.layers):
        z = z @ layer.weight.T + layer.bias
        z = torch.relu(z) if i < 3 else z
    torch.testing.assert_close(net(x), z, rtol=1e-12, atol=1e-14)
    assert nets.MLP(6, 5, 1, 2).n_params == 6 * 2 + 2  # one matrix: a linear model
    assert nets.MLP(6, 5, 2, 2, bias=False).n_params == 6 * 5 + 5 * 2
    weights = nets.MLP(500, 300, 2, 1, init="lecun", dtype=torch.float64).layers[0].weight
    assert float(weights.detach().square().mean()) == pytest.approx(1 / 500, rel=0.02)


def test_depth_zero_is_linear(draw):
    net, x = nets.FullyConnected(6, 1, 0, 2, dtype=torch.float64), draw(3, 6)
    torch.testing.assert_close(net(x), x @ net.layers[0].weight.T / math.sqrt(6))
    assert net.preactivations(x) == []


def test_inputs_are_flattened(draw):
    net, x = nets.FullyConnected(12, 4, dtype=torch.float64), draw(5, 3, 2, 2)
    assert torch.equal(net(x), net(x.reshape(5, 12)))
    assert net(x).shape == (5, 1)


def test_normalize_can_be_chosen():
    assert nets.FullyConnected(2, 2).activation.factor == pytest.approx(math.sqrt(2))
    assert nets.FullyConnected(2, 2, normalize=False).activation.factor == 1.0
    assert nets.FullyConnected(2, 2, parametrization="standard").activation.factor == 1.0
    normalised = nets.FullyConnected(2, 2, parametrization="standard", normalize=True)
    assert normalised.activation.factor == pytest.approx(math.sqrt(2))


def test_repr_shows_the_form():
    net = nets.FullyConnected(10, 4, 2, parametrization="ntk", bias=True)
    assert repr(net) == (
        "FullyConnected(10 -> 4 -> 4 -> 1, ntk, 1.41421 * relu, hidden and output biases 0.1 * 0)"
    )
    assert "init lecun, tanh, hidden and output biases 1 * init" in repr(
        nets.MLP(2, 3, 2, 1, init="lecun", activation="tanh")
    )
    assert "output biases" in repr(nets.FullyConnected(1, 1, output_bias=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"in_dim": 0}, "in_dim must be an integer >= 1, got 0"),
        ({"width": -1}, "width must be"),
        ({"width": 2.5}, "width must be"),
        ({"depth": -1}, "depth must be an integer >= 0"),
        ({"out_dim": 0}, "out_dim must be"),
        ({"activation": "relux"}, "unknown activation 'relux'; use one of: relu"),
        ({"parametrization": "meanfield"}, "unknown parametrization 'meanfield'; use one of: mean"),
        ({"parametrization": "standard", "init": "kaimin"}, "unknown initialiser"),
        ({"init": "kaiming"}, "init='kaiming' is for parametrization='standard'"),
        ({"bias_multiplier": 0.1}, "need bias=True"),
        ({"bias": True, "bias_std": -1.0}, "bias_std must not be negative"),
        ({"bias": True, "bias_multiplier": "a"}, "bias_multiplier must be a finite number"),
        ({"parametrization": "mean_field", "depth": 0}, "depth must be >= 1"),
        ({"dtype": torch.int64}, "floating-point"),
        ({"dtype": "float32"}, "floating-point"),
        ({"seed": 1.5}, "seed must be an integer"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        nets.FullyConnected(**{"in_dim": 3, "width": 4, **options})


def test_bad_depth_of_an_mlp():
    with pytest.raises(ValueError, match="depth must be an integer >= 1, got 0"):
        nets.MLP(3, 4, 0, 1)


@pytest.mark.parametrize("shape", [(3,), (5, 4), (5, 2, 2), ()])
def test_bad_input_shapes(shape):
    net = nets.FullyConnected(3, 4)
    with pytest.raises(ValueError, match=r"takes inputs of shape \(n, 3\)"):
        net(torch.zeros(shape))


def test_bad_input_kind():
    with pytest.raises(ValueError, match=r"takes a tensor, got \[\[1.0, 2.0, 3.0\]\]"):
        nets.FullyConnected(3, 4)([[1.0, 2.0, 3.0]])


def test_bad_input_dtype():
    with pytest.raises(ValueError, match=r"inputs are torch.float64 .* torch.float32"):
        nets.FullyConnected(3, 4)(torch.zeros(1, 3, dtype=torch.float64))
