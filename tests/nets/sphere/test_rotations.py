"""Rotations, Wigner's matrices and the splitting of representations."""

import math

import pytest
import torch
from numpy.polynomial.legendre import leggauss

from regimes.nets.sphere import (
    complex_to_real,
    decompose,
    intertwiners,
    random_rotations,
    real_wigner,
    rotation_matrix,
    sphere_point,
    wigner_d,
    wigner_matrix,
    zyz_angles,
)


def test_random_rotations_are_rotations_and_nested():
    R = random_rotations(50, seed=3)
    eye = torch.eye(3, dtype=torch.float64)
    assert torch.allclose(R @ R.mT, eye.expand_as(R), atol=1e-14)
    assert torch.allclose(torch.linalg.det(R), torch.ones(50, dtype=torch.float64))
    assert torch.equal(random_rotations(7, seed=3), R[:7])
    assert not torch.equal(random_rotations(7, seed=4), R[:7])


def test_random_rotations_are_uniform():
    R = random_rotations(4000)
    # under Haar's measure the moments of D^1 and D^2 vanish and <R_ij^2> = 1/3 [Cohen 2018, eq. 19]
    assert R.mean(0).abs().max() < 0.04
    assert (R.square().mean(0) - 1 / 3).abs().max() < 0.02
    assert real_wigner(2, R).mean(0).abs().max() < 0.05


def test_angles_are_read_back_also_at_the_poles():
    angles = torch.tensor([[0.3, 0.0, 1.1], [2.0, math.pi, 0.4], [5.0, 1.0, 6.0]]).double()
    R = rotation_matrix(*angles.T)
    assert torch.allclose(rotation_matrix(*zyz_angles(R)), R, atol=1e-14)
    R = random_rotations(100, seed=1)
    assert torch.allclose(rotation_matrix(*zyz_angles(R)), R, atol=1e-13)


def test_points_are_the_rotated_pole():
    a, b = torch.tensor([0.3, 4.0]).double(), torch.tensor([1.2, 2.5]).double()
    pole = torch.tensor([0.0, 0.0, 1.0]).double()
    assert torch.allclose(sphere_point(a, b), rotation_matrix(a, b, 0.0) @ pole, atol=1e-15)


@pytest.mark.parametrize("order", [0, 1, 2, 7, 127])
def test_small_d_is_an_orthogonal_representation(order):
    d = wigner_d(order, torch.tensor([0.3, 0.9, 1.2], dtype=torch.float64))
    eye = torch.eye(2 * order + 1, dtype=torch.float64)
    assert torch.allclose(d[0] @ d[1], d[2], atol=5e-14)
    assert torch.allclose(d @ d.mT, eye.expand_as(d), atol=5e-14)


def test_small_d_of_order_one_and_legendre_in_the_middle():
    beta = torch.tensor(0.7).double()
    c, s, r = beta.cos(), beta.sin(), math.sqrt(0.5)
    known = [
        [(1 + c) / 2, s * r, (1 - c) / 2],
        [-s * r, c, s * r],
        [(1 - c) / 2, -s * r, (1 + c) / 2],
    ]
    assert torch.allclose(wigner_d(1, beta), torch.tensor(known).double(), atol=1e-15)
    legendre = 0.125 * (35 * c**4 - 30 * c**2 + 3)
    assert torch.isclose(wigner_d(4, beta)[4, 4], legendre)


@pytest.mark.parametrize("order", [0, 1, 3, 6])
def test_wigner_matrices_are_homomorphisms(order):
    R, S = random_rotations(2, seed=5)
    product = wigner_matrix(order, *zyz_angles(R)) @ wigner_matrix(order, *zyz_angles(S))
    assert torch.allclose(product, wigner_matrix(order, *zyz_angles(R @ S)), atol=1e-13)
    real = real_wigner(order, R) @ real_wigner(order, S)
    assert torch.allclose(real, real_wigner(order, R @ S), atol=1e-13)


def test_orders_are_orthogonal_under_haar_measure():
    # Gauss-Legendre in cos(beta) and even angles integrate products of degree 4 exactly
    nodes, weights = (torch.from_numpy(each) for each in leggauss(6))
    angle = torch.arange(6).double() * 2 * math.pi / 6
    a, b, c = torch.meshgrid(angle, nodes.arccos(), angle, indexing="ij")
    weight = (weights / 2)[None, :, None].expand_as(b) / 36
    D = [wigner_matrix(l, a, b, c).flatten(3) for l in range(3)]
    for l, left in enumerate(D):
        for k, right in enumerate(D):
            inner = torch.einsum("abc,abci,abcj->ij", weight.to(left.dtype), left, right.conj())
            expected = torch.eye(len(inner)) / (2 * l + 1) if l == k else torch.zeros(inner.shape)
            assert torch.allclose(inner, expected.to(inner.dtype), atol=1e-14)


