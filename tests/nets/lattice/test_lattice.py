"""Layers on lattices, pixels and finite spaces commute with their groups (EQU-51, -54 to -56)."""

import copy
import itertools

import numpy as np
import pytest
import torch
from torch import nn

from regimes import measure, theory
from regimes.nets import lattice, voxels


def draw(*shape, dtype=torch.float64, seed=0):
    source = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=source).to(dtype)


def everything(fields, side, *, shifts=True):
    """All elements of a group, each with a shift."""
    source = np.random.default_rng(0)
    for element in range(len(fields.representation.group)):
        move = source.integers(0, side, fields.axes) if shifts else np.zeros(fields.axes)
        yield element, tuple(int(each) for each in move)


def check(network, given, out, side, *, wrap, dtype, n=None):
    elements = list(everything(given, side, shifts=wrap))[:n]
    x = draw(len(elements), given.dim, *[side] * given.axes, dtype=dtype)
    measure.assert_equivariant(
        network,
        x,
        elements,
        lambda x, g: given.act(x, *g, wrap=wrap),
        lambda y, g: out.act(y, *g, wrap=wrap),
    )


@pytest.mark.parametrize(("name", "side"), [("p4m", 6), ("p4", 7), ("p6m", 7), ("p3", 5), ("T", 5)])
@pytest.mark.parametrize(
    ("one", "two"), [("trivial", "regular"), ("regular", "vector"), ("vector+trivial", "regular")]
)
def test_convolutions_commute_with_shifts_turns_and_mirrors(name, side, one, two, dtype):
    given, out = lattice.LatticeFields.of(name, one, 2), lattice.LatticeFields.of(name, two)
    conv = lattice.LatticeConv(given, out, padding="wrap", dtype=dtype)
    if conv.bias is not None:
        nn.init.constant_(conv.bias, 0.7)  # the bias commutes too
    check(conv, given, out, side, wrap=True, dtype=dtype)


@pytest.mark.parametrize("side", [6, 7])
def test_zeros_around_are_turned_about_the_middle(side):
    given, out = lattice.LatticeFields.of("p4m", "trivial"), lattice.LatticeFields.of("p4m")
    conv = lattice.LatticeConv(given, out, 5, dtype=torch.float64)
    check(conv, given, out, side, wrap=False, dtype=torch.float64)
    valid = lattice.LatticeConv(given, out, 5, padding="none", dtype=torch.float64)
    x = draw(1, 1, side, side)
    inside = conv(x)[..., 2 : side - 2, 2 : side - 2]
    assert torch.allclose(valid(x), inside, atol=1e-12)


def test_all_48_symmetries_of_the_cube():
    given, out = lattice.LatticeFields.of("Oh", "vector"), lattice.LatticeFields.of("Oh", "regular")
    conv = lattice.LatticeConv(given, out, padding="wrap", dtype=torch.float64)
    check(conv, given, out, 3, wrap=True, dtype=torch.float64)


def test_a_plain_convolution_is_not_equivariant():
    fields = lattice.LatticeFields.of("p4", "trivial")
    plain = lattice.LatticeConv(*[lattice.LatticeFields.of("p1", "trivial")] * 2, padding="wrap")
    with pytest.raises(AssertionError, match="not equivariant"):
        check(plain, fields, fields, 5, wrap=True, dtype=torch.float32)


def test_numbers_of_kernels():
    """To functions of D4 on 3 x 3 points: the weights of one element are free."""
    numbers, functions = (lattice.LatticeFields.of("p4m", kind) for kind in ("trivial", "regular"))
    assert lattice.LatticeConv(numbers, functions).weight.shape[2] == 9
    assert lattice.LatticeConv(functions, functions).weight.shape[2] == 72
    assert lattice.LatticeConv(numbers, numbers).weight.shape[2] == 3  # middle, sides, corners
    hexagon = lattice.LatticeFields.of("p6", "regular")
    assert lattice.LatticeConv(hexagon, hexagon).weight.shape[2] == 7 * 6
    wide = lattice.LatticeFields.of("p6", "trivial")
    assert lattice.LatticeConv(wide, wide, 5).weight.shape[2] == 4  # 19 points in four rings


