"""Kernel spaces four ways, and correlations with and without lifting (EQU-51 to -55)."""

import numpy as np
import pytest
import torch

from regimes import theory
from regimes._rotations import random_rotations, real_wigner, rotation_matrix

WAYS = ("full", "group", "coset", "double_coset")


def flip(G):
    return G.subgroup(G.generators[1:])


def rho(H, kind):
    if kind == "tangent":
        return theory.Representation(H, H.matrices[:, :2, :2], "tangent")
    return theory.representation(H, kind)


def triangle():
    D = theory.dihedral_group(3)
    return D, flip(D), flip(D)


def square():
    D = theory.dihedral_group(4)
    return D, flip(D), flip(D)


def turned_square():
    D = theory.dihedral_group(4)
    return D, D.subgroup(D.generators[:1]), flip(D)


def faces():
    O = theory.polyhedral_group("cube")
    H = O.stabiliser([0, 0, 1])
    return O, H, H


def corners():
    O = theory.polyhedral_group("cube")
    return O, O.stabiliser([0, 0, 1]), O.stabiliser([1, 1, 1])


def alone():
    O = theory.polyhedral_group("cube")
    one = O.subgroup([])
    return O, one, one


def icosahedron():
    I = theory.polyhedral_group("icosahedron")
    H = I.stabiliser([0, 1, (1 + 5**0.5) / 2])
    return I, H, H


CASES = {
    "D3 trivial trivial": (triangle, "trivial", "trivial", 2),
    "D3 trivial sign": (triangle, "trivial", "sign", 1),
    "D3 regular regular": (triangle, "regular", "regular", 6),
    "D4 trivial trivial": (square, "trivial", "trivial", 3),
    "D4 C4-vector flip-trivial": (turned_square, "vector", "trivial", 2),
    "O trivial trivial": (faces, "trivial", "trivial", 3),
    "O trivial tangent": (faces, "trivial", "tangent", 2),
    "O tangent tangent": (faces, "tangent", "tangent", 8),
    "O regular regular": (faces, "regular", "regular", 24),
    "O faces to corners": (corners, "trivial", "trivial", 2),
    "O alone": (alone, "trivial", "trivial", 24),
    "I trivial trivial": (icosahedron, "trivial", "trivial", 4),
    "I trivial vector": (icosahedron, "trivial", "vector", 8),
}


@pytest.mark.parametrize("name", CASES)
def test_four_ways_and_the_characters_agree(name):
    make, one, two, expected = CASES[name]
    G, H1, H2 = make()
    rho1, rho2 = rho(H1, one), rho(H2, two)
    assert theory.kernel_dimension(G, H1, rho1, H2, rho2) == expected
    pi1, pi2 = theory.induced(G, H1, rho1), theory.induced(G, H2, rho2)
    assert round(float((pi1.character @ pi2.character) / len(G))) == expected
    spans = []
    for how in WAYS:
        found = theory.kernel_space(G, H1, rho1, H2, rho2, how)
        assert found.dimension == len(found.kernels) == expected
        flat = found.maps.reshape(expected, -1)
        assert np.allclose(flat @ flat.T, np.eye(expected), atol=1e-10)
        for X in found.maps:
            assert np.abs(pi2.matrices @ X - X @ pi1.matrices).max() < 1e-10
        spans.append(flat.T @ flat)
    assert max(np.abs(span - spans[0]).max() for span in spans) < 1e-10


def test_full_maps_without_any_theory():
    """The null space by a singular value decomposition over all elements."""
    G, H1, H2 = turned_square()
    rho1, rho2 = rho(H1, "vector"), rho(H2, "sign")
    pi1 = theory.induced(G, H1, rho1).matrices
    pi2 = theory.induced(G, H2, rho2).matrices
    rows = [np.kron(b, np.eye(4)) - np.kron(np.eye(4), a.T) for a, b in zip(pi1, pi2, strict=True)]
    values = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    found = theory.kernel_space(G, H1, rho1, H2, rho2)
    assert found.dimension == 16 - int((values > 1e-9).sum())


def test_kernels_on_the_group_are_bi_equivariant():
    """[Cohen 2019, eq. 8] for all pairs."""
    G, H1, H2 = corners()
    rho1, rho2 = rho(H1, "tangent"), rho(H2, "regular")
    for k in theory.kernel_space(G, H1, rho1, H2, rho2, "group").kernels:
        for i, h2 in enumerate(H2.elements):
            for j, h1 in enumerate(H1.elements):
                moved = k[G.table[G.table[h2], h1]]
                expected = rho2.matrices[i] @ k @ rho1.matrices[j]
                assert np.abs(moved - expected).max() < 1e-10


