import math

import pytest
import torch

from regimes.measure import power_law
from regimes.theory import infinite_width


def inputs(n, d, seed=0, sphere=False):
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x * d**0.5 / x.norm(dim=1, keepdim=True) if sphere else x


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_relu_recursion_on_the_sphere(depth):
    """docs/themes/regimes.md, "Tangent kernel": T <- T k0(S) + k1(S), S <- k1(S), pair by pair."""
    x = inputs(6, 4, sphere=True)
    found = infinite_width(x, depth=depth)
    for i in range(6):
        for j in range(6):
            S = T = max(-1.0, min(1.0, float(x[i] @ x[j]) / 4)) if i != j else 1.0
            for _ in range(depth):
                angle = math.acos(S)
                k0 = (math.pi - angle) / math.pi
                k1 = (math.sqrt(1 - S**2) + S * (math.pi - angle)) / math.pi
                S, T = k1, T * k0 + k1
            assert float(found.nngp[i, j]) == pytest.approx(S, rel=1e-12)
            assert float(found.ntk[i, j]) == pytest.approx(T, rel=1e-12)
    torch.testing.assert_close(found.ntk.diagonal(), torch.full((6,), depth + 1.0).double())
    assert found.error == 0


def test_mean_field_stripe_network():
    """[Paccolat 2021, app. D]: h Theta -> k(x, z) for one relu layer with N(0,1) biases."""
    d = 5
    x, z = inputs(7, d), inputs(4, d, seed=1)
    options = {"depth": 1, "bias": True, "bias_std": 1.0, "parametrization": "mean_field"}
    found = infinite_width(x, z, **options).ntk
    for i in range(7):
        for j in range(4):
            s = 1 + float(x[i] @ z[j]) / d
            nx = math.sqrt(1 + float(x[i] @ x[i]) / d)
            nz = math.sqrt(1 + float(z[j] @ z[j]) / d)
            t = math.acos(s / (nx * nz))
            rise = math.sin(t) + (math.pi - t) * math.cos(t)
            k = (nx * nz * rise + (math.pi - t) * s) / math.pi
            assert float(found[i, j]) == pytest.approx(k, rel=1e-12)
    diagonal = infinite_width(x, **options).ntk.diagonal()
    torch.testing.assert_close(diagonal, 2 * (1 + (x**2).sum(1) / d))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("relu", torch.relu),
        ("relu", lambda u: 3 * torch.relu(u)),  # normalised all the same
        ("erf", torch.erf),
        ("linear", lambda u: u),
    ],
)
def test_quadrature_agrees_with_the_closed_forms(name, function):
    x, z = inputs(9, 3), inputs(5, 3, seed=1)
    x[1] = -x[0]
    z[0] = x[0]
    options = {"depth": 3, "bias": True, "bias_std": 0.3, "output_bias": True}
    for second in (None, z):
        closed = infinite_width(x, second, activation=name, **options)
        by_series = infinite_width(x, second, activation=function, **options)
        torch.testing.assert_close(by_series.nngp, closed.nngp, rtol=1e-11, atol=1e-12)
        torch.testing.assert_close(by_series.ntk, closed.ntk, rtol=1e-11, atol=1e-7)
        assert by_series.error < 1e-13


FINITE = [
    pytest.param({"depth": 1}, id="relu-1"),
    pytest.param(
        {
            "depth": 2,
            "activation": "tanh",
            "bias": True,
            "bias_std": 0.5,
            "bias_multiplier": 0.7,
            "output_bias": True,
        },
        id="tanh-2-biases",
    ),
    pytest.param(
        {"depth": 1, "bias": True, "bias_std": 1.0, "parametrization": "mean_field"},
        id="relu-1-mean-field",
    ),
    pytest.param(
        {"depth": 2, "activation": "softplus_5", "bias": True, "bias_multiplier": 0.1},
        id="softplus-2-zero-biases",
    ),
]

SHAPES = {
    "relu": (torch.relu, 2**0.5),
    "tanh": (torch.tanh, 1.59254),
    "softplus_5": (lambda u: torch.nn.functional.softplus(u, beta=5, threshold=100), 1.40438),
}