@pytest.mark.parametrize(("name", "one", "two"), [("p4m", "vector", "regular"), ("p6", 1, 2)])
def test_the_kernel_is_a_sum_over_a_slow_basis(name, one, two):
    given, out = lattice.LatticeFields.of(name, one, 2), lattice.LatticeFields.of(name, two, 3)
    conv = lattice.LatticeConv(given, out, dtype=torch.float64)
    offsets = given.offsets(3)
    basis = theory.kernel_space_grid(
        given.representation.group, given.representation, out.representation, offsets, given.basis
    )
    flat = basis.reshape(len(basis), -1)
    assert np.allclose(flat @ flat.T, np.eye(len(basis)), atol=1e-10)
    d_out, d_in = out.representation.dim, given.representation.dim
    scale = (d_out / (len(basis) * given.number)) ** 0.5
    expected = np.zeros((3, d_out, 2, d_in, 3, 3))
    weight = conv.weight.detach().numpy()
    for o, i, b in itertools.product(range(3), range(2), range(len(basis))):
        for (p, q), block in zip(offsets, basis[b], strict=True):
            expected[o, :, i, :, p + 1, q + 1] += scale * weight[o, i, b] * block
    found = conv.kernel().detach().numpy()
    assert np.allclose(found, expected.reshape(found.shape), atol=1e-12)


def test_the_group_convolution_by_hand():
    """With regular fields the layer is a sum over the group and the points, weights free."""
    name, side = "p4", 5
    fields = lattice.LatticeFields.of(name)
    conv = lattice.LatticeConv(fields, fields, padding="wrap", bias=False, dtype=torch.float64)
    kernel = conv.kernel().detach().numpy()
    group, turns = fields.representation.group, fields.actions
    x = draw(1, 4, side, side).numpy()[0]
    out = np.zeros_like(x)
    for h, k in itertools.product(range(4), range(4)):
        inner = group.table[group.inverse[h], k]  # weights of h, k are those of 1, h^-1 k, turned
        for y in itertools.product((-1, 0, 1), repeat=2):
            there = turns[group.inverse[h]] @ y
            w = kernel[0, inner, there[0] + 1, there[1] + 1]
            out[h] += w * np.roll(x[k], (-y[0], -y[1]), (0, 1))
    found = conv(torch.from_numpy(x)[None])[0].detach().numpy()
    assert np.allclose(found, out, atol=1e-12)


@pytest.mark.parametrize("name", ["p3", "p6", "p6m"])
@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_kernels_on_hexagons_are_hexagons(name, size):
    fields, r = lattice.LatticeFields.of(name, "trivial"), size // 2
    found = {tuple(point) for point in fields.offsets(size).tolist()}
    steps = range(-r, r + 1)
    assert found == {(a, b) for a in steps for b in steps if abs(a + b) <= r}
    assert len(found) == 1 + 3 * r * (r + 1)


def test_a_lattice_of_ones_own():
    """Rectangles: half turns and mirrors, which need no equal axes."""
    G = theory.finite_group([np.diag([1.0, -1.0]), np.diag([-1.0, 1.0])])
    kinds = [theory.representation(G, kind) for kind in ("trivial", "regular")]
    given, out = (lattice.LatticeFields(rho, 1, ((1.0, 0.0), (0.0, 2.5))) for rho in kinds)
    conv = lattice.LatticeConv(given, out, padding="wrap", dtype=torch.float64)
    assert conv.weight.shape[2] == 9
    check(conv, given, out, 6, wrap=True, dtype=torch.float64)


def test_actions_compose():
    fields = lattice.LatticeFields.of("p6m", "vector")
    x, group = draw(1, 2, 7, 7), fields.representation.group
    for g, k in [(1, 2), (5, 7), (3, 11)]:
        twice = fields.act(fields.act(x, k, wrap=True), g, wrap=True)
        assert torch.allclose(twice, fields.act(x, int(group.table[g, k]), wrap=True), atol=1e-12)


