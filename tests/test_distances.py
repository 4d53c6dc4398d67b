"""Distances in tiles against plain differences, close points above all."""

import pytest
import torch

from regimes._distances import distance_tiles, fill_distances, repeated_rows, working_bytes

DRAWS = torch.Generator().manual_seed(5)


def plain(x, z):
    return (x[:, None] - z[None]).square().sum(-1).sqrt()


def points(n, d, far=0.0):
    return torch.randn(n, d, generator=DRAWS, dtype=torch.float64) + far


@pytest.mark.parametrize("d", [1, 3, 16, 17, 100])  # few coordinates are never expanded
def test_distances_are_those_of_differences(d):
    x, z = points(60, d), points(45, d)
    between = fill_distances(torch.empty(60, 45, dtype=torch.float64), x, z)
    own = fill_distances(torch.empty(60, 60, dtype=torch.float64), x, None)
    assert torch.allclose(between, plain(x, z), rtol=1e-12, atol=0)
    assert torch.allclose(own, plain(x, x), rtol=1e-12, atol=0)
    assert torch.equal(own, own.T)
    assert not own.diagonal().any()


@pytest.mark.parametrize("d", [3, 100])
def test_close_points_keep_their_digits_far_from_the_origin(d):
    x = points(40, d, far=1000.0)
    z = x + 1e-6 * points(40, d)
    z[7] = x[7]
    found = fill_distances(torch.empty(40, 40, dtype=torch.float64), x, z)
    assert torch.allclose(found.diagonal(), (x - z).norm(dim=1), rtol=1e-12, atol=0)
    assert float(found[7, 7]) == 0.0


def test_tiles_cover_every_pair_once(monkeypatch):
    monkeypatch.setattr("regimes._distances._TILE", {"cpu": (7, 11)})
    x, z = points(30, 20), points(25, 20)
    for others in (None, z):
        seen = torch.zeros(30, 30 if others is None else 25, dtype=torch.int64)
        for i, j, tile in distance_tiles(x, others):
            seen[i : i + len(tile), j : j + tile.shape[1]] += 1
        wanted = torch.ones_like(seen)
        assert torch.equal(seen.tril() if others is None else seen, wanted.tril() if others is None
                           else wanted)  # fmt: skip
    tiled = fill_distances(torch.empty(30, 30, dtype=torch.float64), x, None)
    assert torch.allclose(tiled, plain(x, x), rtol=1e-12, atol=0)


def test_the_room_to_work_is_small_beside_many_points_and_known_for_few():
    few, many = torch.zeros(10, 784), torch.zeros(10_000, 784)
    assert working_bytes(few) < 4 * (10 * 785 + 4 * 100 + 4 * 10 * 10 * 784) + 1
    assert working_bytes(many) < 0.2 * 4 * 10_000**2
    assert working_bytes(many, few) > working_bytes(few)


def test_repeated_rows_are_found_wherever_they_are():
    x = points(50, 8)
    x[13], x[40], x[41] = x[2], x[2], x[7]
    assert repeated_rows(x).tolist() == [13, 40, 41]
    assert repeated_rows(x.reshape(50, 2, 4)).tolist() == [13, 40, 41]
    assert repeated_rows(points(50, 8)).tolist() == []
    # equal sums, different rows
    assert repeated_rows(torch.zeros(3, 4)).tolist() == [1, 2]
    assert repeated_rows(torch.tensor([[0.0, 1.0], [1.0, 0.0]])).tolist() == []
