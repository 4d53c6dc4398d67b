"""The first-order model of a network."""

import copy

import pytest
import torch
from torch import nn

from regimes import data, flow, nets
from regimes._random import generator
from regimes.tangent import TangentKernel, linearize
from tests.tangent import zoo

NAMES = ["mlp one output", "lenet", "residual convolutions", "attention written out", "two inputs"]


def moved(network, step, seed=0):
    """A copy of the network with its trainable parameters moved, and the flat displacement."""
    other = copy.deepcopy(network)
    draws = generator(seed, "test/move")
    parts = []
    with torch.no_grad():
        for p in other.parameters():
            if p.requires_grad:
                delta = step * torch.randn(p.shape, generator=draws, dtype=torch.float64).to(p)
                p += delta
                parts.append(delta.flatten())
    return other, torch.cat(parts)


@pytest.mark.parametrize("name", NAMES)
def test_equals_explicit_jacobian(name):
    """LIN-01: against the Jacobian; equal to the network at the anchor; error falls as step^2."""
    network, x = zoo.build(name)
    lin = linearize(network)
    base = zoo.evaluate(network, x)
    assert torch.allclose(zoo.evaluate(lin, x), base, atol=1e-12)
    jacobian = zoo.jacobian(network, x)
    errors = []
    for step in (1e-2, 1e-3):
        other, delta = moved(network, step)
        lin.theta.load_state_dict(other.state_dict())
        value = zoo.evaluate(lin, x)
        assert torch.allclose(value, base + jacobian @ delta, atol=1e-10)
        errors.append(float((zoo.evaluate(other, x) - value).detach().norm()))
    if name != "residual convolutions":  # relu has kinks, where the second order does not hold
        slope = torch.log10(torch.tensor(errors[0] / errors[1]))
        assert abs(float(slope) - 2) < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_gradient_does_not_depend_on_theta(name):
    network, x = zoo.build(name)
    lin = linearize(network)
    true = zoo.jacobian(network, x)
    other, _ = moved(network, 0.3)
    lin.theta.load_state_dict(other.state_dict())
    flat = torch.cat(
        [
            g.flatten()
            for g in torch.autograd.grad(
                zoo.evaluate(lin, x)[0, 0], [p for p in lin.parameters() if p.requires_grad]
            )
        ]
    )
    assert torch.allclose(flat, true[0, 0], atol=1e-10)


LARGE = {"resnet", "vgg", "wide resnet", "mnasnet-like", "lenet"}
LARGE |= {"compiled"}  # torch.compile takes seconds to load; below is what it wraps


@pytest.mark.parametrize("name", sorted(set(zoo.CASES) - LARGE))
def test_every_network_of_the_zoo_has_a_linear_model(name, dtype):
    """Values and gradients away from the anchor, against the Jacobian."""
    network, x = zoo.build(name, dtype)
    jacobian = zoo.jacobian(*zoo.build(name))
    lin = linearize(network, biased=False)
    draws = generator(0, "test/move")
    leaves = [p for p in lin.parameters() if p.requires_grad]
    with torch.no_grad():
        for p in leaves:
            p += 0.1 * torch.randn(p.shape, generator=draws, dtype=torch.float64).to(p)
    delta = torch.cat([zoo.flat_real(d.detach()) for d in lin.displacement().values()]).double()
    # parameters that are cast to float32 inside a network have its rounding, and the fixed point's
    # own backward pass is as far from its derivative as it iterates
    close = 1e-3 if dtype == torch.float32 else 1e-4 if name == "equilibrium" else 1e-8
    close = {"rtol": close, "atol": 0.1 * close}
    value = zoo.evaluate(lin, x)
    torch.testing.assert_close(value.detach().double(), jacobian @ delta, **close)
    found = torch.autograd.grad(value[0, 0], leaves, allow_unused=True)
    flat = [
        zoo.flat_real(torch.zeros_like(p) if g is None else g.to_dense())
        for p, g in zip(leaves, found, strict=True)
    ]
    torch.testing.assert_close(torch.cat(flat).double(), jacobian[0, 0], **close)


def test_a_compiled_network_is_the_network_inside():
    network, x = zoo.build("mlp one output")
    wrapper = nn.Module()
    wrapper._orig_mod = network
    assert torch.equal(linearize(wrapper)(x), network(x))


