"""The matrix-free Hessian against plain autograd on every network of the zoo."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from regimes.curvature import Curvature
from regimes.curvature._parts import PARTS
from tests.curvature.zoo import CASES, Tokens, drawn, hessians, made


def curvature(name, dtype=torch.float64, **options):
    case = CASES[name]
    return Curvature(*case.arguments(dtype), output=case.output, **options)


@pytest.mark.parametrize("name", CASES)
def test_products_are_those_of_autograd(name, dtype, tolerance):
    curve = curvature(name, dtype)
    for part in PARTS:
        true = hessians(name)[part]
        v = drawn(curve.size, 3, seed=5)
        for along in (v, v[:, 0]):  # several columns, and one
            found = curve.product(along.to(dtype), part)
            assert found.dtype == dtype
            scale = hessians(name)["total"].norm() + hessians(name)["network"].norm()
            assert (found.double() - true @ along).norm() <= 5 * tolerance * scale * along.norm()


@pytest.mark.parametrize("part", PARTS)
def test_blocks_of_points_and_one_vector_at_a_time_change_nothing(part):
    whole, blocks = curvature("convolutions"), curvature("convolutions")
    v = drawn(whole.size, 2)
    expected = whole.product(v, part)
    blocks._products._limits = lambda *_: (2, 1)
    torch.testing.assert_close(blocks.product(v, part), expected)
    assert blocks._products._kept == {}  # nothing is kept that does not fit


def test_a_small_budget_makes_blocks_and_a_smaller_one_is_refused():
    curve = curvature("mlp")
    curve.product(drawn(curve.size))
    point = curve._products._point_bytes[False]
    fixed = 4 * 8 * curve.size
    tight = curvature("mlp", memory=fixed + 10 * point)
    assert tight._products._limits("total", 1) == (2, 1)
    torch.testing.assert_close(tight.product(drawn(curve.size)), curve.product(drawn(curve.size)))
    with pytest.raises(ValueError, match="too small for one product: at least"):
        curvature("mlp", memory=fixed).product(drawn(curve.size))


def test_a_point_weighs_the_same_among_many():
    net, x, y, loss = CASES["convolutions"].arguments()
    few, many = (
        Curvature(net, x, y, loss),
        Curvature(net, x.repeat(40, 1, 1, 1), y.repeat(40), loss),
    )
    for curve in (few, many):
        curve.product(drawn(curve.size))
    assert few._products._point_bytes == many._products._point_bytes


def test_the_graph_is_kept_between_products():
    curve = curvature("mlp")
    v = drawn(curve.size)
    curve.product(v)
    (tape,) = curve._products._kept.values()
    curve.product(2 * v)
    assert curve._products._kept[False] is tape


def test_the_users_network_is_untouched():
    net, x, y, loss = CASES["convolutions"].arguments()
    before = copy.deepcopy(net.state_dict())
    for p in net.parameters():
        p.grad = torch.full_like(p, 3.0)
    state = torch.get_rng_state()
    curve = Curvature(net, x, y, loss)
    curve.top_eigenpairs(2)
    curve.trace("network")
    curve.by_layer("gauss_newton")
    curve.spectral_density(steps=5)
    assert torch.equal(state, torch.get_rng_state())
    after = net.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(bool((p.grad == 3).all()) for p in net.parameters())
    assert not net.training
    with torch.no_grad():
        next(net.parameters()).add_(1.0)  # training on does not change what was asked about
    torch.testing.assert_close(
        curve.product(drawn(curve.size)),
        hessians("convolutions")["total"] @ drawn(curve.size),
    )


def test_a_loader_gives_the_same():
    net, x, y, loss = CASES["mlp"].arguments()
    pairs = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(pairs, batch_size=2, generator=torch.Generator())
    curve = Curvature(net, loader, loss=loss)
    torch.testing.assert_close(
        curve.product(drawn(curve.size)), hessians("mlp")["total"] @ drawn(curve.size)
    )


def test_numpy_comes_in_and_the_operator_is_scipys():
    net, x, y, loss = CASES["mlp"].arguments()
    operator = Curvature(net, x.numpy(), y.numpy(), loss).operator("network")
    v = drawn(operator.shape[0], 2).numpy()
    true = hessians("mlp")["network"].numpy()
    np.testing.assert_allclose(operator @ v, true @ v, atol=1e-12)
    np.testing.assert_allclose(operator @ v[:, 0], true @ v[:, 0], atol=1e-12)


def test_another_precision_on_request():
    net, x, y, loss = CASES["mlp"].arguments(torch.float32)
    found = Curvature(net, x, y, loss, dtype=torch.float64).product(drawn(43))
    assert found.dtype == torch.float64


def test_layers_are_the_diagonal_blocks():
    curve = curvature("convolutions")
    for part in PARTS:
        matrix = hessians("convolutions")[part]
        layers = curve.by_layer(part, samples=200, r=2)
        assert list(layers) == ["0", "1", "3", "6"]
        for name, layer in layers.items():
            inside = [s for n, s in curve.slices.items() if n.startswith(f"{name}.")]
            where = torch.cat([torch.arange(s.start, s.stop) for s in inside])
            block = matrix[where][:, where]
            assert layer.size == len(block)
            assert abs(layer.trace.value - float(block.trace())) <= 4 * layer.trace.error + 1e-12
            expected = torch.linalg.eigvalsh(block).flip(0)[:2]
            torch.testing.assert_close(layer.top.values, expected)


def test_a_layer_has_the_methods_of_the_whole():
    curve = curvature("convolutions")
    layer, span = curve.layers()["6"], slice(curve.slices["6.weight"].start, None)
    block = hessians("convolutions")["total"][span, span]
    v = drawn(layer.size)
    torch.testing.assert_close(layer.product(v), block @ v)
    torch.testing.assert_close(layer.top_eigenpairs(1).values, torch.linalg.eigvalsh(block)[-1:])
    assert layer.slices == {"6.weight": slice(0, 36), "6.bias": slice(36, 39)}
    assert layer.spectral_density(steps=5).size == 39
    assert repr(layer).startswith("Curvature(Sequential, 39 parameters")
    assert curve.names[0] == "0.weight"  # the whole is what it was


@pytest.mark.parametrize("name", ["convolutions", "tokens", "own loss"])
def test_the_matrix_is_what_the_products_are_of(name):
    curve = curvature(name)
    found = curve.dense()
    for part in PARTS:
        v = drawn(curve.size)
        torch.testing.assert_close(curve.product(v, part), found.part(part) @ v)
    with pytest.raises(ValueError, match="of the whole network"):
        next(iter(curve.layers().values())).dense()


def test_groups_are_the_readers():
    curve = curvature("convolutions")
    layers = curve.by_layer(groups={"images": ["0", "1", "3"], "head": ["6.weight"]}, samples=4)
    assert {name: layer.size for name, layer in layers.items()} == {"images": 51, "head": 36}


def test_layers_with_fewer_parameters_than_values():
    layers = curvature("tied").by_layer(r=5, samples=2)
    assert {name: len(layer.top.values) for name, layer in layers.items()} == {"": 1, "layer": 5}


class OnceOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g


class Once(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return OnceOnly.apply(self.layer(x))


NAN = float("nan")
REFUSED = [
    (lambda c: c.product(torch.ones(3)), "expected a vector of shape (43,)"),
    (lambda c: c.product("v"), "got 'v'"),
    (lambda c: c.product(torch.full((43,), NAN)), "is not finite in float64"),
    (lambda c: c.product(torch.ones(43), "hessian"), "unknown part 'hessian'"),
    (lambda c: c.top_eigenpairs(44), "44 eigenpairs asked of a Hessian of 43 rows"),
    (lambda c: c.top_eigenpairs(1, largest="top"), "unknown end of the spectrum 'top'"),
    (lambda c: c.top_eigenpairs(1, tolerance=NAN), "tolerance must be a finite number"),
    (lambda c: c.top_eigenpairs(1, most=0), "most must be an integer >= 1"),
    (lambda c: c.trace(samples=5), "samples must be an integer >= 6"),
    (lambda c: c.trace(method="exact"), "unknown method 'exact'"),
    (lambda c: c.spectral_density(vectors=1), "vectors must be an integer >= 2"),
    (lambda c: c.by_layer(groups={"a": ["5"]}), "matches no trainable parameter"),
    (lambda c: c.by_layer(groups=["0"]), "groups must map names"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    call, words = REFUSED[number]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words differ
        call(curvature("mlp"))
    assert words in str(caught.value)


def test_what_cannot_be_differentiated_twice_is_named():
    _, x, y, loss = CASES["mlp"].arguments()
    with pytest.raises(ValueError, match="once_differentiable"):
        Curvature(made(Once), x, y, loss).product(torch.ones(15))


def test_vectors_beyond_the_memory_are_refused_or_taken_in_turn():
    curve, free = curvature("mlp", memory="60kB"), curvature("mlp")
    with pytest.raises(ValueError, match=r"15 vectors of 43 entries take .* method='hutchinson'"):
        curve.trace(samples=30)
    assert curve._hold(30, "", least=1) < 30
    found, expected = (c.trace(samples=30, method="hutchinson") for c in (curve, free))
    assert found.value == pytest.approx(expected.value)
    assert found.error == pytest.approx(expected.error)
    found, expected = (c.spectral_density(steps=4).mean(torch.square) for c in (curve, free))
    assert found.value == pytest.approx(expected.value)


def test_it_shows_what_it_is_of():
    curve = curvature("tokens")
    assert repr(curve) == (
        f"Curvature(Tokens, {curve.size} parameters, 'cross_entropy' of 5 points, float64)"
    )
    assert f"{curve.size} in 9 tensors" in curve._repr_html_()
    assert isinstance(CASES["tokens"].net, Tokens)
    assert curve.names[0] == "embed.weight"
    assert curve.loss == "cross_entropy"
