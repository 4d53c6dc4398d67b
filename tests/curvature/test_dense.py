"""Hessians against second derivatives taken one by one, on every kind of network and both ways."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regimes import nets
from regimes._adapter import columns
from regimes._random import generator
from regimes.curvature import _dense, hessian
from regimes.curvature._chain import find_chain
from tests.tangent import zoo

WIDE = torch.float64
INPUTS = torch.randn(6, 3, generator=generator(0, "tests/dense"), dtype=WIDE)
SIGNS = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, -1.0], dtype=WIDE)
CLASSES = torch.tensor([0, 2, 1, 2, 0, 1])


def outputs_of(network, x):
    if isinstance(x, dict):
        return columns(network(**x))
    return columns(network(*x) if isinstance(x, tuple) else network(x))


def gradient(value, network, **options):
    parameters = [p for p in network.parameters() if p.requires_grad]
    found = torch.autograd.grad(value, parameters, materialize_grads=True, **options)
    return torch.cat([each.flatten() for each in found])


def check(network, x, mean, found):
    """The whole against row after row, H0 against J^T l'' J with all outputs in one vector."""
    f = outputs_of(network, x)
    slopes = gradient(mean(f), network, create_graph=True)
    rows = [gradient(slope, network, retain_graph=True) for slope in slopes]
    torch.testing.assert_close(found.total, torch.stack(rows), rtol=1e-9, atol=1e-11)
    J = torch.stack([gradient(each, network, retain_graph=True) for each in f.flatten()])
    second = torch.autograd.functional.hessian(mean, f.detach()).view(len(J), len(J))
    torch.testing.assert_close(found.gauss_newton, J.T @ second @ J, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found.loss, mean(f).detach())
    for part in (found.gauss_newton, found.network):
        assert torch.equal(part, part.mT)


def net(depth=2, out=1, activation="tanh", seed=0, **options):
    options = {"parametrization": "standard", "bias": True, "dtype": WIDE} | options
    return nets.FullyConnected(3, 4, depth, out, activation=activation, seed=seed, **options)


def made(kind):
    """A module whose parameters come from a generator of our own."""
    with torch.device("meta"):
        network = kind()
    network.to_empty(device="cpu").double()
    draws = generator(3, "tests/dense/networks")
    with torch.no_grad():
        for p in network.parameters():
            p.copy_(0.7 * torch.randn(p.shape, generator=draws, dtype=WIDE))
    return network.eval()


class ByHand(nn.Module):
    """A chain that only its forward tells, with layers out of order."""

    def __init__(self):
        super().__init__()
        self.last, self.first = nn.Linear(4, 1), nn.Linear(3, 5)
        self.middle, self.dropout = nn.Linear(5, 4, bias=False), nn.Dropout()

    def forward(self, x):
        h = F.leaky_relu(torch.flatten(self.first(x), 1), 0.2, inplace=True).square()
        return self.last(self.dropout(F.softplus(self.middle(h), beta=2.0))).squeeze(-1)


def logistic(f):
    return F.softplus(-SIGNS * f[:, 0]).mean()


CHAINS = [
    (lambda: net(0), "cross_entropy", logistic),
    (lambda: net(1, activation="relu"), "cross_entropy", logistic),
    (lambda: net(3, activation="relu"), "cross_entropy", logistic),
    (lambda: net(4, activation="softplus"), "cross_entropy", logistic),
    (lambda: net(2, parametrization="ntk", bias_std=0.5), "cross_entropy", logistic),
    (lambda: net(2, parametrization="mean_field", bias=False), "cross_entropy", logistic),
    (lambda: made(ByHand), lambda f, y: (f * y).cos(), lambda f: (f[:, 0] * SIGNS).cos().mean()),
]


@pytest.mark.parametrize("number", range(len(CHAINS)))
@pytest.mark.parametrize("way", ["formulas", "columns"])
def test_chains(number, way, monkeypatch):
    make, loss, mean = CHAINS[number]
    network = make()
    if way == "columns":
        monkeypatch.setattr(_dense, "find_chain", lambda network: None)
    else:
        monkeypatch.setattr(_dense, "_by_columns", None)
    check(network, INPUTS, mean, hessian(network, INPUTS, SIGNS, loss))


TARGETS = torch.outer(SIGNS, torch.arange(3.0, dtype=WIDE))
SEVERAL = {
    "softmax": ("cross_entropy", CLASSES, lambda f: F.cross_entropy(f, CLASSES)),
    "torch's": (nn.CrossEntropyLoss(), CLASSES, lambda f: F.cross_entropy(f, CLASSES)),
    "squares": ("mse", TARGETS, lambda f: 0.5 * (f - TARGETS).square().sum(1).mean()),
}


@pytest.mark.parametrize("kind", SEVERAL)
@pytest.mark.parametrize("way", ["formulas", "columns"])
def test_several_outputs(kind, way, monkeypatch):
    loss, y, mean = SEVERAL[kind]
    monkeypatch.setattr(
        _dense, *(("_by_columns", None) if way == "formulas" else ("find_chain", lambda _: None))
    )
    network = net(3, out=3)
    check(network, INPUTS, mean, hessian(network, INPUTS, y, loss))


ANY = ("residual convolutions", "tied embedding and layer", "attention written out", "two inputs",
       "inputs by name", "partly frozen", "embedding bag")  # fmt: skip


@pytest.mark.parametrize("name", ANY)
def test_any_network(name):
    network, x = zoo.build(name)
    y = torch.linspace(-1, 1, 5, dtype=WIDE)

    def each(f, labels):
        f = f.view(len(labels), -1)
        return f.sum(1).sin() * labels + f.square().sum(1)

    found = hessian(network, x, y, each)
    with _dense.members_of(
        network, x, y, each, memory="1GiB", dtype=None, output=None, own=False
    ).problem.arithmetic():
        check(network, x, lambda f: each(f, y).mean(), found)


class Skip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.b(x + torch.tanh(self.a(x)))


class Twice(Skip):
    def forward(self, x):
        return self.b(torch.tanh(self.a(torch.tanh(self.a(x)))))


class Scaled(Skip):
    def forward(self, x):
        return self.b(torch.tanh(2 * self.a(x)))


class Looks(Skip):
    def forward(self, x):
        h = self.a(x)
        return self.b(h if h.sum() > 0 else torch.tanh(h))


def hooked():
    network = net(1)
    network.register_forward_hook(lambda module, args, out: 2 * out)
    return network


def softmax():
    return nn.Sequential(nn.Linear(3, 2), nn.Softmax(-1), nn.Linear(2, 1))


def plain():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


STRANGE = [
    lambda: made(Skip),
    lambda: made(Twice),
    lambda: made(Scaled),
    lambda: made(Looks),
    lambda: made(softmax),
    lambda: nn.Sequential(nn.Tanh(), net(1)),
    hooked,
]


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_what_is_no_chain_is_not_taken_for_one(number):
    network = STRANGE[number]()
    assert find_chain(network) is None
    check(network, INPUTS, logistic, hessian(network, INPUTS, SIGNS))


def test_a_chain_of_other_outputs_is_seen_through(monkeypatch):
    wrong = find_chain(net(2, activation="relu"))
    monkeypatch.setattr(_dense, "find_chain", lambda network: wrong)
    network = net(2)
    check(network, INPUTS, logistic, hessian(network, INPUTS, SIGNS))


def test_a_chain_of_other_derivatives_is_seen_through(monkeypatch):
    network = made(plain)
    chain = find_chain(network)
    wrong = type(chain)(chain.layers, (lambda u: u.tanh().detach() + (u - u.detach()),))
    monkeypatch.setattr(_dense, "find_chain", lambda network: wrong)
    check(network, INPUTS, logistic, hessian(network, INPUTS, SIGNS))


class HalfDifferentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, w):
        ctx.save_for_backward(u, w)
        return u * w

    @staticmethod
    def backward(ctx, g):
        u, w = ctx.saved_tensors
        return g * w.detach(), (g * u)


def test_the_wrong_second_derivative_of_an_operation_is_refused():
    class Own(Skip):
        def forward(self, x):
            return self.b(HalfDifferentiable.apply(self.a(x), self.b.weight))

    with pytest.raises(ValueError, match="second derivative of Own is not"):
        hessian(made(Own), INPUTS, SIGNS)


def test_frozen_parameters_have_no_rows():
    network, whole = net(3), net(3)
    network.layers[1].weight.requires_grad_(False)
    network.layers[2].bias.requires_grad_(False)
    found, full = hessian(network, INPUTS, SIGNS), hessian(whole, INPUTS, SIGNS)
    rows = torch.cat([torch.arange(s.start, s.stop) for n, s in full.slices.items()
                      if n in found.names])  # fmt: skip
    for part in ("total", "gauss_newton", "network"):
        torch.testing.assert_close(found.part(part), full.part(part)[rows[:, None], rows])


@pytest.mark.parametrize("way", ["formulas", "columns"])
@pytest.mark.parametrize("out", [1, 3])
def test_ensembles_are_their_members(way, out, monkeypatch):
    ensemble = nets.stack(lambda seed: net(3, out, seed=seed, bias_std=0.1), range(3))
    y = SIGNS if out == 1 else CLASSES
    x = torch.stack([INPUTS, INPUTS.flip(0), INPUTS + 1])
    labels = torch.stack([y, y, y.roll(1, 0)])
    singles = [hessian(ensemble.member(r), INPUTS, y) for r in range(3)]
    own_singles = [hessian(ensemble.member(r), x[r], labels[r]) for r in range(3)]
    if way == "columns":
        monkeypatch.setattr(_dense, "find_chain", lambda network: None)
    for found, each in ((hessian(ensemble, INPUTS, y), singles),
                        (hessian(ensemble, x, labels, own=True), own_singles)):  # fmt: skip
        for name in ("gauss_newton", "network", "loss"):
            stacked = torch.stack([getattr(one, name) for one in each])
            torch.testing.assert_close(getattr(found, name), stacked)
        torch.testing.assert_close(found.spectrum()[1], each[1].spectrum())
        assert found.by_layer()["layers.0"].shape == (3, 16, 16)


def test_small_budgets_give_the_same(monkeypatch):
    network, other = net(3, 3, seed=1), made(Skip)
    wide = [hessian(network, INPUTS, CLASSES), hessian(other, INPUTS, SIGNS)]
    monkeypatch.setattr(_dense, "_AT_A_TIME", 1)
    size = sum(p.numel() for p in network.parameters())
    tight = [hessian(network, INPUTS, CLASSES, memory=8 * 5 * size**2 // 2 + 100),
             hessian(other, INPUTS, SIGNS)]  # fmt: skip
    for a, b in zip(wide, tight, strict=True):
        torch.testing.assert_close(a.gauss_newton, b.gauss_newton)
        torch.testing.assert_close(a.network, b.network)


def test_single_precision_and_a_precision_that_is_asked_for():
    network = net(2, dtype=torch.float32)
    fine = hessian(network, INPUTS, SIGNS, dtype=WIDE)
    coarse = hessian(network, INPUTS.float(), SIGNS)
    assert (fine.network.dtype, coarse.network.dtype) == (WIDE, torch.float32)
    assert network.layers[0].weight.dtype == torch.float32
    torch.testing.assert_close(coarse.total.double(), fine.total, rtol=1e-4, atol=1e-6)
    ensemble = hessian(nets.stack([network]), INPUTS, SIGNS, dtype=WIDE)
    torch.testing.assert_close(ensemble.total[0], fine.total)


def test_a_network_is_left_as_it_was():
    network = net(2)
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    network(INPUTS).sum().backward()
    slopes = [p.grad.clone() for p in network.parameters()]
    hessian(network, INPUTS, SIGNS)
    assert all(torch.equal(p, before[name]) for name, p in network.named_parameters())
    assert all(torch.equal(p.grad, g) for p, g in zip(network.parameters(), slopes, strict=True))


def test_layers_and_spectra():
    found = hessian(net(2), INPUTS, SIGNS)
    assert list(found.by_layer()) == ["layers.0", "layers.1", "layers.2"]
    first = found.by_layer("network")["layers.0"]
    assert torch.equal(first, found.network[:16, :16])
    values = found.spectrum("gauss_newton")
    assert bool((values[:-1] >= values[1:]).all())
    assert float(values.sum()) == pytest.approx(float(found.gauss_newton.trace()))
    assert repr(found) == "Hessian(41 parameters, float64)"
    with pytest.raises(ValueError, match="unknown part 'gauss'; use one of: gauss_newton"):
        found.spectrum("gauss")


REFUSED = [
    (lambda: hessian(net(2), INPUTS, SIGNS, memory="10kB"), "Curvature, which takes products"),
    (lambda: hessian(net(2), INPUTS, SIGNS, own=True), "own=True is for an Ensemble"),
    (lambda: hessian(nets.stack([net(2)]), INPUTS, SIGNS, own=True), r"inputs as a tensor \(1, n"),
    (lambda: hessian(nets.stack([net(2)]), INPUTS[None], SIGNS[None, :3], own=True), "one label"),
    (lambda: hessian(nets.stack([net(2)]), INPUTS, SIGNS, output=lambda o: o), "to nets.stack"),
    (lambda: hessian(3, INPUTS, SIGNS), "expected a torch.nn.Module, got int"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, words = REFUSED[number]
    with pytest.raises(ValueError, match=words):
        call()