@pytest.mark.parametrize("name", ["D3 regular regular", "O tangent tangent", "O faces to corners"])
def test_twisted_correlation_is_that_of_lifted_functions(name):
    """[Cohen 2019, eq. 14] against eq. 7, with random kernels, fields and sections."""
    make, one, two, _ = CASES[name]
    G, H1, H2 = make()
    rho1, rho2 = rho(H1, one), rho(H2, two)
    draw = np.random.default_rng(1)
    space1, space2 = (other_section(G, H, draw) for H in (H1, H2))
    basis = theory.kernel_space(G, H1, rho1, H2, rho2, "group").kernels
    k = np.tensordot(draw.standard_normal(len(basis)), basis, 1)
    f = draw.standard_normal((len(space1), rho1.dim))
    spaces = (space1, space2)
    on_points = theory.twisted_correlation(G, H1, rho1, H2, k[space1.section], f, spaces=spaces)
    lifted = theory.Mackey(G, H1, rho1, space=space1).lift(f)
    on_group = theory.group_correlation(G, k, lifted)
    down = theory.Mackey(G, H2, rho2, space=space2)
    assert down.deviation(on_group) < 1e-12
    assert np.abs(down.unlift(on_group) - on_points).max() < 1e-12
    assert (theory.twist(*spaces) != 0).any()
    without = np.einsum("xyba,ya->xb", k[space1.section][_seen(spaces)], f) / len(space1)
    assert one == "trivial" or np.abs(without - on_points).max() > 1e-3  # the twist matters


def test_correlations_are_slow_sums():
    """[Cohen 2019, eqs. 7 and 14], term by term."""
    G, H1, H2 = triangle()
    rho1 = rho(H1, "sign")
    draw = np.random.default_rng(2)
    k, F = draw.standard_normal((6, 2, 3)), draw.standard_normal((6, 3))
    expected = np.zeros((6, 2))
    for g in range(6):
        for other in range(6):
            expected[g] += k[G.table[G.inverse[g], other]] @ F[other] / 6
    assert np.allclose(theory.group_correlation(G, k, F), expected, atol=1e-14)
    space1, space2 = (other_section(G, H, draw) for H in (H1, H2))
    small, f = draw.standard_normal((3, 2, 1)), draw.standard_normal((3, 1))
    expected = np.zeros((3, 2))
    for x in range(3):
        back = G.inverse[space2.section[x]]
        for y in range(3):
            h = space1.within[G.table[back, space1.section[y]]]
            turn = 1.0 if h == 0 else -1.0
            expected[x] += turn * small[space1.moved[back, y]] @ f[y] / 3
    found = theory.twisted_correlation(G, H1, rho1, H2, small, f, spaces=(space1, space2))
    assert np.allclose(found, expected, atol=1e-14)


def _seen(spaces):
    space1, space2 = spaces
    return space1.moved[space1.group.inverse[space2.section]]


def other_section(G, H, draw):
    plain = theory.cosets(G, H)
    turns = draw.choice(H.elements, len(plain))
    turns[0] = 0
    return theory.cosets(G, H, section=G.table[plain.section, turns])


def torus(side):
    turn, one, two = np.eye(3), np.eye(3), np.eye(3)
    turn[:2, :2], one[0, 2], two[1, 2] = [[0, -1], [1, 0]], 1, 1
    G = theory.finite_group([turn, one, two], modulo=side)
    return G, G.subgroup(G.generators[:1]), G.subgroup(G.generators[1:])


def test_a_semidirect_product_has_no_twist():
    G, H, shifts = torus(8)
    assert (len(G), len(H), len(shifts)) == (256, 4, 64)
    space = theory.cosets(G, H, section=shifts.elements)
    assert (theory.twist(space, space) == 0).all()
    assert (space.cocycle == space.within).all()  # h(x, g) = h(g) [Cohen 2019, eq. 32]


def test_on_a_torus_the_kernels_are_those_of_the_lattice():
    G, H, _ = torus(5)
    assert len(H) == 4
    quarter = theory.cyclic_group(4)
    vector, regular = (theory.representation(quarter, kind) for kind in ("vector", "regular"))
    offsets = np.stack(np.meshgrid([-2, -1, 0, 1, 2], [-2, -1, 0, 1, 2], indexing="ij"), -1)
    found = theory.kernel_space_grid(quarter, vector, regular, offsets.reshape(-1, 2))
    order = [
        quarter.number(matrix[:2, :2].round() - 5 * (matrix[:2, :2] > 2)) for matrix in H.matrices
    ]
    same = [theory.Representation(H, each.matrices[order]) for each in (vector, regular)]
    assert theory.kernel_dimension(G, H, same[0], H, same[1]) == len(found)


# -- continuous groups ----------------------------------------------------------------------------


def wigner(l, parity=None):
    """D^l of rotations; with a parity (1, -1) of mirrors too."""

    def rho(R):
        R = torch.from_numpy(np.ascontiguousarray(R))
        mirrored = bool(torch.linalg.det(R) < 0)
        assert parity is not None or not mirrored
        D = real_wigner(l, -R if mirrored else R).numpy()
        return D if not mirrored else parity * D

    return rho


def about_z(angle):
    return rotation_matrix(angle, 0.0, 0.0).numpy()


def frequency(k):
    def rho(R):
        angle = k * np.arctan2(R[1, 0], R[0, 0])
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s], [s, c]]) if k else np.ones((1, 1))

    return rho


TURNS = np.stack([about_z(1.0), about_z(2.3)])


