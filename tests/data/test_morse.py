"""Clusters of atoms: forces are slopes of the energy."""

import torch

from regimes import data
from regimes.data._morse import morse_energy


def test_forces_are_slopes_and_sum_to_zero():
    made = data.morse_clusters(4, dtype=torch.float64)
    step = torch.zeros(5, 3, dtype=torch.float64)
    step[2, 1] = 1e-5
    slope = (morse_energy(made.positions + step) - morse_energy(made.positions - step)) / 2e-5
    assert torch.allclose(made.forces[:, 2, 1], -slope, atol=1e-8)
    assert torch.allclose(made.forces.sum(1), torch.zeros(4, 3).double(), atol=1e-12)
    assert torch.allclose(made.energies, morse_energy(made.positions))


def test_unshaken_corners_are_an_edge_apart():
    at = data.morse_clusters(1, noise=0.0, dtype=torch.float64).positions[0]
    distances = torch.pdist(at)
    assert ((distances - 1).abs() < 1e-12).sum() == 9  # all pairs but the two tips
    assert morse_energy(at) < -8.9


def test_streams_and_seeds_differ():
    one = data.morse_clusters(3)
    assert torch.equal(one.positions, data.morse_clusters(3).positions)
    assert not torch.equal(one.positions, data.morse_clusters(3, stream="test").positions)
    assert not torch.equal(one.positions, data.morse_clusters(3, seed=1).positions)
