"""Outputs, inputs and data in the forms people have them, each against the plain one."""

import collections
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from regimes import _stream
from regimes._random import generator
from regimes.tangent import TangentKernel, linearize, nystrom_eigenpairs
from tests.tangent import zoo


class Gives(nn.Module):
    """A network of six outputs, and a function of them."""

    def __init__(self, function, inner):
        super().__init__()
        self.inner, self.function = inner, function

    def forward(self, x):
        return self.function(self.inner(x))


@dataclass
class Answer:
    """As a language model returns its logits: a loss, nothing, and what counts."""

    logits: torch.Tensor
    loss: torch.Tensor | None = None
    hidden: object = None


@pytest.fixture
def plain():
    """The network and its inputs, (5, 3, 4) -> (5, 6)."""
    network, x = zoo.build("sequences")
    return nn.Sequential(network.net[:3], nn.Linear(6, 2, dtype=x.dtype), nn.Flatten()), x


@pytest.fixture(autouse=True)
def same_weights():
    """Layers made here draw from a seed, and leave the global random state alone."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


KINDS = {
    "a value a sample": (lambda y: y[:, 0], None, 0),
    "further axes": (lambda y: y.unflatten(1, (3, 2)), None, "full"),
    "one output on two axes": (lambda y: y[:, :1, None], None, 0),
    "a tuple of one": (lambda y: (y,), None, "full"),
    "a mapping with a loss": (lambda y: {"loss": y.sum(), "logits": y}, None, "full"),
    "a dataclass": (lambda y: Answer(y, y.sum(), object()), None, "full"),
    "a choice": (lambda y: Answer(y, None, [2 * y]), lambda o: o.logits, "full"),
    "a choice of another": (lambda y: (y[:, :1], y), lambda o: o[-1], "full"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["auto", "jacobian", "products"])
def test_outputs(plain, kind, engine):
    network, x = plain
    function, output, which = KINDS[kind]
    expected = TangentKernel(network)(x, outputs=which)
    kernel = TangentKernel(Gives(function, network), engine=engine, output=output)
    torch.testing.assert_close(kernel(x), expected)
    flat = expected.reshape(5 * 6 if which == "full" else 5, -1)
    v = torch.linspace(-1, 1, len(flat), dtype=x.dtype)
    shape = (5, 6) if which == "full" else (5,)
    torch.testing.assert_close(kernel.matvec(x, v.view(shape)), (flat @ v).view(shape))


@pytest.mark.parametrize("kind", KINDS)
def test_linearised_outputs_keep_the_networks_axes(plain, kind):
    network, x = plain
    function, output, _ = KINDS[kind]
    lin = linearize(Gives(function, network), output=output)
    base = linearize(network)
    with torch.no_grad():
        for p, q in zip(lin.theta.parameters(), base.theta.parameters(), strict=True):
            p += 0.1
            q += 0.1
    plain_output = function(base(x))
    if kind not in ("a value a sample", "further axes", "one output on two axes"):
        plain_output = base(x)
    torch.testing.assert_close(lin(x), plain_output)


def test_two_choices_of_one_network_are_two_kernels(plain):
    network, x = plain
    both = Gives(lambda y: (y[:, 0], y[:, 1]), network)
    kernels = [TangentKernel(both, output=lambda o, i=i: o[i]) for i in (0, 1)]
    for i, kernel in enumerate(kernels):
        torch.testing.assert_close(kernel(x), TangentKernel(network)(x, outputs=i))


def test_outputs_counted_from_the_last(plain):
    kernel, x = TangentKernel(plain[0]), plain[1]
    assert torch.equal(kernel(x, outputs=-1), kernel(x, outputs=5))
    assert torch.equal(kernel(x, outputs=-6), kernel(x, outputs=0))


def test_any_mapping_is_inputs_by_name():
    network, x = zoo.build("inputs by name")
    encoding = collections.UserDict(x, pair=collections.UserDict(x["pair"]))
    kernel = TangentKernel(network)
    assert torch.equal(kernel(encoding), kernel(x))
    assert torch.equal(linearize(network)(**encoding), network(**x))


def test_arrays_take_the_networks_precision():
    network, x = zoo.build("two inputs", torch.float32)
    kernel = TangentKernel(network)
    arrays = tuple(t.double().numpy() for t in x)
    arrays[0].flags.writeable = False
    assert torch.equal(kernel(arrays), kernel(x))
    assert torch.equal(linearize(network)(*arrays), network(*x))
    v = np.ones((5, 2))
    assert torch.equal(kernel.matvec(arrays, v), kernel.matvec(x, torch.ones(5, 2)))
    assert torch.equal(kernel.target_alignment(x, v), kernel.target_alignment(x, torch.ones(5, 2)))
    tokens, index = zoo.build("attention")
    assert torch.equal(TangentKernel(tokens)(index.numpy()), TangentKernel(tokens)(index))
    with pytest.raises(ValueError, match="holds no numbers"):
        kernel(np.array(["a", "b"]))


CALLS = {
    "gram": lambda k, x: k(x),
    "cross gram": lambda k, x: k(x, torch.ones(2, 6, dtype=torch.float64)),
    "layers": lambda k, x: k.by_layer(x)["0"],
    "matvec": lambda k, x: k.matvec(x, torch.ones(5, dtype=torch.float64)),
    "eigenpairs": lambda k, x: k.top_eigenpairs(x, 2, method="lanczos").values,
    "nystrom": lambda k, x: nystrom_eigenpairs(k, x, 3, 1).values,
    "condition": lambda k, x: torch.tensor(k.condition(x).largest),
    "features": lambda k, x: k.features(x),
    "diagonal": lambda k, x: k.diagonal(x),
    "alignment": lambda k, x: k.target_alignment(x, torch.ones(5, dtype=torch.float64)),
    "trace": lambda k, x: torch.tensor(k.stochastic_trace(x, 4).value),
}


@pytest.mark.parametrize("call", CALLS)
def test_batches_that_come_once(call):
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    batches = ((part, "label") for part in x.split(2))
    torch.testing.assert_close(CALLS[call](kernel, batches), CALLS[call](kernel, x))


def test_a_shuffled_loader_and_one_by_name():
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    draws = generator(0, "test/loader")
    loader = DataLoader(TensorDataset(x, x[:, 0]), batch_size=2, shuffle=True, generator=draws)
    seen = kernel.prepared(loader)
    assert not torch.equal(seen, x)
    assert torch.equal(seen.sort(0).values, x.sort(0).values)
    by_name, named = zoo.build("inputs by name")
    loader = DataLoader(list(range(5)), batch_size=2, collate_fn=lambda rows: zoo.take(named, rows))
    found = TangentKernel(by_name)(loader)
    torch.testing.assert_close(found, TangentKernel(by_name)(named))


def test_a_loader_beyond_the_budget_goes_to_a_file(monkeypatch):
    """200 samples of 8 KiB are 1.6 MB; a tenth of a twentieth of that is kept in memory."""
    moved = []
    monkeypatch.setattr(
        _stream._Column,
        "move_to_file",
        lambda c, f=_stream._Column.move_to_file: moved.append(f(c)),
    )
    draws = generator(0, "test/loader")
    network = nn.Linear(1024, 1, dtype=torch.float64)
    parts = [torch.randn(20, 1024, generator=draws, dtype=torch.float64) for _ in range(10)]
    found = TangentKernel(network, memory="3MiB")(iter(parts))
    assert moved
    torch.testing.assert_close(found, TangentKernel(network)(torch.cat(parts)))
    rounded = TangentKernel(network, memory="3MiB", precision="float32")
    torch.testing.assert_close(rounded(iter(parts)), found.float(), rtol=1e-3, atol=1e-3)
    parts[7][3, 5] = torch.nan
    with pytest.raises(ValueError, match="first in sample 143"):
        TangentKernel(network, memory="3MiB")(iter(parts))
    parts[7][3, 5] = 0.0
    moved.clear()
    TangentKernel(network, memory="100MiB")(iter(parts))
    assert not moved


def test_loaders_that_do_not_fit():
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    with pytest.raises(ValueError, match=r"the batches of a loader differ: \(2, 6\).*one length"):
        kernel(iter([x[:2], x[2:, :5]]))
    with pytest.raises(ValueError, match="the batches of a loader differ in form"):
        kernel(iter([x[:2], {"x": x[2:]}]))
    with pytest.raises(ValueError, match="gave no batch"):
        kernel(iter([]))