def finite_kernels(
    x,
    h,
    nets,
    seed,
    *,
    depth,
    activation="relu",
    bias=False,
    bias_std=0.0,
    bias_multiplier=1.0,
    output_bias=False,
    parametrization="ntk",
):
    """NNGP and tangent kernel of `nets` random networks of width h, by backpropagation by hand."""
    function, factor = SHAPES[activation]
    numbers = torch.Generator().manual_seed(seed)
    n, d = x.shape
    has_bias = [bias] * depth + [output_bias]
    sizes = [d, *[h] * depth, 1]
    z, weights, slopes, tangent_inputs = x.expand(nets, n, d), [], [], []
    for layer in range(depth + 1):
        fan_in, fan_out = sizes[layer : layer + 2]
        readout = layer == depth
        scale = fan_in ** -(1.0 if readout and parametrization == "mean_field" else 0.5)
        w = scale * torch.randn(nets, fan_out, fan_in, generator=numbers).double()
        b = bias_std * torch.randn(nets, 1, fan_out, generator=numbers).double()
        inner = scale**2 * z @ z.mT  # derivative by the weights of this layer
        tangent_inputs.append(inner + (bias_multiplier**2 if has_bias[layer] else 0.0))
        pre = z @ w.mT + (bias_multiplier * b if has_bias[layer] else 0.0)
        weights.append(w)
        if not readout:
            leaf = pre.requires_grad_(True)
            z = factor * function(leaf)
            (slope,) = torch.autograd.grad(z.sum(), leaf)
            slopes.append(slope.detach())
            z = z.detach()
    tangent = tangent_inputs[depth]
    backward = weights[depth].expand(nets, n, h) if depth else None
    for layer in range(depth - 1, -1, -1):
        backward = backward * slopes[layer]
        tangent = tangent + tangent_inputs[layer] * (backward @ backward.mT)
        backward = backward @ weights[layer]
    return pre[..., 0], tangent


@pytest.mark.parametrize("options", FINITE)
def test_finite_networks_converge_as_one_over_root_width(options):
    x = inputs(6, 4, seed=3)
    limit = infinite_width(x, **options)
    widths, gaps = [32, 128, 512], []
    for h in widths:
        _, tangent = finite_kernels(x, h, 40, seed=h, **options)
        if options.get("parametrization") == "mean_field":
            tangent = h * tangent
        relative = (tangent - limit.ntk).flatten(1).norm(dim=1) / limit.ntk.norm()
        gaps.append(float((relative**2).mean()) ** 0.5)
    fit = power_law(widths, gaps)
    assert fit.exponent == pytest.approx(-0.5, abs=0.12)
    assert gaps[-1] < 0.15
    # the mean over networks is the limit up to O(1/h), well inside the spread of one network
    mean_gap = float((tangent.mean(0) - limit.ntk).norm() / limit.ntk.norm())
    assert mean_gap < 0.5 * gaps[-1]


@pytest.mark.parametrize("options", FINITE)
def test_outputs_of_random_networks_have_the_covariance(options):
    """Monte Carlo over 4000 networks: within 4 standard errors of the limit, plus O(1/h)."""
    x, h, nets = inputs(4, 4, seed=3), 64, 4000
    limit = infinite_width(x, **options).nngp
    f, _ = finite_kernels(x, h, nets, seed=1, **options)
    products = f[:, :, None] * f[:, None, :]
    if options.get("parametrization") == "mean_field":
        products = h * products
    error = products.std(0) / nets**0.5
    assert bool(
        ((products.mean(0) - limit).abs() < 4 * error + 0.02 * limit.diagonal().max()).all()
    )


def test_monte_carlo_of_one_layer_with_an_arbitrary_activation():
    x = inputs(3, 2, seed=5)
    numbers = torch.Generator().manual_seed(0)
    u = torch.randn(400_000, 2, generator=numbers, dtype=torch.float64) @ x.T / 2**0.5
    s = torch.sin(u) / math.sqrt((1 - math.exp(-2)) / 2)
    slope = torch.cos(u) / math.sqrt((1 - math.exp(-2)) / 2)
    nngp = s.T @ s / len(u)
    ntk = nngp + (slope.T @ slope / len(u)) * (x @ x.T / 2)
    found = infinite_width(x, depth=1, activation=torch.sin)
    torch.testing.assert_close(found.nngp, nngp, rtol=0, atol=0.01)
    torch.testing.assert_close(found.ntk, ntk, rtol=0, atol=0.02)