def test_the_model_of_a_model_without_forward_mode():
    """The derivative of its gradient is the product again."""
    network, x = zoo.build("packed sequences")
    lin = linearize(network)
    leaves = list(lin.parameters())
    v = torch.ones_like(lin(*x), requires_grad=True)
    pulled = torch.autograd.grad(lin(*x), leaves, v, create_graph=True)
    (pushed,) = torch.autograd.grad(pulled, v, [0.1 * p.detach() for p in leaves])
    with torch.no_grad():
        before = lin(*x)
        for p in leaves:
            p *= 1.1
    torch.testing.assert_close(pushed, lin(*x).detach() - before)


def test_a_network_without_any_derivative_along_a_direction():
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return 2 * gradient

    network, x = zoo.build("mlp one output")
    network[1].forward = Once.apply
    with pytest.raises(ValueError, match="cannot be linearised: its derivative along a direction"):
        linearize(network)(x)


def test_parameters_are_those_of_the_model_alone():
    network, x = zoo.build("mlp one output")
    lin = linearize(
        network, anchor=moved(network, 0.1)[0].state_dict(), origin=network.state_dict()
    )
    names = [name for name, _ in network.named_parameters()]
    assert [name for name, _ in lin.named_parameters()] == [f"theta.{name}" for name in names]
    assert all(p.requires_grad for p in lin.parameters())
    assert [name for name, _ in lin.anchor.named_buffers()] == names
    assert set(lin.state_dict()) == {
        f"{a}.{b}" for a in ("theta", "anchor", "origin") for b in names
    }
    again, before = copy.deepcopy(lin), lin(x).detach()
    with torch.no_grad():
        for p in lin.parameters():
            p += 1.0
    assert torch.equal(again(x), before)
    assert not torch.allclose(lin(x), before)


@pytest.mark.parametrize("name", ["mlp one output", "packed sequences"])
def test_moves_to_another_precision(name):
    network, x = zoo.build(name)
    lin = linearize(network)
    expected = zoo.evaluate(lin, x)
    single = (
        tuple(t.float() if t.is_floating_point() else t for t in x) if name[0] == "p" else x.float()
    )
    found = zoo.evaluate(lin.float(), single)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)


def test_flows_like_its_kernel():
    """A linear model under gradient flow: its kernel frozen at the anchor."""
    ds = data.stripe(n_train=8, n_test=4, d=3, seed=0, dtype=torch.float64)
    network = nets.FullyConnected(3, 6, depth=2, seed=0, dtype=torch.float64)
    end = {"t_end": 0.5, "until": None, "loss": "mse", "tolerances": flow.Tolerances(0.01, 0.01)}
    run = flow.gradient_flow(linearize(network), ds, **end)
    kernel = TangentKernel(network)
    frozen = flow.kernel_flow(kernel(ds.x_train), ds.y_train, kernel(ds.x_test, ds.x_train), **end)
    torch.testing.assert_close(run.outputs_test, frozen.outputs_test, rtol=1e-2, atol=1e-2)
    assert set(run.parameters) == {f"theta.{name}" for name, _ in network.named_parameters()}


@pytest.mark.parametrize("called", [False, True])
def test_what_torch_func_cannot_go_through_is_said(called):
    network, (x, _) = zoo.build("packed sequences")
    lin = linearize(network.recurrent, output=lambda o: o[0])
    if called:
        lin(x)
    with pytest.raises(ValueError, match=r"LSTM cannot go through torch\.func.*with an optimiser"):
        torch.func.vmap(lin)(x[None])


def test_unbiased_starts_at_zero_and_measures_from_its_origin():
    init, x = zoo.build("lenet")
    solution, delta = moved(init, 0.05)
    lin = linearize(init, anchor=solution.state_dict(), origin=init.state_dict(), biased=False)
    assert torch.equal(lin(x), torch.zeros_like(lin(x)))
    lin.theta.load_state_dict(solution.state_dict())
    expected = zoo.jacobian(solution, x) @ delta
    assert torch.allclose(lin(x), expected, atol=1e-10)
    same = linearize(solution, biased=False)
    assert torch.equal(same(x), torch.zeros_like(same(x)))


