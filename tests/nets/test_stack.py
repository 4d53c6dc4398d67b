import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import grad, vmap

from regimes import nets

SEEDS = range(4)


def one_by_one(networks, x):
    with torch.no_grad():
        return torch.stack([network(x) for network in networks])


def test_equals_the_networks_one_by_one(small):
    """All architectures; batch norm with statistics that differ between members."""
    networks = [small(seed=s) for s in SEEDS]
    for s, network in zip(SEEDS, networks, strict=True):
        for name, buffer in network.named_buffers():
            if buffer.is_floating_point():
                buffer += 0.1 * (s + 1) * (1 if "var" in name else -1)
    ensemble, x = nets.stack(networks), small.inputs()
    out = ensemble(x)
    assert out.shape == (4, 3, 2)
    assert ensemble.size == len(ensemble) == 4
    torch.testing.assert_close(out, one_by_one(networks, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth": 0},
        {"depth": 3, "activation": "softplus_5", "bias": True, "bias_std": 1.0},
        {"parametrization": "mean_field", "bias": True},
        {"parametrization": "standard", "bias": True, "init": "torch_default"},
        {"parametrization": "standard", "bias": True, "bias_multiplier": 0.3, "bias_std": 1.0},
        {"parametrization": nets.ABC.maximal_update(2), "depth": 2, "activation": "tanh"},
        {"output_bias": True, "bias_std": 1.0, "activation": "linear"},
    ],
)
@pytest.mark.parametrize("member_inputs", [False, True])
def test_fully_connected_forms(options, member_inputs, draw):
    networks = [
        nets.FullyConnected(6, 5, out_dim=3, seed=s, dtype=torch.float64, **options) for s in SEEDS
    ]
    ensemble = nets.stack(networks)
    x = draw(4, 7, 2, 3) if member_inputs else draw(7, 2, 3)
    expected = torch.stack([net(x[i] if member_inputs else x) for i, net in enumerate(networks)])
    found = ensemble(x, member_inputs=member_inputs)
    torch.testing.assert_close(found, expected.detach(), rtol=1e-12, atol=1e-12)
    assert found.is_contiguous()


def test_thirty_two_networks():
    """The size of the benchmark."""
    networks = [nets.FullyConnected(10, 100, seed=s, dtype=torch.float64) for s in range(32)]
    x = torch.randn(100, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        nets.stack(networks)(x), one_by_one(networks, x), rtol=1e-12, atol=1e-12
    )


def test_inputs_of_each_member(small):
    ensemble = nets.stack(small, SEEDS)
    x = small.inputs(4 * 3).reshape(4, 3, *small.shape)
    expected = torch.stack([ensemble.member(i)(x[i]) for i in range(4)])
    torch.testing.assert_close(ensemble(x, member_inputs=True), expected.detach())


def test_gradients_equal_those_of_the_networks(small):
    networks = [small(seed=s) for s in SEEDS]
    ensemble, x = nets.stack(networks), small.inputs()
    parameters = {n: p.clone().requires_grad_() for n, p in ensemble.parameters.items()}
    ensemble.forward(parameters, x).square().sum().backward()
    for i, network in enumerate(networks):
        network(x).square().sum().backward()
        for name, p in network.named_parameters():
            torch.testing.assert_close(parameters[name].grad[i], p.grad, rtol=1e-9, atol=1e-10)


def test_inputs_are_left_alone_and_nothing_is_stored():
    ensemble = nets.stack(lambda seed: nets.FullyConnected(3, 4, seed=seed), SEEDS)
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    before = {name: p.clone() for name, p in ensemble.parameters.items()}
    copy = x.clone()
    first, second = ensemble(x), ensemble(x)
    assert torch.equal(first, second)
    assert torch.equal(x, copy)
    assert all(torch.equal(before[name], p) for name, p in ensemble.parameters.items())
    assert not any(p.requires_grad for p in ensemble.parameters.values())


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("sigma", ["relu", "softplus_5"])
def test_transforms_pass_through(sigma, draw):
    """The stacked forward under torch.func: gradient, forward mode, second derivative."""
    # biases that start at 0 would put dead units exactly on the kink of relu
    options = {"bias": True, "bias_std": 1.0, "activation": sigma, "dtype": torch.float64}
    networks = [nets.FullyConnected(3, 4, 2, seed=s, **options) for s in SEEDS]
    ensemble, x = nets.stack(networks), draw(5, 3)
    weights = dict(ensemble.parameters)

    def loss(p):
        return ensemble.forward(p, x).square().sum()

    direction = {n: draw(*p.shape, seed=1) for n, p in weights.items()}
    gradient = grad(loss)(weights)
    slope = torch.func.jvp(loss, (weights,), (direction,))[1]
    assert float(slope) == pytest.approx(
        sum(float((gradient[n] * direction[n]).sum()) for n in weights), rel=1e-10
    )
    curvature = torch.func.jvp(grad(loss), (weights,), (direction,))[1]
    step = 1e-6
    ahead, behind = (
        grad(loss)({n: p + sign * step * direction[n] for n, p in weights.items()})
        for sign in (1, -1)
    )
    for n in weights:
        numeric = (ahead[n] - behind[n]) / (2 * step)
        torch.testing.assert_close(curvature[n], numeric, rtol=1e-4, atol=1e-5)
    scales = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    scaled = vmap(lambda s: ensemble.forward({n: s * p for n, p in weights.items()}, x))(scales)
    torch.testing.assert_close(scaled[1], ensemble(x))