@pytest.mark.parametrize("activation", ["relu", "erf", "linear", "tanh", torch.relu])
def test_parallel_opposite_and_zero_inputs_give_no_nan(activation, dtype):
    x = inputs(3, 4).to(dtype)
    x = torch.cat([x, x[:1], -x[:1], 1e-4 * x[:1], 1e4 * x[:1], torch.zeros(1, 4, dtype=dtype)])
    options = {"depth": 4, "activation": activation}
    found = infinite_width(x, **options)
    cross = infinite_width(x, x.clone(), **options)
    for kernel, other in ((found.nngp, cross.nngp), (found.ntk, cross.ntk)):
        assert kernel.dtype == dtype
        assert bool(kernel.isfinite().all())
        assert torch.equal(kernel, kernel.T)
        torch.testing.assert_close(kernel, other, rtol=1e-6, atol=1e-7)
        torch.testing.assert_close(kernel[0, 1:3], kernel[3, 1:3])  # equal inputs, equal rows
        unit = kernel[:5, :5].double()
        assert float(torch.linalg.eigvalsh(unit)[0]) > -1e-6 * float(unit.diagonal().max())
    torch.testing.assert_close(found.ntk[0, 3], found.ntk[0, 0])


def test_linear_networks_are_known():
    x = inputs(4, 3)
    gram = x @ x.T / 3
    found = infinite_width(x, depth=3, activation="linear")
    torch.testing.assert_close(found.nngp, gram)
    torch.testing.assert_close(found.ntk, 4 * gram)  # one Gram per layer
    shallow = infinite_width(x, depth=0, output_bias=True, bias_std=2.0)
    torch.testing.assert_close(shallow.ntk, gram + 1)
    torch.testing.assert_close(shallow.nngp, gram + 4)


def test_mean_field_limit_is_that_of_ntk():
    x = inputs(4, 3)
    options = {"depth": 2, "bias": True, "bias_std": 0.5}
    plain = infinite_width(x, **options)
    scaled = infinite_width(x, parametrization="mean_field", **options)
    assert torch.equal(plain.ntk, scaled.ntk)
    assert torch.equal(plain.nngp, scaled.nngp)


def test_float32_agrees_with_float64():
    x = inputs(5, 3)
    for activation in ("relu", "tanh"):
        exact = infinite_width(x.float().double(), depth=2, activation=activation)
        found = infinite_width(x.float(), depth=2, activation=activation)
        torch.testing.assert_close(found.ntk, exact.ntk.float(), rtol=1e-6, atol=1e-6)


def test_bad_input_is_refused():
    x = inputs(3, 2)
    with pytest.raises(ValueError, match="unknown activation 'relux'; use a function or one of: r"):
        infinite_width(x, depth=1, activation="relux")
    with pytest.raises(ValueError, match="depth must be an integer >= 0, got -1"):
        infinite_width(x, depth=-1)
    with pytest.raises(ValueError, match="share their dimension"):
        infinite_width(x, inputs(3, 4), depth=1)
    with pytest.raises(ValueError, match=r"shape \(n, d\), got \(3,\) of torch\.float64"):
        infinite_width(x[:, 0], depth=1)
    with pytest.raises(ValueError, match="NaN or infinite"):
        infinite_width(x * torch.nan, depth=1)
    with pytest.raises(ValueError, match="set bias=True"):
        infinite_width(x, depth=1, bias_std=1.0)
    with pytest.raises(ValueError, match="diverges"):
        infinite_width(x, depth=1, output_bias=True, parametrization="mean_field")
    with pytest.raises(ValueError, match="at least one hidden layer"):
        infinite_width(x, depth=0, parametrization="mean_field")
    with pytest.raises(ValueError, match="unknown parametrization 'standard'"):
        infinite_width(x, depth=1, parametrization="standard")
    with pytest.raises(ValueError, match="cannot be normalised"):
        infinite_width(x, depth=1, activation=lambda u: 0 * u)
    with pytest.raises(ValueError, match="sharpness of softplus_0"):
        infinite_width(x, depth=1, activation="softplus_0")