def test_the_layer_is_trained_copied_and_stored():
    fields = lattice.LatticeFields.of("p4", "regular", 2)
    conv = lattice.LatticeConv(fields, fields, dtype=torch.float64, seed=1)
    conv(draw(2, 8, 5, 5)).square().sum().backward()
    assert conv.weight.grad.norm() > 0
    twin = copy.deepcopy(conv).to(torch.float32)
    other = lattice.LatticeConv(fields, fields, dtype=torch.float64, seed=2)
    other.load_state_dict(conv.state_dict())
    assert torch.equal(other.kernel(), conv.kernel())
    assert torch.allclose(twin.kernel().double(), conv.kernel(), atol=1e-6)
    assert torch.autograd.gradcheck(
        lambda w: torch.func.functional_call(conv, {"weight": w}, (draw(1, 8, 3, 3),)).sum(),
        (conv.weight.detach().requires_grad_(),),
    )


def test_outputs_start_with_unit_variance():
    fields = lattice.LatticeFields.of("p4m", "regular", 8)
    conv = lattice.LatticeConv(fields, fields, padding="wrap", seed=3)
    out = conv(draw(8, 64, 8, 8, dtype=torch.float32))
    assert out.var().item() == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("name", ["p4m", "p6", "O"])
def test_the_network_does_not_see_turns(name, dtype):
    net = lattice.LatticeCNN(2, 3, symmetry=name, widths=(2, 2), padding="wrap", dtype=dtype)
    given = lattice.LatticeFields.of(name, "trivial", 2)
    elements = list(everything(given, 5))[:8]
    x = draw(len(elements), 2, *[5] * given.axes, dtype=dtype)
    measure.assert_equivariant(
        net, x, elements, lambda x, g: given.act(x, *g, wrap=True), lambda y, g: y, size="rms"
    )
    assert (net(x) - net(x.flip(0))).abs().max() > 1e-3


@pytest.mark.parametrize(("j", "l"), [(0, 0), (1, 0), (1, 1)])
@pytest.mark.parametrize("size", [3, 5])
def test_kernels_for_all_rotations_are_among_those_for_the_cube(j, l, size):
    """Those of the steerable voxel networks, which were found in another way."""
    kinds = {0: "trivial", 1: "vector"}
    given, out = (lattice.LatticeFields.of("O", kinds[order]) for order in (l, j))
    basis = theory.kernel_space_grid(
        given.representation.group, given.representation, out.representation, given.offsets(size)
    )
    span = torch.from_numpy(basis).reshape(len(basis), -1)
    ours = voxels.kernel_basis(j, l, size).flatten(3).permute(0, 3, 1, 2).flatten(1)
    assert len(ours) < len(basis)
    assert torch.allclose(ours @ span.T @ span, ours, atol=1e-10)


# -- pixels of the plane --------------------------------------------------------------------------

QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
MIRROR = np.diag([1.0, -1.0])


@pytest.mark.parametrize(
    ("group", "one", "two"),
    [
        ("SO(2)", (0, 1), (1, 2)),
        ("O(2)", (0, 1), (0, 1, 2)),
        ("C8", "regular", (0, 1)),
        ("D4", (0, 1), "regular"),
    ],
)
def test_planar_convolutions_commute_with_what_permutes_pixels(group, one, two, dtype):
    given, out = lattice.PlanarFields(group, one, 2), lattice.PlanarFields(group, two)
    conv = lattice.PlanarConv(given, out, 5, dtype=dtype)
    elements = [QUARTER, QUARTER @ QUARTER]
    elements += [MIRROR, MIRROR @ QUARTER] if group[0] in "OD" else []
    x = draw(len(elements), given.dim, 8, 8, dtype=dtype)
    measure.assert_equivariant(conv, x, elements, given.act, out.act)


def test_planar_convolutions_nearly_commute_with_other_turns():
    given, out = lattice.PlanarFields("SO(2)", 0), lattice.PlanarFields("SO(2)", (0, 1))
    conv = lattice.PlanarConv(given, out, 5, dtype=torch.float64)
    axis = torch.arange(21, dtype=torch.float64) - 10
    x, y = torch.meshgrid(axis, axis, indexing="ij")
    blob = torch.exp(-((x - 2) ** 2 + 2 * (y + 1) ** 2) / 12)[None, None]
    for angle in (0.4, 1.1):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        one, two = conv(given.act(blob, turn)), out.act(conv(blob), turn)
        assert (one - two).norm() / two.norm() < 0.1
        wrong = conv(given.act(blob, turn.T))
        assert (wrong - two).norm() / two.norm() > 0.3