def test_member_and_select(small):
    ensemble, x = nets.stack(small, SEEDS), small.inputs()
    out = ensemble(x)
    for i in (0, 3, -1):
        member = ensemble.member(i)
        assert type(member) is type(small())
        torch.testing.assert_close(member(x).detach(), out[i], rtol=1e-12, atol=1e-12)
    mask = torch.tensor([False, True, True, False])
    for index, kept in (([2, 0], [2, 0]), (slice(1, 3), [1, 2]), (mask, [1, 2]), ([-1], [3])):
        torch.testing.assert_close(ensemble.select(index)(x), out[kept], rtol=1e-12, atol=1e-12)
    with torch.no_grad():
        next(ensemble.member(0).parameters()).zero_()
    assert torch.equal(ensemble(x), out)  # a member is a copy


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_forward_takes_parameters_of_some_members(index):
    ensemble = nets.stack(
        lambda seed: nets.FullyConnected(3, 4, seed=seed, dtype=torch.float64), SEEDS
    )
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
    some = {name: p[index] for name, p in ensemble.parameters.items()}
    torch.testing.assert_close(ensemble.forward(some, x), ensemble(x)[index])


def test_any_module_can_be_stacked(draw):
    networks = []
    for seed in SEEDS:
        net = nn.Sequential(
            nn.Linear(3, 4, dtype=torch.float64, device="meta"),
            nn.Tanh(),
            nn.Dropout(0.5),
            nn.Linear(4, 2, dtype=torch.float64, device="meta"),
        ).to_empty(device="cpu")
        generator = torch.Generator().manual_seed(seed)
        networks.append(nets.initialise(net, "kaiming", generator))
    ensemble, x = nets.stack(networks), draw(5, 3)
    expected = one_by_one([net.eval() for net in networks], x)
    torch.testing.assert_close(ensemble(x), expected, rtol=1e-12, atol=1e-12)


def test_repr():
    ensemble = nets.stack(lambda seed: nets.FullyConnected(3, 4, seed=seed), SEEDS)
    assert repr(ensemble) == "Ensemble(4 x FullyConnected(3 -> 4 -> 1, ntk, 1.41421 * relu))"


def fully_connected(**options):
    return nets.FullyConnected(**{"in_dim": 3, "width": 4, **options})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((fully_connected(),), "not one network"),
        ((lambda seed: fully_connected(seed=seed),), "needs the seeds"),
        (([fully_connected()], [0]), "seeds go with a function"),
        (([],), "at least one"),
        (([fully_connected(), 3],), "network 1 is not an nn.Module but int"),
        (([fully_connected(), fully_connected(width=5)],), "of one kind"),
        (([fully_connected(), fully_connected(activation="tanh")],), "of one kind"),
        (([fully_connected(), nets.LeNet5((8, 8))],), "of one kind"),
        (([fully_connected(), fully_connected(dtype=torch.float64)],), "names, shapes, dtypes"),
        (([nn.ReLU(), nn.ReLU()],), "with parameters"),
    ],
)
def test_bad_networks(arguments, message):
    with pytest.raises(ValueError, match=message):
        nets.stack(*arguments)


def test_bad_calls():
    ensemble = nets.stack(lambda seed: fully_connected(seed=seed), SEEDS)
    x, w = torch.zeros(2, 3), dict(ensemble.parameters)
    with pytest.raises(ValueError, match=r"inputs of shape \(n, 3\)"):
        ensemble(torch.zeros(2, 4))
    with pytest.raises(ValueError, match=r"inputs of shape \(R, n, 3\)"):
        ensemble(torch.zeros(4, 3), member_inputs=True)
    with pytest.raises(ValueError, match=r"needs inputs of shape \(4, n, ...\)"):
        ensemble(torch.zeros(3, 2, 3), member_inputs=True)
    with pytest.raises(ValueError, match="must have the names"):
        ensemble.forward({"layers.0.weight": w["layers.0.weight"]}, x)
    with pytest.raises(ValueError, match="same number of members"):
        ensemble.forward(w | {"layers.0.weight": w["layers.0.weight"][:2]}, x)
    with pytest.raises(ValueError, match=r"must have shape \(R, 1, 4\)"):
        ensemble.forward(w | {"layers.1.weight": torch.zeros(4, 2, 4)}, x)
    with pytest.raises(ValueError, match=r"inputs are torch\.float64"):
        ensemble(x.double())
    with pytest.raises(ValueError, match="there are 4 members, got index 4"):
        ensemble.member(4)
    for index in ([4], [], 1, "ab", torch.tensor([True])):
        with pytest.raises(ValueError, match="select"):
            ensemble.select(index)


def test_buffers_must_match_the_members():
    ensemble = nets.stack(lambda seed: nets.ResNet18((8, 8), base=1, seed=seed), range(2))
    some = {name: p[:1] for name, p in ensemble.parameters.items()}
    with pytest.raises(ValueError, match=r"parameters of 1 members but buffers of 2; use select"):
        ensemble.forward(some, torch.zeros(1, 1, 8, 8))