@pytest.mark.parametrize("k1", range(4))
@pytest.mark.parametrize("k2", range(4))
def test_kernels_on_the_sphere_are_bound_at_the_poles_alone(k1, k2):
    """[Cohen 2019, sec. 6.1]: free at every latitude, Hom(rho1, rho2) at the poles."""
    one, two = frequency(k1), frequency(k2)
    d1, d2 = (len(each(np.eye(3))) for each in (one, two))
    latitude = rotation_matrix(0.0, 0.7, 0.0).numpy()
    free = theory.kernel_space_compact(np.eye(3)[None], one, two, representative=latitude)
    assert len(free) == d1 * d2
    hom = (2 if k1 else 1) if k1 == k2 else 0
    north = theory.kernel_space_compact(TURNS, one, two)
    south_pole = rotation_matrix(0.0, np.pi, 0.0).numpy()
    south = theory.kernel_space_compact(TURNS, one, two, representative=south_pole)
    assert len(north) == len(south) == hom
    for K in south:  # rho1 inverted: the kernel commutes with turns the other way around
        assert np.abs(two(TURNS[0]) @ K - K @ one(TURNS[0].T)).max() < 1e-9


@pytest.mark.parametrize("j", range(4))
@pytest.mark.parametrize("l", range(4))
def test_kernels_in_space(j, l):
    """[Cohen 2019, sec. 6.2]: 2 min(j, l) + 1 at each radius, delta_jl at the centre."""
    assert len(theory.kernel_space_compact(TURNS, wigner(l), wigner(j))) == 2 * min(j, l) + 1
    all_turns = random_rotations(3, 1).numpy()
    assert len(theory.kernel_space_compact(all_turns, wigner(l), wigner(j))) == (j == l)


@pytest.mark.parametrize(
    ("into", "out", "expected"),
    [((1, -1), (1, -1), 2), ((1, -1), (1, 1), 1), ((0, 1), (0, -1), 0), ((2, 1), (2, 1), 3)],
)
def test_parity_keeps_a_part_of_them(into, out, expected):
    """1o -> 1o, 1o -> 1e, 0e -> 0o: the mirror through the axis joins the stabiliser."""
    with_mirror = np.concatenate([TURNS, np.diag([-1.0, 1.0, 1.0])[None]])
    found = theory.kernel_space_compact(with_mirror, wigner(*into), wigner(*out))
    assert len(found) == expected


def test_relu_commutes_with_permutations_alone():
    O = theory.polyhedral_group("cube")
    x = np.random.default_rng(0).standard_normal((50, 24))
    R = theory.representation(O, "regular")
    relu = lambda v: np.maximum(v, 0.0)  # noqa: E731
    assert R.is_permutation
    assert (relu(x @ R.matrices[7].T) == relu(x) @ R.matrices[7].T).all()
    turn = random_rotations(1, 3)[0].numpy()
    v = x[:, :3]
    change = relu(v @ turn.T) - relu(v) @ turn.T
    assert np.linalg.norm(change) / np.linalg.norm(relu(v)) > 0.1


REFUSED = {
    "way": (lambda G, H, r: theory.kernel_space(G, H, r, H, r, "guess"), "unknown way"),
    "kernel": (
        lambda G, H, r: theory.twisted_correlation(G, H, r, H, np.ones((2, 1, 1)), np.ones((3, 1))),
        "kernel must have shape",
    ),
    "field": (
        lambda G, H, r: theory.twisted_correlation(G, H, r, H, np.ones((3, 1, 1)), np.ones((2, 1))),
        "f must have shape",
    ),
    "function": (
        lambda G, H, r: theory.group_correlation(G, np.ones((6, 1, 1)), np.ones((3, 1))),
        "F must have shape",
    ),
    "lift": (lambda G, H, r: theory.Mackey(G, H, r).lift([[1.0]]), "f must have shape"),
    "offsets": (
        lambda G, H, r: theory.kernel_space_grid(
            theory.cyclic_group(4), *[theory.representation(theory.cyclic_group(4))] * 2, [[0, 1]]
        ),
        "must represent H",
    ),
    "lattice": (
        lambda G, H, r: theory.lattice_action(theory.cyclic_group(6)),
        "the hexagonal lattice",
    ),
    "rho": (
        lambda G, H, r: theory.kernel_space_compact(np.eye(3)[None], lambda h: 2 * h, lambda h: h),
        "rho1 must give orthogonal",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, message = REFUSED[case]
    G, H, _ = triangle()
    with pytest.raises(ValueError, match=message):
        call(G, H, theory.representation(H, "trivial"))


def test_too_many_unknowns_are_refused_before_they_fill_the_memory():
    O = theory.polyhedral_group("cube")
    R = theory.representation(O, "regular")
    assert theory.kernel_space(O, O, R, O, R).dimension == 24
    with pytest.raises(ValueError, match="13824 unknowns at once are too many"):
        theory.kernel_space(O, O, R, O, R, "group")


def test_offsets_are_whole_orbits():
    C = theory.cyclic_group(4)
    one = theory.representation(C, "trivial")
    with pytest.raises(ValueError, match="but not"):
        theory.kernel_space_grid(C, one, one, [[0, 1], [1, 0]])
