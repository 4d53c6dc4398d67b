"""Tetris pieces: what is drawn, how it turns."""

import pytest
import torch

from regimes import data
from regimes._random import generator
from regimes._rotations import haar_rotations


def distances(points):
    found = torch.cdist(points, points).flatten(1)
    return found.sort(1).values


def test_pieces_are_eight_shapes_and_one_pair_of_mirror_images():
    points = data.tetris("points", n_rotations=0, dtype=torch.float64).x_train
    same = torch.cdist(distances(points), distances(points)) < 1e-9
    pairs = same.nonzero().tolist()
    assert [pair for pair in pairs if pair[0] != pair[1]] == [[0, 1], [1, 0]]
    triples = [torch.linalg.det(each[1:] - each[:1]) for each in points[:2]]
    assert triples[0] * triples[1] < 0  # no rotation takes one to the other


@pytest.mark.parametrize("kind", ["density", "voxel", "points"])
def test_test_pieces_are_turned_training_pieces(kind):
    made = data.tetris(kind, 20, 2, seed=3, zoom=3, dtype=torch.float64)
    assert made.y_test.tolist() == [*range(8)] * 2
    turns = haar_rotations(2, generator(3, "tetris/test"))
    if kind == "points":
        assert torch.allclose(made.x_test[:8], made.x_train @ turns[0].T)
        return
    ratio = made.x_test.sum((1, 2, 3, 4)) / made.x_train.sum((1, 2, 3, 4)).repeat(2)
    assert (ratio - 1).abs().max() < (1e-3 if kind == "density" else 2e-2)
    axis = torch.arange(20).double() - 9.5
    grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1).view(-1, 3)

    def moments(x):  # of second order turn as tensors do
        weights = x.flatten(1) / x.flatten(1).sum(1, keepdim=True)
        return torch.einsum("nx,xi,xj->nij", weights, grid, grid)

    expected = turns[0] @ moments(made.x_train) @ turns[0].T
    assert (moments(made.x_test[:8]) - expected).abs().max() < 0.35


def test_voxels_are_whole_cells():
    made = data.tetris("voxel", 36, 1, centred=False)
    assert made.x_train.sum((1, 2, 3, 4)).tolist() == [500.0] * 8
    assert set(made.x_train.unique().tolist()) == {0.0, 1.0}


def test_random_orientations_differ_between_pieces_and_seeds():
    one, two = (data.tetris("points", seed=seed, orientation="random") for seed in (0, 1))
    fixed = data.tetris("points", seed=0)
    assert not torch.allclose(one.x_train, two.x_train)
    assert not torch.allclose(one.x_train, fixed.x_train)
    assert torch.allclose(distances(one.x_train), distances(fixed.x_train), atol=1e-5)


def test_a_centred_line_is_even():
    line = data.tetris(n_rotations=0, dtype=torch.float64).x_train[3]
    assert torch.allclose(line, line.flip(-1))


@pytest.mark.parametrize(
    "options", [{"kind": "mesh"}, {"side": 0}, {"orientation": "up"}, {"pitch": -1.0}]
)
def test_what_does_not_fit_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        data.tetris(**options)
