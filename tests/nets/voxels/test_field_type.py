"""Field types: how fields are written, and how rotations act on them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes._rotations import haar_rotations
from regimes.nets import voxels


def rotations(seed, n=2):
    return haar_rotations(n, torch.Generator().manual_seed(seed))


def field_of(kind, side=7, n=2, seed=0):
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(n, kind.dim, side, side, side, generator=draws, dtype=torch.float64)


def test_numbers_and_texts_say_the_same():
    assert voxels.FieldType.of((4, 0, 2)) == voxels.FieldType.of("4x0 + 2x2")
    assert voxels.FieldType.of("1o").entries == (voxels.Fields(1, 1, -1),)
    assert str(voxels.FieldType.of("2x0e+1o")) == "2x0e + 1x1o"


@pytest.mark.parametrize(
    ("given", "part"),
    [("4x", "written like"), ((0, 0), "at least one"), ("1x0e + 1x1", "parity"), (3.5, "numbers")],
)
def test_what_is_no_field_type_is_refused(given, part):
    with pytest.raises(ValueError, match=part):
        voxels.FieldType.of(given)


@given(st.integers(0, 6), st.integers(0, 10_000))
def test_rotations_act_as_a_representation(order, seed):
    one, two = rotations(seed)
    D = voxels.wigner
    assert torch.allclose(D(order, one) @ D(order, two), D(order, one @ two), atol=1e-12)
    assert torch.allclose(D(order, one) @ D(order, one).T, torch.eye(2 * order + 1).double())
    assert torch.allclose(D(order, -one), (-1) ** order * D(order, one))


def test_harmonics_are_orthonormal_up_to_their_norm():
    draws = torch.randn(200_000, 3, generator=torch.Generator().manual_seed(0)).double()
    for order in range(5):
        Y = voxels.spherical_harmonics(order, draws)
        assert torch.allclose(Y.square().sum(1), torch.ones(len(draws)).double())
        moments = Y.T @ Y / len(draws) * (2 * order + 1)
        assert (moments - torch.eye(2 * order + 1)).abs().max() < 0.02


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 6), st.integers(0, 1000))
def test_three_j_is_invariant(j, l, J, seed):
    if not abs(j - l) <= J <= j + l:
        with pytest.raises(ValueError, match="contain J from"):
            voxels.three_j(j, l, J)
        return
    tensor = voxels.three_j(j, l, J)
    R = rotations(seed)[0]
    D = voxels.wigner
    turned = torch.einsum("ia,jb,kc,abc->ijk", D(j, R), D(l, R), D(J, R), tensor)
    assert torch.allclose(turned, tensor, atol=1e-12)
    assert tensor.norm().item() == pytest.approx(1)


def test_a_mirror_needs_parities():
    mirror = torch.diag(torch.tensor([1.0, 1, -1]))
    with pytest.raises(ValueError, match="mirrors"):
        voxels.FieldType.of((1, 1)).matrix(mirror)
    odd, even = (voxels.FieldType.of(kind).matrix(mirror) for kind in ("1o", "1e"))
    assert torch.allclose(odd, mirror.double())
    assert torch.allclose(even, -mirror.double())


@given(st.integers(0, 23), st.integers(0, 23))
def test_cube_rotations_of_fields_are_exact_and_compose(i, k):
    kind = voxels.FieldType.of((1, 1, 1))
    field, turns = field_of(kind, side=4), voxels.cube_symmetries()
    twice = kind.transform(kind.transform(field, turns[k]), turns[i])
    once = kind.transform(field, turns[i] @ turns[k])
    assert torch.allclose(twice, once, atol=1e-12)


def test_a_rotation_of_a_smooth_field_is_what_its_formula_says():
    kind, R = voxels.FieldType.of((0, 1)), rotations(5)[0]
    axis = torch.arange(25, dtype=torch.float64) - 12
    at = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1)

    def bumps(where):  # a gradient field of a sum of two bumps
        total = torch.zeros_like(where)
        for centre in (torch.tensor([3.0, 0, 1]), torch.tensor([-2.0, 2, 0])):
            away = where - centre.double()
            total += away * torch.exp(-away.square().sum(-1, keepdim=True) / 18)
        return total

    field = bumps(at).permute(3, 0, 1, 2)[None]
    expected = torch.einsum("ij,xyzj->ixyz", R, bumps(at @ R))[None]
    moved = kind.transform(field, R)
    assert (moved - expected).norm() / expected.norm() < 1e-2


def test_shifts_by_whole_voxels_fill_with_zeros():
    kind = voxels.FieldType.of((1,))
    field = field_of(kind, side=5)
    moved = kind.transform(field, torch.eye(3), torch.tensor([2.0, -1.0, 0.0]))
    assert torch.equal(moved[..., 2:, :4, :], field[..., :3, 1:, :])
    assert moved[..., :2, :, :].abs().max() == 0
    assert moved[..., :, 4:, :].abs().max() == 0


def test_what_is_not_orthogonal_is_refused():
    with pytest.raises(ValueError, match="orthogonal"):
        voxels.FieldType.of((1,)).matrix(torch.ones(3, 3))


@pytest.mark.cross_library
def test_harmonics_three_j_and_irreps_are_those_of_e3nn():
    o3 = pytest.importorskip("e3nn.o3", reason="needs the extra 'equivariant'")
    points = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)).double()
    for order in range(7):
        theirs = o3.spherical_harmonics(order, points, normalize=True, normalization="norm")
        assert torch.allclose(voxels.spherical_harmonics(order, points), theirs, atol=1e-13)
    for j, l, J in [(1, 1, 1), (1, 2, 2), (2, 2, 4), (3, 2, 1)]:
        ours, theirs = voxels.three_j(j, l, J), o3.wigner_3j(j, l, J, dtype=torch.float64)
        assert min((ours - theirs).abs().max(), (ours + theirs).abs().max()) < 1e-12
    kind, R = voxels.FieldType.of("2x0e + 1x1o + 1x2e"), rotations(1)[0]
    assert kind.irreps.dim == kind.dim
    assert torch.allclose(kind.irreps.D_from_matrix(-R).double(), kind.matrix(-R), atol=1e-5)
