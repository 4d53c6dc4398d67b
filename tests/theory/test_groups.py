"""Finite groups, cosets and representations: identities over all elements (EQU-49, -50)."""

import itertools

import numpy as np
import pytest

from regimes import theory
from regimes._groups import fixed_vectors, intertwining_maps

GROUPS = {
    "C5": lambda: theory.cyclic_group(5),
    "D3": lambda: theory.dihedral_group(3),
    "D4": lambda: theory.dihedral_group(4),
    "V": lambda: theory.polyhedral_group("box"),
    "T": lambda: theory.polyhedral_group("tetrahedron"),
    "O": lambda: theory.polyhedral_group("cube"),
    "D4h": lambda: theory.polyhedral_group("prism", mirrors=True),
    "I": lambda: theory.polyhedral_group("icosahedron"),
}
ORDERS = {"C5": 5, "D3": 6, "D4": 8, "V": 4, "T": 12, "O": 24, "D4h": 16, "I": 60}
SPACES = {  # a group with a subgroup
    "D3/flip": ("D3", lambda G: G.subgroup(G.generators[1:])),
    "D4/flip": ("D4", lambda G: G.subgroup(G.generators[1:])),
    "D4/C4": ("D4", lambda G: G.subgroup(G.generators[:1])),
    "O/C4": ("O", lambda G: G.stabiliser([0, 0, 1])),
    "O/C3": ("O", lambda G: G.stabiliser([1, 1, 1])),
    "O/1": ("O", lambda G: G.subgroup([])),
    "O/O": ("O", lambda G: G),
}


@pytest.fixture(params=SPACES)
def space(request):
    name, take = SPACES[request.param]
    G = GROUPS[name]()
    return theory.cosets(G, take(G))


@pytest.mark.parametrize("name", GROUPS)
def test_tables_are_those_of_the_matrices(name):
    G = GROUPS[name]()
    assert len(G) == ORDERS[name]
    products = G.matrices[:, None] @ G.matrices
    assert np.abs(products - G.matrices[G.table]).max() < 1e-9
    assert (G.table[np.arange(len(G)), G.inverse] == 0).all()
    assert (np.sort(G.table) == np.arange(len(G))).all()
    assert len(G.subgroup(G.generators)) == len(G)
    assert [G.number(m) for m in G.matrices[:5]] == list(range(min(5, len(G))))


