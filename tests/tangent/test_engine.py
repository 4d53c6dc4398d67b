"""Every engine against a naive Jacobian, on one list of networks."""

import contextlib
import functools
import random

import pytest
import torch

from regimes.tangent import TangentKernel, _engine
from tests.tangent import zoo

ENGINES = ["auto", "pairs", "pixels", "expand", "jacobian", "products"]


@functools.cache
def reference(name):
    network, x = zoo.build(name)
    return zoo.jacobian(network, x)


def relative(found, true):
    return float((found.double() - true).norm() / true.norm())


# in float32 the plan of "auto" mixes "pairs" and "expand"
FLOAT32 = ["auto", "jacobian", "products"]
WAYS = [(e, torch.float64) for e in ENGINES] + [(e, torch.float32) for e in FLOAT32]


@pytest.mark.parametrize(("engine", "dtype"), WAYS)
@pytest.mark.parametrize("name", zoo.CASES)
def test_gram_equals_naive_jacobian(name, engine, dtype):
    network, x = zoo.build(name, dtype)
    true = zoo.gram(reference(name))
    tolerance = zoo.tolerance(name, dtype)
    kernel = TangentKernel(network, engine=engine)
    assert relative(kernel(x), true) < tolerance
    some = kernel(x, zoo.take(x, slice(1, 3)))
    expected = true[:, 1:3] if true.dim() == 2 else true[:, :, 1:3]
    assert relative(some, expected) < tolerance


@pytest.mark.parametrize("name", zoo.CASES)
def test_structured_engine_takes_every_parameter_it_should(name):
    network, x = zoo.build(name)
    plan = TangentKernel(network).plan(x)
    general = {p for layer in plan.layers if layer.path == "general" for p in layer.parameters}
    assert general == set(zoo.CASES[name].general)
    assert "why" in str(plan)


@pytest.mark.parametrize("name", zoo.CASES)
def test_features_diagonal_trace(name, dtype, tolerance):
    network, x = zoo.build(name, dtype)
    true = reference(name)
    kernel = TangentKernel(network)
    assert relative(kernel.features(x), true) < tolerance
    squares = true.square().sum(2)
    assert relative(kernel.diagonal(x), squares[:, 0] if squares.shape[1] == 1 else squares) < (
        tolerance
    )
    assert kernel.trace(x) == pytest.approx(float(squares.sum()), rel=10 * tolerance)


@pytest.mark.parametrize("name", zoo.CASES)
def test_layers_sum_to_the_whole(name):
    """ALI-04."""
    network, x = zoo.build(name)
    kernel = TangentKernel(network)
    layers = kernel.by_layer(x)
    total = sum(layers.values())
    assert relative(total, kernel(x)) < 1e-12
    assert relative(total, zoo.gram(reference(name))) < 1e-10


@pytest.mark.parametrize("name", zoo.CASES)
def test_any_question_in_any_order(name):
    """Answers do not depend on what was asked before, and the user's network stays as it was."""
    network, x = zoo.build(name)
    own = dict(network.named_parameters())
    jacobian = reference(name)
    n, c, _ = jacobian.shape
    flat = torch.einsum("iap,jbp->iajb", jacobian, jacobian).view(n * c, n * c)
    gram = zoo.gram(jacobian)
    v = torch.linspace(-1, 2, n * c, dtype=torch.float64)
    columns = v if c == 1 else v.view(n, c)
    top = torch.linalg.eigvalsh(flat).flip(0)[:2]
    kernel = TangentKernel(network, copy=False)
    asked = {
        "gram": lambda: relative(kernel(x), gram),
        "cross": lambda: relative(kernel(x, zoo.take(x, slice(0, 1))), gram[..., :1] if c == 1
                                  else gram[:, :, :1]),
        "layers": lambda: relative(sum(kernel.by_layer(x).values()), gram),
        "product": lambda: relative(kernel.matvec(x, columns), (flat @ v).view_as(columns)),
        "products": lambda: relative(
            kernel.matvec(x, torch.stack([columns, 2 * columns], -1))[..., 1],
            2 * (flat @ v).view_as(columns)),
        "eigenpairs": lambda: relative(kernel.top_eigenpairs(x, 2, method="lanczos").values, top),
        "features": lambda: relative(kernel.features(x), jacobian),
        "alignment": lambda: relative(kernel.target_alignment(x, columns), v @ flat @ v / n**2),
    }  # fmt: skip
    order = [*asked, "gram", "product"]
    random.Random(name).shuffle(order)
    for question in order:
        assert asked[question]() < 1e-9 + zoo.CASES[name].rounding, question
    assert all(own[key] is p for key, p in network.named_parameters())


@pytest.mark.parametrize("name", zoo.CASES)
def test_the_other_precision(name):
    """What is known of a network in one precision is not taken for the other."""
    network, x = zoo.build(name, torch.float32)
    gram = zoo.gram(reference(name))
    found = {kind: TangentKernel(network, precision=kind)(x) for kind in ("float32", "float64")}
    assert found["float64"].dtype == torch.float64
    for kernel in found.values():
        assert relative(kernel, gram) < 1e-5


def test_compiled_parts_run_as_they_are_written():
    network, x = zoo.build("compiled")
    inside = network._orig_mod
    plain = TangentKernel(inside)(x)
    assert TangentKernel(network).parameter_names == TangentKernel(inside).parameter_names
    inside[0] = torch.compile(inside[0])
    inside[2].compile()
    v = torch.ones(5, 2, dtype=torch.float64)
    for kernel in (TangentKernel(network), TangentKernel(inside, copy=False)):
        assert torch.equal(kernel(x), plain)
        assert relative(kernel.matvec(x, v), plain.sum((2, 3))) < 1e-12


