"""Images and molecules on the sphere; claim EQU-23."""

import math

import pytest
import torch

from regimes.data import coulomb_matrix, molecule_to_spheres, qm7, spherical_mnist
from regimes.nets.sphere import random_rotations, rotate_s2, rotation_matrix, s2_fft


def smooth(n=2):
    u = torch.linspace(-1, 1, 28).double()
    base = torch.exp(-6 * ((u[:, None] - 0.2) ** 2 + (u[None] + 0.3) ** 2))
    return base.expand(n, 28, 28)


def test_the_middle_of_the_image_is_at_the_pole_and_the_back_is_empty():
    x = spherical_mnist(torch.ones(1, 28, 28), b=16)[0, 0]
    assert torch.allclose(x[0], torch.ones(32))
    beta = math.pi * (2 * torch.arange(32) + 1) / 64
    edge = 2 * math.atan(1.5 * math.sqrt(2) / 2)  # where the corners of the square are
    assert not x[beta > edge + 0.1].any()
    inside = 2 * math.atan(1.45 / 2)
    assert torch.allclose(x[beta < inside], torch.ones(()))


def test_a_rotated_image_is_the_image_rotated():
    R = random_rotations(1, seed=3)[0]
    still, turned = (
        spherical_mnist(smooth(1), 20, rotate, seed=3)[0, 0] for rotate in (False, True)
    )
    gap = rotate_s2(still, R) - turned
    assert gap.norm() < 0.06 * turned.norm()  # the grid knows orders below 20 alone
    assert (still - turned).norm() > 0.3 * turned.norm()


def test_rotations_are_shared_by_chunks():
    images = smooth(6)
    each = spherical_mnist(images, 6, True, seed=1)
    pairs = spherical_mnist(images, 6, True, seed=1, chunk=2)
    assert torch.allclose(pairs[0], pairs[1])
    assert not torch.equal(pairs[1], pairs[2])
    assert torch.allclose(pairs[2], each[1])
    assert not torch.equal(each[0], each[1])
    assert torch.allclose(each[:2], spherical_mnist(images[:2], 6, True, seed=1))


def molecule():
    draws = torch.Generator().manual_seed(0)
    Z = torch.tensor([[6, 1, 8, 1, 0]])
    R = 3 * torch.randn(1, 5, 3, generator=draws, dtype=torch.float64)
    R[:, 4] = 0
    return Z, R


def test_potentials_do_not_change_with_shifts_and_turn_with_the_molecule():
    """Claim EQU-23."""
    Z, R = molecule()
    b = 6
    U = molecule_to_spheres(Z, R, b, 0.2)
    shifted = molecule_to_spheres(Z, R + torch.tensor([1.0, -2.0, 0.5]).double(), b, 0.2)
    assert torch.allclose(U, shifted, atol=1e-6)
    turn = rotation_matrix(math.pi / b, 0.0, 0.0)  # a step of the grid about its axis
    turned = molecule_to_spheres(Z, R @ turn.mT, b, 0.2)
    assert torch.allclose(turned, U.roll(1, -1), atol=1e-6)
    anyhow = random_rotations(1, seed=2)[0]
    turned = molecule_to_spheres(Z, R @ anyhow.mT, b, 0.2)
    assert torch.allclose(turned, rotate_s2(U, anyhow), atol=1e-3)


def test_potentials_are_those_of_the_formula():
    Z, R = molecule()
    U = molecule_to_spheres(Z, R, 3, 0.2)
    assert not U[0, 4].any()
    assert not U[0, 0, 1].any()  # no other carbon
    beta, alpha = math.pi * 3 / 12, 2 * math.pi * 4 / 6  # k = 1, j = 4
    x = [math.cos(alpha) * math.sin(beta), math.sin(alpha) * math.sin(beta), math.cos(beta)]
    place = R[0, 0] + 0.2 * torch.tensor(x).double()
    expected = sum(6 * 1 / (place - R[0, j]).norm() for j in (1, 3))
    assert torch.isclose(U[0, 0, 0, 1, 4], expected, rtol=1e-6)
    # outside the sphere the charge's potential is harmonic: high orders are small
    F = s2_fft(molecule_to_spheres(Z, R, 8, 0.2)[0, 0, 0])
    assert F[6:].abs().max() < 1e-4 * F[0].abs().max()


def test_coulomb_matrices():
    Z, R = molecule()
    raw = coulomb_matrix(Z, R, "raw")
    assert torch.isclose(raw[0, 0, 2], 48 / (R[0, 0] - R[0, 2]).norm())
    assert torch.isclose(raw[0, 2, 2], torch.tensor(0.5 * 8**2.4).double())
    assert not raw[0, 4].any()
    assert torch.equal(raw, raw.mT)
    in_order, order = coulomb_matrix(Z, R), [3, 1, 4, 0, 2]
    norms = in_order.norm(dim=2)
    assert bool((norms[:, :-1] >= norms[:, 1:]).all())
    assert torch.allclose(coulomb_matrix(Z[:, order], R[:, order]), in_order)
    drawn = [coulomb_matrix(Z, R, "random", seed=s) for s in range(20)]
    assert torch.equal(drawn[3], coulomb_matrix(Z, R, "random", seed=3))
    eigenvalues = torch.linalg.eigvalsh(raw)
    for each in drawn:
        assert torch.allclose(torch.linalg.eigvalsh(each), eigenvalues)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spherical_mnist(torch.zeros(2, 3, 4, 4)), "one channel"),
        (lambda: spherical_mnist(torch.zeros(2, 4, 4, dtype=torch.int64)), "floating point"),
        (lambda: spherical_mnist(torch.full((1, 4, 4), math.nan)), "NaN"),
        (lambda: molecule_to_spheres(torch.tensor([[9]]), torch.zeros(1, 1, 3)), r"charges \[9\]"),
        (lambda: coulomb_matrix(torch.tensor([[1]]), torch.zeros(1, 2, 3)), "positions"),
        (lambda: coulomb_matrix(*molecule(), kind="random-ish"), "unknown kind"),
    ],
)
def test_what_is_no_image_or_molecule_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_qm7_says_what_file_it_wants(tmp_path, monkeypatch):
    monkeypatch.delenv("REGIMES_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set REGIMES_DATA"):
        qm7()
    with pytest.raises(FileNotFoundError, match="npz file with charges"):
        qm7(tmp_path)
    import numpy as np

    np.savez(tmp_path / "qm7.npz", Z=np.ones((2, 3)), R=np.zeros((2, 3, 3)))
    with pytest.raises(ValueError, match="lacks E"):
        qm7(tmp_path)
    np.savez(tmp_path / "qm7.npz", Z=np.ones((2, 3)), R=np.zeros((2, 3, 3)), E=np.ones(2))
    assert len(qm7(tmp_path)) == 2


@pytest.mark.data
def test_the_molecules_of_qm7(data_root):
    molecules = qm7(data_root)
    assert molecules.charges.shape == (7101, 23)
    assert set(molecules.charges.unique().tolist()) == {0, 1, 6, 7, 8, 16}
    near = torch.cdist(molecules.positions, molecules.positions)
    there = molecules.charges > 0
    pairs = there[:, :, None] & there[:, None] & ~torch.eye(23, dtype=torch.bool)
    assert 0.9 < near[pairs].min() < 1.0