@pytest.mark.parametrize(("m", "orders"), [(True, (48, 120)), (False, (24, 60))])
def test_mirrors_double_a_group(m, orders):
    for solid, order in zip(("cube", "icosahedron"), orders, strict=True):
        G = theory.polyhedral_group(solid, mirrors=m)
        assert len(G) == order
        assert (np.linalg.det(G.matrices) < 0).sum() == (order // 2 if m else 0)


def test_a_torus_is_a_group_modulo_its_side():
    turn, shift = np.eye(3), np.eye(3)
    turn[:2, :2], shift[0, 2] = [[0, -1], [1, 0]], 1
    G = theory.finite_group([turn, shift], modulo=3)
    assert len(G) == 36
    both = (G.matrices[:, None] @ G.matrices) % 3
    assert (both == G.matrices[G.table]).all()


def test_the_group_of_a_stabiliser_is_its_subgroup():
    O = theory.polyhedral_group("cube")
    sizes = [len(O.stabiliser(point)) for point in ([0, 0, 1], [1, 1, 1], [1, 1, 0], [1, 2, 3])]
    assert sizes == [4, 3, 2, 1]
    H = O.stabiliser([0, 0, 1])
    assert np.allclose(H.matrices @ H.matrices[1], H.matrices[H.table[:, 1]])


def test_sections_and_the_cocycle(space):
    """[Cohen 2019, eqs. 16 to 28] for all elements."""
    G, H, s, h = space.group, set(space.subgroup.elements.tolist()), space.section, space.cocycle
    assert s[0] == 0
    assert (space.of[s] == np.arange(len(space))).all()
    for g, x in itertools.product(range(len(G)), range(len(space))):
        assert h[x, g] in H
        assert G.table[g, s[x]] == G.table[s[space.moved[g, x]], h[x, g]]  # eq. 18
    g1, g2 = np.meshgrid(np.arange(len(G)), np.arange(len(G)), indexing="ij")
    for x in range(len(space)):
        composed = G.table[h[space.moved[g2, x], g1], h[x, g2]]
        assert (h[x, G.table[g1, g2]] == composed).all()  # eq. 20
    for k in H:
        assert h[0, k] == k  # eq. 21
        assert (space.within[G.table[:, k]] == G.table[space.within, k]).all()  # eq. 27
        assert (h[0, G.table[s, k]] == k).all()  # eq. 23
    assert (h[0, s] == 0).all()  # eqs. 22 and 28
    every = np.arange(len(G))
    assert (G.table[s[space.of], space.within] == every).all()  # eqs. 24 and 26
    for g in every:
        assert (space.of[G.table[g, s]] == space.moved[g]).all()  # eq. 17


def test_the_paper_s_section_of_the_triangle():
    D = theory.dihedral_group(3)
    r, f = D.generators
    r2f = D.table[D.table[r, r], f]
    paper = theory.cosets(D, D.subgroup([f]), section=[r2f, 0, r])
    assert paper.cocycle[paper.of[r], r] == f
    assert paper.section[paper.of[r2f]] == r2f


KINDS = ("trivial", "sign", "vector", "regular")


# functions on 24 elements with 24 components would take long
PICTURES = [(name, kind) for name in SPACES for kind in KINDS if (name, kind) != ("O/O", "regular")]


@pytest.mark.parametrize(("name", "kind"), PICTURES)
def test_induced_representations_agree_in_both_pictures(name, kind):
    """[Cohen 2019, eqs. 2 to 4]: homomorphisms (checked when made), intertwined by lifting."""
    group, take = SPACES[name]
    G = GROUPS[group]()
    H = take(G)
    space = theory.cosets(G, H)
    rho = theory.representation(H, kind)
    fields = theory.induced(G, H, rho)
    functions = theory.induced(G, H, rho, "group")
    lifting = theory.Mackey(G, H, rho)
    L = lifting.matrix
    assert np.abs(L @ fields.matrices - functions.matrices @ L).max() < 1e-12
    assert np.allclose(L.T @ L, len(H) * np.eye(L.shape[1]), atol=1e-12)
    F = np.random.default_rng(0).standard_normal((len(space), rho.dim))
    lifted = lifting.lift(F)
    assert lifting.deviation(lifted) < 1e-12
    assert lifting.deviation(lifting.moved(3 % len(G), lifted)) < 1e-12
    assert (lifting.unlift(lifted) == F).all()
    assert fields.dim == len(space) * rho.dim


def test_another_section_gives_an_isomorphic_representation():
    D = theory.dihedral_group(3)
    r, f = D.generators
    H = D.subgroup([f])
    other = theory.cosets(D, H, section=[0, r, D.table[D.table[r, r], f]])
    rho = theory.representation(H, "sign")
    one, two = theory.induced(D, H, rho), theory.induced(D, H, rho, space=other)
    assert np.abs(one.matrices - two.matrices).max() > 0.5
    assert np.allclose(one.character, two.character)


def test_the_lifting_sees_what_is_no_field():
    D = theory.dihedral_group(3)
    H = D.subgroup(D.generators[1:])
    lifting = theory.Mackey(D, H, theory.representation(H, "sign"))
    assert lifting.deviation(np.arange(6.0)[:, None]) > 0.5


@pytest.mark.parametrize("n", [3, 4, 6])
def test_frequencies_of_the_plane(n):
    D = theory.dihedral_group(n)
    assert np.allclose(theory.representation(D, 1).matrices, D.matrices)
    irreps = [theory.representation(D, k) for k in range(1, (n + 1) // 2)]
    gram = np.array([[a.character @ b.character / len(D) for b in irreps] for a in irreps])
    assert np.allclose(gram, np.eye(len(irreps)))


def test_sums_and_restrictions():
    D = theory.dihedral_group(4)
    both = theory.representation(D, "sign") + theory.representation(D, "regular")
    assert both.dim == 9
    assert not both.is_permutation
    H = D.subgroup(D.generators[:1])
    assert theory.representation(D, "regular").restricted(H).is_permutation


def test_intertwiners_of_permutations_are_those_of_linear_algebra():
    O = theory.polyhedral_group("cube")
    H = O.stabiliser([0, 0, 1])
    faces = theory.induced(O, H, theory.representation(H, "trivial"))
    R = faces.on_generators()
    quick = intertwining_maps(R, R).reshape(-1, 36)
    slow = fixed_vectors([np.kron(a, a) for a in R], 36)
    assert len(quick) == len(slow) == 3
    assert np.allclose(quick.T @ quick, slow.T @ slow, atol=1e-12)


REFUSED = {
    "no finite group": (lambda D, H: theory.finite_group([[[2.0]]]), "make no finite group"),
    "singular": (lambda D, H: theory.finite_group([[[0.0]]]), "invertible"),
    "not square": (lambda D, H: theory.finite_group([[1.0, 2.0]]), "square matrices"),
    "not whole": (lambda D, H: theory.finite_group([[[0.5]]], 3), "integer matrices"),
    "no solid": (lambda D, H: theory.polyhedral_group("dodo"), "unknown solid"),
    "no element": (lambda D, H: D.subgroup([9]), "are 0 to 5"),
    "not in it": (lambda D, H: D.number(np.eye(2) * 2), "none of"),
    "no subgroup": (lambda D, H: theory.cosets(H, D), "must be a subgroup"),
    "section": (
        lambda D, H: theory.cosets(D, H, section=[0, 1, 1]),
        "one element of each of the 3",
    ),
    "other group": (
        lambda D, H: theory.induced(D, H, theory.representation(D, "sign")),
        "rho must represent H",
    ),
    "no representation": (
        lambda D, H: theory.representation(D, generators=[[[1.0]], [[0.5]]]),
        "orthogonal",
    ),
    "wrong relation": (
        lambda D, H: theory.representation(D, generators=[[[-1.0]], [[1.0]]]),
        "do not multiply",
    ),
    "frequency": (
        lambda D, H: theory.representation(theory.polyhedral_group("box"), 1),
        "2x2 matrices",
    ),
    "picture": (
        lambda D, H: theory.induced(D, H, theory.representation(H), "cubist"),
        "unknown picture",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, message = REFUSED[case]
    D = theory.dihedral_group(3)
    with pytest.raises(ValueError, match=message):
        call(D, D.subgroup(D.generators[1:]))
