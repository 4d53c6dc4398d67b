"""The guard: silent where all is well, loud where an engine is wrong."""

from dataclasses import replace

import pytest
import torch

from regimes.tangent import TangentKernel, _engine, _products
from regimes.tangent._guard import Guard
from tests.tangent import zoo

OUTPUTS = ("full", "trace", "diagonal", 1, [0.5, -1.0])


def ask(kernel, x, c):
    """Everything that is compared."""
    v = torch.linspace(0, 1, zoo.length(x) * c, dtype=torch.float64)
    v = v if c == 1 else v.view(-1, c)
    kernel(x)
    kernel(x, zoo.take(x, slice(0, 2)))
    kernel.by_layer(x)
    kernel.diagonal(x)
    kernel.features(x)
    kernel.matvec(x, v)
    kernel.target_alignment(x, v)
    kernel.stochastic_trace(x, 2)


@pytest.mark.parametrize("name", ["lenet", "attention", "selective scan", "complex parameters",
                                  "equilibrium", "linear", "sparse embeddings"])  # fmt: skip
def test_silent_where_all_is_well(name, dtype):
    network, x = zoo.build(name, dtype)
    kernel = TangentKernel(network, check=True)
    ask(kernel, x, kernel._engine.structure(x).outputs)


@pytest.mark.parametrize("engine", ["auto", "jacobian", "products"])
def test_every_choice_of_outputs_is_compared(engine, monkeypatch):
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network, check=True, engine=engine)
    for outputs in OUTPUTS:
        kernel(x, outputs=outputs)
        kernel(x, zoo.take(x, slice(0, 2)), outputs=outputs)
    # 1 % off, which no eye would see
    name = "_gram_by_products" if engine == "products" else "_grams"
    grams = getattr(_engine.Engine, name)

    def off(*args):
        found = grams(*args)
        return 1.01 * found if isinstance(found, torch.Tensor) else {
            key: 1.01 * value for key, value in found.items()}  # fmt: skip

    monkeypatch.setattr(_engine.Engine, name, off)
    for outputs in OUTPUTS:
        with pytest.raises(ValueError, match=r"the kernel at samples .* is wrong: .*jacobian"):
            kernel(x, outputs=outputs)


def test_a_wrong_layer_is_named(monkeypatch):
    network, x = zoo.build("lenet")
    grams = _engine.Engine._grams

    kernel = TangentKernel(network, check=True)
    last = list(kernel.by_layer(x))[-1]
    monkeypatch.setattr(_engine.Engine, "_grams", lambda *a: {
        key: value * (1.01 if key == last else 1.0) for key, value in grams(*a).items()
    })  # fmt: skip
    with pytest.raises(ValueError, match=f"the kernel of '{last}' at samples"):
        kernel.by_layer(x)


@pytest.mark.parametrize("part", ["pull", "push"])
def test_wrong_products(part, monkeypatch):
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network, check=True)
    v = torch.ones(5, 2, dtype=torch.float64)
    kernel.matvec(x, v)
    true = getattr(_products, part)

    def off(*args):
        found = true(*args)
        if part == "push":
            return 1.01 * found
        return {key: 1.01 * value for key, value in found.items()}

    monkeypatch.setattr(_products, part, off)
    with pytest.raises(ValueError, match="a product with the kernel is wrong"):
        kernel.matvec(x, v)
    if part == "pull":
        with pytest.raises(ValueError, match="is wrong"):
            kernel.target_alignment(x, v)


def test_wrong_lengths(monkeypatch):
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network, check=True)
    true = _engine.diagonal
    monkeypatch.setattr(_engine, "diagonal", lambda *args: 1.01 * true(*args))
    with pytest.raises(ValueError, match="squared length of a gradient is wrong"):
        kernel.diagonal(x)


def test_an_unasked_comparison_is_for_first_and_long_calls():
    guard = Guard(False, torch.float64)
    assert not guard.due("short", 0.011, 1.0)
    assert not guard.due("short", 0.0, 1.0)  # not the first of its kind
    assert guard.due("long", 0.009, 1.0)
    assert not guard.due("long", 0.009, 1.0)
    asked = Guard(True, torch.float64)
    assert asked.due("short", 10.0, 1.0)
    assert asked.due("short", 10.0, 1.0)


def test_a_first_long_call_is_compared(monkeypatch):
    network, x = zoo.build("lenet")
    kernel = TangentKernel(network)
    engine = kernel._engine
    found = engine.structure
    monkeypatch.setattr(engine, "structure", lambda *args: replace(found(*args), seconds=0.0))
    grams = engine._grams
    monkeypatch.setattr(engine, "_grams", lambda *a: {k: 2 * v for k, v in grams(*a).items()})
    with pytest.raises(ValueError, match="is wrong"):
        kernel(x)
    kernel(x)  # the second is not
