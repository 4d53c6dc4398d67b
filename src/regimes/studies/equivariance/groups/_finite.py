"""Identities of fields on finite spaces: how many fail, and the largest deviation of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from regimes.lab import Array

WAYS = ("full", "group", "coset", "double_coset")
CASES = {  # group, fields that go in, fields that come out: how many maps
    "D3: numbers to numbers": ("D3", "corner trivial", "corner trivial", 2),
    "D3: numbers to signs": ("D3", "corner trivial", "corner sign", 1),
    "D3: functions to functions": ("D3", "corner regular", "corner regular", 6),
    "D4: numbers to numbers": ("D4", "corner trivial", "corner trivial", 3),
    "D4: C4-vectors to numbers": ("D4", "face vector", "corner trivial", 2),
    "O: numbers to numbers": ("O", "face trivial", "face trivial", 3),
    "O: numbers to tangents": ("O", "face trivial", "face tangent", 2),
    "O: tangents to tangents": ("O", "face tangent", "face tangent", 8),
    "O: functions to functions": ("O", "face regular", "face regular", 24),
    "O: faces to corners": ("O", "face trivial", "corner trivial", 2),
}
TWELVE = "I: vectors to vectors"  # on the corners of the icosahedron
TABLE = (
    "face trivial",
    "face tangent",
    "face regular",
    "edge trivial",
    "edge regular",
    "corner trivial",
    "corner regular",
    "body trivial",
    "body vector",
    "nothing trivial",
)
_GOLDEN = (1 + 5**0.5) / 2
_POINTS: dict[str, dict[str, list[float]]] = {
    "O": {"face": [0, 0, 1], "edge": [1, 1, 0], "corner": [1, 1, 1], "body": [0, 0, 0],
          "nothing": [1, 2, 4]},
    "I": {"corner": [0, 1, _GOLDEN]},
}  # fmt: skip


def _group(name: str) -> Any:
    from regimes import theory

    if name == "O":
        return theory.polyhedral_group("cube")
    if name == "I":
        return theory.polyhedral_group("icosahedron")
    return theory.dihedral_group(int(name[1:]))


def _fields(name: str, G: Any, what: str) -> tuple[Any, Any]:
    """A subgroup and a representation of it, as in "face tangent"."""
    from regimes import theory

    where, kind = what.split()
    if name in _POINTS:
        H = G.stabiliser(_POINTS[name][where])
    else:  # of a polygon: the mirror that keeps a corner, or the rotations
        H = G.subgroup(G.generators[1:] if where == "corner" else G.generators[:1])
    if kind == "tangent":
        return H, theory.Representation(H, H.matrices[:, :2, :2], kind)
    return H, theory.representation(H, kind)


def _spaces(icosahedron: bool) -> list[tuple[str, str]]:
    found = [("D3", "corner trivial"), ("D4", "corner trivial"), ("D4", "face trivial")]
    found += [("O", f"{where} trivial") for where in ("face", "edge", "corner", "nothing")]
    return found + [("I", "corner trivial")] * icosahedron


def _normal(source: Any, *shape: int) -> np.ndarray:
    import torch

    return torch.randn(*shape, generator=source, dtype=torch.float64).numpy()


def _other_section(G: Any, H: Any, source: Any) -> Any:
    """Cosets with representatives drawn at random, but the identity of H itself."""
    import torch

    from regimes import theory

    plain = theory.cosets(G, H)
    turns = H.elements[torch.randint(len(H), (len(plain),), generator=source).numpy()]
    turns[0] = 0
    return theory.cosets(G, H, section=G.table[plain.section, turns])


def tensors(seed: int) -> dict[str, float]:
    """EQU-24: orders of 3x3 matrices, and what of their parts lies in other blocks."""
    import torch

    from regimes._random import generator
    from regimes._rotations import decompose

    Q, orders = decompose(lambda r: torch.kron(r, r), seed=seed)
    A = torch.randn(3, 3, generator=generator(seed, "groups/tensor"), dtype=torch.float64)
    trace = A.trace() / 3 * torch.eye(3, dtype=A.dtype)
    parts = (trace, (A - A.mT) / 2, (A + A.mT) / 2 - trace)
    leak, start = 0.0, 0
    for order, part in zip((0, 1, 2), parts, strict=True):
        inside = (Q @ part.flatten()).abs()
        own = slice(start, start + 2 * order + 1)
        start = own.stop
        inside[own] = 0.0
        leak = max(leak, float(inside.max()))
    return {"tensor_orders_wrong": float(orders != (0, 1, 2)), "tensor_leak": leak}


def sections(icosahedron: bool, seed: int) -> dict[str, float]:
    """EQU-49: how often [Cohen 2019, eqs. 16 to 28] fail, over all elements and points."""
    from regimes._random import generator

    draws = generator(seed, "groups/sections")
    wrong = checked = 0
    for name, what in _spaces(icosahedron):
        G = _group(name)
        H, _ = _fields(name, G, what)
        space = _other_section(G, H, draws)
        for test in _identities(G, H, space):
            wrong += int((~test).sum())
            checked += test.size
    return {"cocycle_wrong": float(wrong), "cocycle_checked": float(checked),
            "triangle_wrong": _triangle()}  # fmt: skip


def _identities(G: Any, H: Any, space: Any) -> list[np.ndarray]:
    s, h, of = space.section, space.cocycle, space.of
    g, x = np.arange(len(G)), np.arange(len(space))
    one, two = np.meshgrid(g, g, indexing="ij")
    found = [
        np.atleast_1d(s[0] == 0),  # eq. 16
        of[s] == x,
        of[G.table[g[:, None], s]] == space.moved,  # eq. 17
        G.table[g[:, None], s] == G.table[s[space.moved], h.T],  # eq. 18
        np.isin(h, H.elements),
        h[0, H.elements] == H.elements,  # eq. 21
        h[0, s] == 0,  # eq. 22
        h[0, G.table[np.ix_(s, H.elements)]] == H.elements,  # eq. 23
        G.table[s[of], space.within] == g,  # eqs. 24 to 26
        space.within[G.table[:, H.elements]] == G.table[np.ix_(space.within, H.elements)],  # eq. 27
        space.within[s] == 0,  # eq. 28
    ]
    for at in x:  # eq. 20
        composed = G.table[h[space.moved[two, at], one], h[at, two]]
        found.append(h[at, G.table[one, two]] == composed)
    return found


def _triangle() -> float:
    """The section of [Cohen 2019, fig. 7], where h(rH, r) = f: 0 if it is."""
    from regimes import theory

    D = theory.dihedral_group(3)
    r, f = D.generators
    space = theory.cosets(D, D.subgroup([f]), section=[0, r, int(D.table[D.table[r, r], f])])
    return float(space.cocycle[space.of[r], r] != f)


def pictures(seed: int) -> dict[str, float]:
    """EQU-50: Ind rho as a representation in both pictures, and lifting between them."""
    from regimes import theory
    from regimes._random import generator

    draws = generator(seed, "groups/pictures")
    broken = between = 0.0
    for name, where in (("D3", "corner"), ("D4", "corner"), ("O", "face")):
        G = _group(name)
        for kind in ("trivial", "sign", "vector", "regular"):
            H, rho = _fields(name, G, f"{where} {kind}")
            space = _other_section(G, H, draws)
            fields = theory.induced(G, H, rho, space=space).matrices
            functions = theory.induced(G, H, rho, "group", space=space).matrices
            for pi in (fields, functions):
                for g in G.generators:
                    broken = max(broken, float(np.abs(pi[G.table[:, g]] - pi @ pi[g]).max()))
            L = theory.Mackey(G, H, rho, space=space).matrix
            between = max(between, float(np.abs(L @ fields - functions @ L).max()))
    return {"induced_error": broken, "lifting_error": between}


def kernel_spaces(icosahedron: bool) -> dict[str, Array]:
    """EQU-51: dimensions by case and way, by characters, and how far the spans are apart."""
    from regimes import theory

    cases = dict(CASES)
    if icosahedron:
        cases[TWELVE] = ("I", "corner vector", "corner vector", 24)
    found, counted, apart = [], [], []
    for name, one, two, _ in cases.values():
        G = _group(name)
        (H1, rho1), (H2, rho2) = (_fields(name, G, what) for what in (one, two))
        made = [theory.kernel_space(G, H1, rho1, H2, rho2, how) for how in WAYS]
        found.append([each.dimension for each in made])
        counted.append(theory.kernel_dimension(G, H1, rho1, H2, rho2))
        spans = [each.maps.reshape(each.dimension, -1) for each in made]
        apart.append(max(_sine(spans[0], span) for span in spans[1:]))
    return {
        "dimensions": Array(("case", "way"), np.array(found, dtype=float)),
        "characters": Array("case", np.array(counted, dtype=float)),
        "span_error": Array("case", np.array(apart)),
    }


def _sine(one: np.ndarray, two: np.ndarray) -> float:
    """Sine of the largest principal angle between the spans of orthonormal rows; 1 if unequal."""
    if len(one) != len(two):
        return 1.0
    return float(np.linalg.norm(two - two @ one.T @ one, 2))


def table() -> dict[str, Array]:
    """Numbers of maps between all pairs of some fields on the cube."""
    from regimes import theory

    G = _group("O")
    fields = [_fields("O", G, what) for what in TABLE]
    found = [[theory.kernel_dimension(G, *given, *out) for given in fields] for out in fields]
    return {"cube_maps": Array(("out", "given"), np.array(found, dtype=float))}


def twists(side: int, seed: int) -> dict[str, float]:
    """EQU-52: correlation on G/H against that of lifted functions; and the torus, free of twist."""
    from regimes import theory
    from regimes._random import generator

    draws = generator(seed, "groups/twists")
    worst, twisted = 0.0, 0
    for name, one, two, _ in CASES.values():
        G = _group(name)
        (H1, rho1), (H2, rho2) = (_fields(name, G, what) for what in (one, two))
        spaces = _other_section(G, H1, draws), _other_section(G, H2, draws)
        basis = theory.kernel_space(G, H1, rho1, H2, rho2, "group").kernels
        k = np.tensordot(_normal(draws, len(basis)), basis, 1)
        f = _normal(draws, len(spaces[0]), rho1.dim)
        here = theory.twisted_correlation(G, H1, rho1, H2, k[spaces[0].section], f, spaces=spaces)
        lifted = theory.Mackey(G, H1, rho1, space=spaces[0]).lift(f)
        there = theory.group_correlation(G, k, lifted)
        down = theory.Mackey(G, H2, rho2, space=spaces[1])
        gap = max(np.abs(down.unlift(there) - here).max(), down.deviation(there))
        worst = max(worst, float(gap / np.abs(here).max()))
        twisted += int((theory.twist(*spaces) != 0).any())
    turn, one_way, other = np.eye(3), np.eye(3), np.eye(3)
    turn[:2, :2], one_way[0, 2], other[1, 2] = [[0, -1], [1, 0]], 1, 1
    G = theory.finite_group([turn, one_way, other], modulo=side)
    H, shifts = G.subgroup(G.generators[:1]), G.subgroup(G.generators[1:])
    space = theory.cosets(G, H, section=shifts.elements)
    of_point = space.cocycle != space.within  # h(x, g) = h(g)
    return {
        "correlation_error": worst,
        "twisted_cases": float(twisted),
        "torus_twists": float((theory.twist(space, space) != 0).sum() + of_point.sum()),
    }


def nonlinearity(seed: int) -> dict[str, float]:
    """EQU-55: ReLU before and after an element, for functions of a group and for vectors."""
    from regimes import theory
    from regimes._random import generator
    from regimes._rotations import random_rotations

    draws = generator(seed, "groups/relu")
    turns = random_rotations(20, seed).numpy()
    regular = theory.representation(_group("O"), "regular").matrices
    relu: Callable[[np.ndarray], np.ndarray] = lambda v: np.maximum(v, 0.0)  # noqa: E731
    found = {}
    for name, matrices in (("regular", regular), ("vector", turns)):
        x = _normal(draws, 200, matrices.shape[-1])
        each = [
            np.linalg.norm(relu(x @ R.T) - relu(x) @ R.T) / np.linalg.norm(relu(x))
            for R in matrices
        ]
        found[f"relu_{name}"] = float(np.max(each) if name == "regular" else np.mean(each))
    return found
