"""Packings of discs: derivatives by autograd, contacts one by one, and jamming itself."""

import numpy as np
import pytest
import torch

from regimes.theory import jammed_discs, packing_gaps, packing_hessian
from regimes.theory._discs import energy_and_force, find_rattlers, hessian_parts, overlaps


@pytest.fixture(scope="module")
def packings():
    return jammed_discs(16, samples=3)


IMAGES = torch.cartesian_prod(*[torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)] * 2)


def crowd(n=4, seed=0):
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(1, n, 2, generator=draw, dtype=torch.float64)
    return x, 0.25 + 0.1 * torch.rand(1, n, generator=draw, dtype=torch.float64)


def energy_by_hand(x, radii):
    """Over all pairs and the nine nearest images of each."""
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(i):
            length = (x[i] - x[j] + IMAGES).norm(dim=1).min()
            total = total + torch.relu(radii[i] + radii[j] - length) ** 2 / 2
    return total


def test_energy_forces_and_hessian_are_those_of_all_pairs():
    x, radii = crowd()
    by_hand = lambda flat: energy_by_hand(flat.view(-1, 2), radii[0])  # noqa: E731
    energy, force = energy_and_force(x, radii)
    flat = x.flatten()
    assert float(energy) == pytest.approx(float(by_hand(flat)))
    slope = torch.autograd.functional.jacobian(by_hand, flat)
    torch.testing.assert_close(force.flatten(), -slope)
    H0, Hp = hessian_parts(x, radii)
    torch.testing.assert_close(H0[0] + Hp[0], torch.autograd.functional.hessian(by_hand, flat))
    rank = int((torch.linalg.eigvalsh(H0[0]) > 1e-10).sum())
    assert rank <= min(int((overlaps(x, radii)[0] > 0).sum()) // 2, 2 * 4 - 2)


def test_rattlers_are_taken_away_until_none_is_left():
    touching = torch.full((1, 6, 6), -1.0)
    for i, j in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5)]:
        touching[0, i, j] = touching[0, j, i] = 1.0
    assert find_rattlers(touching).tolist() == [[False] * 4 + [True] * 2]


def test_they_jam_isostatically(packings):  # LAND-71
    assert packings.converged.all()
    assert (packings.contacts == packings.freedom + 1).all()
    assert (packings.freedom == 2 * (16 - packings.rattlers.sum(1)) - 2).all()
    assert ((packings.density > 0.8) & (packings.density < 0.87)).all()
    assert ((packings.energy > 1e-17) & (packings.energy < 1e-15)).all()
    covered = np.pi * packings.radii.square().sum(1)
    torch.testing.assert_close(covered, packings.density)
    H0, Hp = packing_hessian(packings)
    assert float(torch.linalg.eigvalsh(Hp).max()) <= 1e-18
    held = torch.linalg.eigvalsh(H0)
    assert ((held > 1e-8).sum(1) >= packings.freedom).all()  # a rattler may touch


def test_forces_balance(packings):
    _, force = energy_and_force(packings.positions, packings.radii)
    delta, _, _ = overlaps(packings.positions, packings.radii)
    typical = delta.clamp_min(0).sum((1, 2)) / (delta > 0).sum((1, 2))
    assert (force.norm(dim=-1).amax(1) < 1e-6 * typical).all()
    forces, gaps = packing_gaps(packings)
    for own, gap, count, loose in zip(
        forces, gaps, packings.contacts, packings.rattlers, strict=True
    ):
        kept = 16 - int(loose.sum())
        assert len(own) == count
        assert len(own) + len(gap) == kept * (kept - 1) // 2
        assert float(own.mean()) == pytest.approx(1.0)


def test_away_from_jamming_hp_grows_as_the_root_of_the_energy():  # LAND-73
    spreads, energies = [], []
    for energy in (1e-14, 1e-11, 1e-8):
        found = jammed_discs(16, samples=2, energy=energy)
        values = torch.linalg.eigvalsh(packing_hessian(found)[1])
        spreads.append(float(values.std(1).log().mean()))
        energies.append(float(found.energy.log().mean()))
    assert np.polyfit(energies, spreads, 1)[0] == pytest.approx(0.5, abs=0.03)


def test_seeds_and_bad_input():
    once, again, other = (jammed_discs(6, seed=seed).positions for seed in (0, 0, 1))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)
    with pytest.raises(ValueError, match="n must be an integer >= 4"):
        jammed_discs(3)
    with pytest.raises(ValueError, match="energy must be a finite number"):
        jammed_discs(8, energy=0.0)
    assert not jammed_discs(8, max_rounds=1).converged.any()
