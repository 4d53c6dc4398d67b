"""Sets of points: voxels made of them, chains, environments, files of one's own."""

import numpy as np
import pytest
import torch

from regimes import data


def test_every_point_sums_to_one_and_keeps_its_place():
    at = torch.tensor([[[1.2, -3.0, 0.4], [0.0, 2.0, 5.0]]], dtype=torch.float64)
    clouds = data.Clouds(at, torch.tensor([2]), torch.tensor([0]), torch.tensor([[0, 1]]))
    x = data.voxelize_points(clouds, 15, 1.0, dtype=torch.float64)
    assert x.shape == (1, 2, 15, 15, 15)
    axis = torch.arange(15).double() - 7
    for kind in (0, 1):
        density = x[0, kind]
        assert density.sum().item() == pytest.approx(1)
        middle = [(density.sum(other) * axis).sum() for other in ((1, 2), (0, 2), (0, 1))]
        assert torch.allclose(torch.stack(middle), at[0, kind], atol=0.05)


def test_points_beyond_the_grid_and_beyond_their_number_are_left_out():
    at = torch.tensor([[[0.0, 0, 0], [50.0, 0, 0], [1.0, 1, 1]]])
    clouds = data.Clouds(at, torch.tensor([2]), torch.tensor([0]))
    assert data.voxelize_points(clouds, 9, 1.0).sum().item() == pytest.approx(1)


def test_chains_are_chains():
    chains = data.protein_like(10, 4, seed=1, noise=0.0)
    assert torch.equal(chains.labels, torch.arange(10).repeat(4))
    for positions, count in zip(chains.positions, chains.counts, strict=True):
        steps = positions[1:count] - positions[: count - 1]
        assert steps.norm(dim=1).min() > 0.5
        assert steps.norm(dim=1).max() < 2 * 3.8
        assert (positions[count:] == 0).all()
        assert positions[:count].mean(0).abs().max() < 1e-9


def test_chains_do_not_depend_on_how_many_there_are():
    few, many = data.protein_like(3, 2, seed=4), data.protein_like(5, 3, seed=4)
    assert torch.equal(few.positions[0, :20], many.positions[0, :20])
    assert not torch.equal(few.positions[0, :20], data.protein_like(3, 2, seed=5).positions[0, :20])


def test_architectures_differ_in_their_distances():
    chains = data.protein_like(10, 3, seed=0)
    span = [float(p[:c].std()) for p, c in zip(chains.positions, chains.counts, strict=True)]
    assert min(span) > 3
    assert max(span) < 15


def test_environments_share_templates_between_seeds():
    one, two = data.environment_like(5, seed=0), data.environment_like(5, seed=1)
    assert torch.equal(one.kinds, two.kinds)
    assert 0.2 < (one.positions - two.positions)[one.positions != 0].std() < 0.6
    assert one.counts.min() >= 12
    exact = data.environment_like(2, 3, jitter=0.0)
    assert torch.equal(exact.positions[:3], exact.positions[3:])


def test_files_of_ones_own_are_read_or_refused_in_a_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"npz with the arrays positions.*split_start_indices"):
        data.cath(tmp_path / "none.npz")
    path = tmp_path / "cath.npz"
    np.savez(path, positions=np.zeros((4, 5, 3)), n_atoms=np.full(4, 5), labels=np.arange(4))
    with pytest.raises(ValueError, match="has no split_start_indices"):
        data.cath(path)
    arrays = {"positions": np.ones((4, 5, 3)), "n_atoms": np.full(4, 5), "labels": np.arange(4)}
    np.savez(path, **arrays, split_start_indices=np.array([0, 2]))
    read = data.cath(path)
    assert len(read) == 4
    assert read.splits == (0, 2)
    np.savez(path, **arrays, kinds=np.zeros((4, 5), dtype=int))
    assert data.amino_acid_environments(path).kinds.shape == (4, 5)
    path.write_text("no archive")
    with pytest.raises(ValueError, match="environments of amino acids come from"):
        data.amino_acid_environments(path)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="positions must have shape"):
        data.Clouds(torch.zeros(2, 3), torch.zeros(2), torch.zeros(2))
    with pytest.raises(ValueError, match="does not fit"):
        data.Clouds(torch.zeros(2, 3, 3), torch.full((2,), 4), torch.zeros(2))
    with pytest.raises(ValueError, match="counts must have shape"):
        data.Clouds(torch.zeros(2, 3, 3), torch.zeros(3), torch.zeros(2))
    with pytest.raises(ValueError, match="10 architectures"):
        data.protein_like(11)