@pytest.mark.parametrize(
    ("group", "one", "two", "count"),
    [
        # rings 0, 1 with waves up to 0, 3: of the plane's rotations each wave pairs once
        ("SO(2)", 0, 0, 2),  # a constant on each ring
        ("SO(2)", 0, 1, 2),  # the wave 1 on ring 1, two directions
        ("O(2)", 0, 1, 1),  # and one of them with mirrors
        ("C4", 0, "regular", 1 + 7),  # everything on the rings
    ],
)
def test_numbers_of_planar_kernels(group, one, two, count):
    conv = lattice.PlanarConv(lattice.PlanarFields(group, one), lattice.PlanarFields(group, two), 3)
    assert conv.weight.shape[2] == count
    norms = conv.basis.flatten(1).norm(dim=1)
    assert torch.allclose(norms, norms[:1].expand_as(norms))


# -- finite spaces --------------------------------------------------------------------------------


def test_linear_maps_between_solids(dtype):
    O = theory.polyhedral_group("cube")
    H1, H2 = O.stabiliser([0, 0, 1]), O.stabiliser([1, 1, 0])
    tangent = theory.Representation(H1, H1.matrices[:, :2, :2])
    pi1 = theory.induced(O, H1, tangent)
    pi2 = theory.induced(O, H2, theory.representation(H2, "regular"))
    layer = lattice.EquivariantLinear(pi1, pi2, 2, 3, dtype=dtype)
    assert layer.weight.shape[2] == theory.kernel_dimension(
        O, H1, tangent, H2, theory.representation(H2, "regular")
    )
    x = draw(24, 2, 12, dtype=dtype)

    def act(pi):
        return lambda v, g: v @ torch.from_numpy(pi.matrices[g]).to(v).mT

    measure.assert_equivariant(layer, x, range(24), act(pi1), act(pi2))


# -- what does not fit ----------------------------------------------------------------------------

P4 = lattice.LatticeFields.of("p4")
REFUSED = {
    "symmetry": (lambda: lattice.LatticeFields.of("p5"), "unknown symmetry"),
    "kind": (lambda: lattice.LatticeFields.of("p4", "odd"), "unknown representation"),
    "groups": (lambda: lattice.LatticeConv(P4, lattice.LatticeFields.of("p6")), "one group and"),
    "size": (lambda: lattice.LatticeConv(P4, P4, 4), "odd number of points"),
    "padding": (lambda: lattice.LatticeConv(P4, P4, padding="mirror"), "unknown padding"),
    "channels": (
        lambda: lattice.LatticeConv(P4, P4)(draw(1, 3, 5, 5)),
        r"have shape \(n, 4, s, s\)",
    ),
    "sides": (lambda: P4.act(draw(1, 4, 5, 6), 1), "equal sides"),
    "element": (lambda: P4.act(draw(1, 4, 5, 5), 4), "from 0 to 3"),
    "shift": (lambda: P4.act(draw(1, 4, 5, 5), 1, (0.5, 0)), "whole numbers"),
    "even hexagons": (lambda: lattice.LatticeFields.of("p6").act(draw(1, 6, 6, 6), 1), "odd side"),
    "relu": (
        lambda: lattice.PermutedRelu(lattice.LatticeFields.of("p4", "vector")),
        "ReLU commutes with permutations alone",
    ),
    "widths": (lambda: lattice.LatticeCNN(1, 2, widths=()), "widths must be"),
    "planar group": (lambda: lattice.PlanarFields("SU(2)"), "group must be"),
    "planar kind": (lambda: lattice.PlanarFields("SO(2)", "regular"), "kind must be"),
    "mirror": (
        lambda: lattice.PlanarFields("SO(2)").act(draw(1, 1, 4, 4), MIRROR),
        "has no mirrors",
    ),
    "not in it": (lambda: lattice.PlanarFields("C2").act(draw(1, 1, 4, 4), QUARTER), "none of"),
    "planar size": (lambda: lattice.PlanarConv(*[lattice.PlanarFields("C2")] * 2, 4), "odd"),
    "linear": (
        lambda: lattice.EquivariantLinear(
            P4.representation, lattice.LatticeFields.of("p2").representation
        ),
        "one group",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused_in_a_sentence(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()