@pytest.mark.parametrize("optimiser", [torch.optim.SGD, torch.optim.Adam])
def test_trains_with_any_optimiser_as_the_kernel_says(optimiser):
    network, x = zoo.build("mlp one output")
    lin = linearize(network, biased=False)
    gram = TangentKernel(network)(x)
    y = torch.ones(5, 1, dtype=torch.float64)
    opt = optimiser(lin.parameters(), lr=1e-2)
    anchor = {name: p.clone() for name, p in lin.anchor.state_dict().items()}
    loss = 0.5 * (lin(x) - y).square().sum()
    loss.backward()
    opt.step()
    if optimiser is torch.optim.SGD:  # one step of gradient descent moves f by -lr K (f - y)
        assert torch.allclose(lin(x)[:, 0], 1e-2 * gram @ y[:, 0], atol=1e-10)
    assert all(torch.equal(p, anchor[name]) for name, p in lin.anchor.state_dict().items())
    assert 0.5 * (lin(x) - y).square().sum() < loss


def test_saves_and_loads(tmp_path):
    from safetensors.torch import load_file, save_file

    network, x = zoo.build("residual convolutions")
    lin = linearize(network)
    other, _ = moved(network, 0.1)
    lin.theta.load_state_dict(other.state_dict())
    save_file(
        {k: v.contiguous() for k, v in lin.state_dict().items()}, tmp_path / "lin.safetensors"
    )
    fresh = linearize(zoo.build("residual convolutions")[0])
    assert not torch.allclose(fresh(x), lin(x))
    fresh.load_state_dict(load_file(tmp_path / "lin.safetensors"))
    assert torch.equal(fresh(x), lin(x))


def test_batch_norm_does_not_mix_samples():
    """LIN-33, on a small ResNet with batch norm, even after lin.train()."""
    network = nets.ResNet18((1, 8, 8), 1, base=8, dtype=torch.float64).train()
    x = torch.randn(6, 1, 8, 8, generator=generator(0, "test"), dtype=torch.float64)
    lin = linearize(network, reset_statistics=True).train()
    other, _ = moved(network, 0.01)
    lin.theta.load_state_dict(other.state_dict())
    together = lin(x)
    assert torch.allclose(together[:1], lin(x[:1]), atol=1e-10)
    assert torch.allclose(together[2:4], lin(x[2:4]), atol=1e-10)
    assert network.training


def test_frozen_parameters_stay_out():
    network, _ = zoo.build("partly frozen")
    lin = linearize(network)
    names = [name for name, p in lin.named_parameters() if p.requires_grad]
    assert names == [
        "theta.net.0.bias",
        "theta.net.2.weight",
        "theta.readout.weight",
        "theta.readout.bias",
    ]


def test_wider_networks_stay_closer_to_their_linearisation():
    """LIN-35: relative distance after 100 steps falls with width, log-log slope in [-.9, -.3]."""
    ds = data.digits(200, 100, seed=0, dtype=torch.float64).pipe(
        data.flatten(), data.parity(), data.standardize(), data.sphere()
    )
    x, y = ds.x_train, ds.y_train[:, None]
    gaps, widths = [], [16, 64, 256]
    for width in widths:
        net = nets.FullyConnected(64, width, depth=2, seed=1, dtype=torch.float64)
        lin = linearize(net)
        start = net(x).detach()
        top = float(TangentKernel(net).top_eigenpairs(x, 1).values[0])
        for model in (net, lin):
            chosen = [p for p in model.parameters() if p.requires_grad]
            for _ in range(100):
                loss = 0.5 * (model(x) - y).square().sum()
                for p, g in zip(chosen, torch.autograd.grad(loss, chosen), strict=True):
                    p.data -= g / top
        with torch.no_grad():
            gaps.append(float((net(x) - lin(x)).norm() / (net(x) - start).norm()))
    assert gaps[0] > gaps[1] > gaps[2]
    slope = torch.log(torch.tensor(gaps[2] / gaps[0])) / torch.log(torch.tensor(256 / 16))
    assert -0.9 <= float(slope) <= -0.3


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"torch\.nn\.Module"):
        linearize(lambda x: x)
    network, _ = zoo.build("lenet")
    with pytest.raises(ValueError, match="missing"):
        linearize(network, anchor={})
    bad = {name: torch.zeros(1) for name in network.state_dict()}
    with pytest.raises(ValueError, match="does not fit the network"):
        linearize(network, anchor=bad)
    for p in network.parameters():
        p.requires_grad_(False)
    with pytest.raises(ValueError, match="no trainable parameter"):
        linearize(network)


def test_repr_says_whether_it_is_biased():
    network, _ = zoo.build("linear")
    assert "biased=True, 7 trainable parameters" in repr(linearize(network))
    assert isinstance(linearize(network).theta, nn.Linear)