@pytest.mark.parametrize("order", range(7))
def test_real_basis_is_that_of_e3nn(order):
    o3 = pytest.importorskip("e3nn.o3", reason="needs the extra 'equivariant'")
    R = random_rotations(4, seed=2)
    expected = o3.Irrep(order, 1).D_from_matrix(R.float()).double()
    assert torch.allclose(real_wigner(order, R), expected, atol=2e-5)


def test_change_to_the_real_basis_leads_from_one_to_the_other():
    P = torch.tensor([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]).double()
    R = random_rotations(3, seed=8)
    for order in range(5):
        Q, D = complex_to_real(order), wigner_matrix(order, *zyz_angles(R))
        changed = Q @ D @ Q.mH
        assert changed.imag.abs().max() < 1e-14
        assert torch.allclose(changed.real, real_wigner(order, P @ R @ P.mT), atol=1e-13)


@pytest.mark.parametrize(("j", "l"), [(0, 2), (1, 1), (1, 2), (2, 2), (2, 3)])
def test_products_split_as_clebsch_and_gordan_say(j, l):
    def product(r):
        return torch.kron(real_wigner(j, r), real_wigner(l, r))

    Q, orders = decompose(product)
    assert orders == tuple(range(abs(j - l), j + l + 1))
    for r in random_rotations(3, seed=11):  # rotations that the solver has not seen
        blocks = torch.block_diag(*(real_wigner(order, r) for order in orders))
        assert torch.allclose(Q.mT @ blocks @ Q, product(r), atol=1e-11)


def test_blocks_of_e3nn_are_found_up_to_sign():
    o3 = pytest.importorskip("e3nn.o3", reason="needs the extra 'equivariant'")
    Q, orders = decompose(lambda r: torch.kron(real_wigner(1, r), real_wigner(2, r)))
    start = 0
    for order in orders:
        block = Q[start : start + 2 * order + 1]
        known = o3.wigner_3j(1, 2, order, dtype=torch.float64).permute(2, 0, 1).flatten(1)
        known = known * math.sqrt(2 * order + 1)
        sign = torch.sign((block * known).sum())
        assert torch.allclose(block, sign * known, atol=1e-8)
        start += 2 * order + 1


def test_rank_two_tensors_split_into_trace_antisymmetric_and_traceless_symmetric():
    """Claim EQU-24 [Weiler 2018, eq. 2]."""
    Q, orders = decompose(lambda r: torch.kron(r, r))
    assert orders == (0, 1, 2)
    A = torch.randn(3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    trace = A.trace() / 3 * torch.eye(3, dtype=torch.float64)
    parts = [trace, (A - A.mT) / 2, (A + A.mT) / 2 - trace]
    for i, part in enumerate(parts):
        inside = torch.zeros(9, dtype=torch.bool)
        inside[[[0], [1, 2, 3], [4, 5, 6, 7, 8]][i]] = True
        coefficients = Q @ part.flatten()
        assert coefficients[~inside].abs().max() < 1e-12
        assert torch.isclose(coefficients[inside].norm(), part.norm())


def test_multiplicities_are_found():
    def rep(r):
        mixed = torch.block_diag(r, real_wigner(2, r), torch.eye(1).double(), r)
        return turn.mT @ mixed @ turn

    turn, _ = torch.linalg.qr(
        torch.randn(12, 12, generator=torch.Generator().manual_seed(1)).double()
    )
    Q, orders = decompose(rep)
    assert orders == (0, 1, 1, 2)
    r = random_rotations(1, seed=20)[0]
    blocks = torch.block_diag(*(real_wigner(order, r) for order in orders))
    assert torch.allclose(Q.mT @ blocks @ Q, rep(r), atol=1e-11)


def test_intertwiners_of_an_irreducible_one_are_multiples_of_one():
    D = real_wigner(2, random_rotations(3))
    (only,) = intertwiners(D, D)
    assert torch.allclose(
        only * math.sqrt(5), only[0, 0].sign() * torch.eye(5).double(), atol=1e-10
    )


@pytest.mark.parametrize(
    ("rep", "message"),
    [
        (lambda r: 2 * r, "orthogonal matrices"),
        (lambda r: r @ r, "no representation"),
        (lambda r: r[:2], "square matrices"),
    ],
)
def test_what_is_no_representation_is_refused(rep, message):
    with pytest.raises(ValueError, match=message):
        decompose(rep)
    with pytest.raises(ValueError, match="n must be an integer >= 1"):
        random_rotations(0)
    with pytest.raises(ValueError, match="finite"):
        rotation_matrix(math.nan, 0.0, 0.0)