@pytest.mark.parametrize("name", ["mlp without biases", "lenet", "attention", "nothing known"])
@pytest.mark.parametrize("engine", ENGINES)
def test_output_choices(name, engine):
    network, x = zoo.build(name)
    full = zoo.gram(reference(name))
    kernel = TangentKernel(network, engine=engine)
    c = full.shape[1]
    diagonal = torch.stack([full[:, a, :, a] for a in range(c)])
    assert relative(kernel(x, outputs="trace"), diagonal.mean(0)) < 1e-10
    assert relative(kernel(x, outputs="diagonal"), diagonal) < 1e-10
    assert relative(kernel(x, outputs=1), diagonal[1]) < 1e-10
    weights = torch.linspace(-1, 2, c, dtype=torch.float64)
    weighted = torch.einsum("iajb,a,b->ij", full, weights, weights)
    assert relative(kernel(x, outputs=weights), weighted) < 1e-10
    assert relative(kernel(x, outputs=weights.tolist()), weighted) < 1e-10


def test_result_does_not_depend_on_tiles(dtype):
    """A peer's best-known bug: results that change with the batch size."""
    network, x = zoo.build("lenet", dtype)
    x = torch.cat([x, x.flip(0), 0.5 * x])
    whole = TangentKernel(network)(x)
    tight = TangentKernel(network, memory="230KiB" if dtype == torch.float32 else "450KiB")
    plan = tight.plan(x)
    assert plan.block < len(x)
    assert relative(tight(x), whole.double()) < (1e-6 if dtype == torch.float32 else 1e-14)
    assert torch.equal(whole, TangentKernel(network)(x))


@pytest.mark.parametrize("name", ["mlp one output", "lenet", "attention", "tied convolution"])
def test_small_blocks_agree(name):
    network, x = zoo.build(name)
    kernel = TangentKernel(network)
    engine = kernel._engine
    true = zoo.gram(reference(name))

    def small(*args, **kwargs):
        from dataclasses import replace

        return replace(plan(*args, **kwargs), block=2, chunk=1)

    plan, engine.plan = engine.plan, small
    assert relative(kernel(x), true) < 1e-10
    assert relative(kernel(x, zoo.take(x, slice(0, 3))), true[..., :3] if true.dim() == 2
                    else true[:, :, :3]) < 1e-10  # fmt: skip


def test_gram_is_symmetric_and_positive(dtype):
    network, x = zoo.build("mlp without biases", dtype)
    gram = TangentKernel(network)(x)
    flat = gram.reshape(15, 15)
    assert torch.equal(flat, flat.T)
    assert torch.linalg.eigvalsh(flat.double()).min() > -1e-5 * flat.abs().max()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_are_named_by_plain_words(engine):
    network, _ = zoo.build("mlp one output")
    assert f"engine='{engine}'" in repr(TangentKernel(network, engine=engine))
    with pytest.raises(ValueError, match=f"unknown engine '{engine}s'; use one of: {engine}, "):
        TangentKernel(network, engine=engine + "s")


def test_precisions():
    network, x = zoo.build("lenet", torch.float32)
    true = zoo.gram(reference("lenet"))
    double = TangentKernel(network, precision="float64")(x)
    assert double.dtype == torch.float64
    half = TangentKernel(network, precision="bfloat16")(x)
    assert half.dtype == torch.float32
    assert 1e-5 < relative(half, true) < 2e-2
    assert relative(double, true) < 1e-6  # the weights were rounded to float32


def test_kernel_is_a_snapshot():
    network, x = zoo.build("mlp one output")
    kernel = TangentKernel(network)
    before = kernel(x)
    with torch.no_grad():
        for p in network.parameters():
            p.zero_()
    assert torch.equal(kernel(x), before)


def test_parameters_of_the_network_itself_are_one_layer():
    network, x = zoo.build("linear")
    assert list(TangentKernel(network).by_layer(x)) == [""]
    network, x = zoo.build("attention")
    layers = TangentKernel(network).by_layer(x)
    assert list(layers)[:3] == ["", "tokens", "attention"]
    owned = TangentKernel(network).by_layer(x, groups={"own": ["position", "start", "scale"]})
    assert relative(layers[""], owned["own"]) < 1e-12


def test_named_groups():
    network, x = zoo.build("residual convolutions")
    kernel = TangentKernel(network)
    groups = {"body": ["first", "second", "group_norm", "batch_norm"], "head": ["readout"]}
    found = kernel.by_layer(x, groups=groups)
    assert list(found) == ["body", "head"]
    assert relative(found["body"] + found["head"], kernel(x)) < 1e-12
    only = kernel.by_layer(x, groups={"weights": ["readout.weight"]})
    layer = kernel.by_layer(x)["readout"]
    assert not torch.allclose(only["weights"], layer)
    with pytest.raises(ValueError, match="matches no trainable parameter"):
        kernel.by_layer(x, groups={"none": ["nowhere"]})
    with pytest.raises(ValueError, match="is in groups"):
        kernel.by_layer(x, groups={"a": ["readout"], "b": ["readout.bias"]})


def test_what_is_compared_is_run_in_full_precision(monkeypatch):
    """In TF32 two batches of a trained network differ as if their samples were mixed."""
    asked = []

    def noting(network, device, *, tf32):
        asked.append(tf32)
        return contextlib.nullcontext()

    network, x = zoo.build(next(iter(zoo.CASES)))
    engine = TangentKernel(network)._engine
    engine.precision = "tf32"  # which no CPU has
    monkeypatch.setattr(_engine, "arithmetic", noting)
    engine.structure(x)
    assert asked == [False]
    with engine.arithmetic():
        assert asked == [False, True]
