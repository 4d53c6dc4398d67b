"""Networks of points: equivariance, attention, forces, tensors (EQU-43, -44, -45, -47)."""

import pytest
import torch

pytest.importorskip("e3nn", reason="needs the extra 'equivariant'")

from regimes._rotations import haar_rotations
from regimes.measure import assert_equivariant
from regimes.nets import points, voxels

FIELDS = "3x0e + 2x0o + 2x1o + 1x1e + 1x2e"


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def clouds(n=2, count=6, seed=0, dtype=torch.float64):
    return torch.randn(n, count, 3, generator=draws(seed), dtype=torch.float64).to(dtype)


def turns():
    proper = haar_rotations(3, draws(4))
    return [*proper, *-proper]


def acts(irreps):
    """A rotation or mirror on fields (..., dim), as the voxels' field types have it."""
    kind = voxels.FieldType.of(str(irreps).replace("+", " + "))
    return lambda x, R: x @ kind.matrix(R).to(x).T


def packed(layer):
    """A layer of fields and positions as one of a single tensor."""
    width = layer.irreps_in.dim
    return lambda x: layer(x[..., :width], x[..., width:])


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [points.PointConvolution, points.EquivariantAttention])
def test_layers_commute_with_rotations_mirrors_and_shifts(kind, precision):
    layer = kind(FIELDS, FIELDS, radius=2.0, dtype=precision)
    fields = torch.randn(6, 6, layer.irreps_in.dim, generator=draws(1), dtype=torch.float64)
    given = torch.cat([fields, clouds(6)], -1).to(precision)
    act, whole = acts(FIELDS), acts(FIELDS + " + 1x1o")
    assert_equivariant(packed(layer), given, turns(), whole, act)
    moved = given.clone()
    moved[..., -3:] += torch.tensor([3.0, -1.0, 0.5]).to(precision)
    assert torch.allclose(packed(layer)(moved), packed(layer)(given), atol=1e-4)


def test_networks_commute_and_pool():
    net = points.PointNetwork("0o + 1x0e + 1x1o + 1x2e", radius=2.0, mul=3, dtype=torch.float64)
    at = clouds(6)
    assert_equivariant(net, at, turns(), lambda x, R: x @ R.T, acts(net.irreps_out))
    order = torch.randperm(6, generator=draws(2))
    assert torch.allclose(net(at[:, order]), net(at))
    each = points.PointNetwork("1x1o", radius=2.0, mul=2, pool="none", dtype=torch.float64)
    assert torch.allclose(each(at[:, order]), each(at)[:, order])


def test_the_radius_is_kept():
    source, target = points.radius_graph(clouds(3, 5), 1.2)
    flat = clouds(3, 5).flatten(0, 1)
    assert ((flat[source] - flat[target]).norm(dim=1) < 1.2).all()
    assert torch.equal(source // 5, target // 5)
    every = (torch.cdist(clouds(3, 5), clouds(3, 5)) < 1.2).sum() - 15
    assert len(source) == every
    with pytest.raises(ValueError, match="positions are real"):
        points.radius_graph(torch.zeros(3, 3), 1.0)


def test_attention_weights_sum_to_one():
    layer = points.EquivariantAttention("2x0e + 1x1o", "0e", radius=2.5, dtype=torch.float64)
    at, fields = clouds(), torch.randn(12, 5, generator=draws(1), dtype=torch.float64)
    edges = layer.edges(at)
    weights = layer.weights(fields, edges)
    sums = torch.zeros(12, 1).double().index_add(0, edges.target, weights.detach())
    heard = torch.zeros(12).bool()
    heard[edges.target] = True
    assert torch.allclose(sums[heard], torch.ones(int(heard.sum()), 1).double())
    assert (weights > 0).all()


def test_seeds_and_global_state():
    before = torch.get_rng_state()
    one, two, other = (points.PointNetwork("0e", radius=2.0, mul=2, seed=s) for s in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    at = clouds(dtype=torch.float32)
    assert torch.equal(one(at), two(at))
    assert not torch.equal(one(at), other(at))
    assert torch.get_default_dtype() == torch.float32


def test_forces_by_energy_do_no_work_around_a_loop():
    field = points.force_field("energy", radius=3.0, mul=2, dtype=torch.float64)
    at = clouds(1, 4)
    jacobian = torch.autograd.functional.jacobian(field, at).reshape(12, 12)
    assert torch.allclose(jacobian, jacobian.T, atol=1e-10)
    step = 1e-5 * torch.randn(at.shape, generator=draws(3), dtype=torch.float64)
    change = field.energy(at + step) - field.energy(at - step)
    assert torch.allclose(change, -2 * (field(at) * step).sum(), rtol=1e-6)
    assert not field(at).detach().requires_grad
    with torch.no_grad():
        assert field(at).shape == at.shape
    assert torch.allclose(field(at).sum(1), torch.zeros(1, 3).double(), atol=1e-10)


def test_direct_forces_turn_with_the_atoms():
    field = points.force_field("direct", radius=3.0, mul=2, dtype=torch.float64)
    turn = lambda x, R: x @ R.T  # noqa: E731
    assert_equivariant(field, clouds(6), turns(), turn, turn)
    with pytest.raises(ValueError, match="no energy"):
        field.energy(clouds())
    with pytest.raises(ValueError, match="kind of force field"):
        points.force_field("harmonic", radius=1.0)


@pytest.mark.parametrize(
    ("formula", "first", "irreps"),
    [
        ("ij", {"i": "1o", "j": "1o"}, "1x0e+1x1e+1x2e"),
        ("ij=ji", {"i": "1o"}, "1x0e+1x2e"),
        ("ij=-ji", {"i": "1o"}, "1x1e"),
        ("ijkl=jikl=klij", {"i": "1o"}, "2x0e+2x2e+1x4e"),
    ],
)
def test_tensors_come_apart(formula, first, irreps):
    parts = points.decompose_tensor(formula, **first)
    assert str(parts.irreps) == irreps
    flat = parts.basis.flatten(1)
    assert torch.allclose(flat @ flat.T, torch.eye(len(flat)).double(), atol=1e-10)
    R, turned = haar_rotations(1, draws())[0], parts.basis
    for axis in range(1, turned.ndim):  # T_i.. -> R_ia T_a..
        turned = torch.tensordot(turned, R, ([axis], [0])).movedim(-1, axis)
    D = parts.irreps.D_from_matrix(R.float()).double()
    assert torch.allclose(turned, torch.einsum("ij,j...->i...", D, parts.basis), atol=1e-5)


def test_what_is_no_formula_is_refused():
    with pytest.raises(ValueError, match="formula is written like"):
        points.decompose_tensor("ij=-ji", k="1o")


def test_an_order_parameter_starts_symmetric():
    net = points.PointNetwork(
        "1o", radius=5.0, mul=2, pool="none", order_parameter="0e + 1o + 2e", dtype=torch.float64
    )
    assert net.order.tolist() == [1.0] + [0.0] * 8
    with torch.no_grad():  # e3nn starts without neighbours
        for name, parameter in net.named_parameters():
            if "alpha" in name:
                parameter.normal_(generator=draws())
    at = clouds(4)
    turn = lambda x, R: x @ R.T  # noqa: E731
    assert_equivariant(net, at, turns()[:4], turn, turn)
    with torch.no_grad():
        net.order[5] = 1.0
    with pytest.raises(AssertionError, match="not equivariant"):
        assert_equivariant(net, at, turns()[:4], turn, turn)
