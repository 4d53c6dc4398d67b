"""Distances to the nearest of n points, and the dimension they tell."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regimes.data import sphere_points
from regimes.measure import nn_distance


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_every_size_is_the_mean_of_the_nearest(seed, d):
    x = torch.randn(60, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = nn_distance(x, 60)
    gaps = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    expected = gaps.fill_diagonal_(torch.inf).amin(1).mean()
    assert float(found.distances[0, 0]) == pytest.approx(float(expected), rel=1e-9)


def test_smaller_subsets_are_parts_of_larger_ones_and_repeats_are_new(monkeypatch):
    monkeypatch.setattr("regimes._distances._TILE", {"cpu": (16, 16)})
    x = torch.randn(90, 20, generator=torch.Generator().manual_seed(1))
    found = nn_distance(x, (10, 40, 80), 3, seed=2)
    assert found.distances.shape == (3, 3)
    assert bool((found.distances.diff(dim=1) < 0).all())  # nested sets come closer, always
    assert len({round(float(value), 9) for value in found.distances[:, 0]}) == 3
    assert torch.equal(nn_distance(x, (10, 40, 80), 3, seed=2).distances, found.distances)
    assert not torch.equal(nn_distance(x, (10, 40, 80), 3, seed=3).distances, found.distances)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_spheres_have_their_dimension_within_the_error(d):
    found = nn_distance(sphere_points(4000, d), (500, 1000, 2000, 4000), 4).dimension((500, 4000))
    assert abs(found.value - d) < 0.1 * d
    assert 0 < found.error < 0.1 * d
    assert found.window == (500, 4000)


def test_duplicates_are_left_out_and_counted():
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    doubled = torch.cat([x, x[:50]])
    found = nn_distance(doubled, (20, 60, 200), 2)
    assert found.duplicates == 50
    assert found.dimension().duplicates == 50
    assert bool((found.distances > 0).all())
    with pytest.raises(ValueError, match="up to the 200 different points, got 201"):
        nn_distance(doubled, 201)


@pytest.mark.parametrize(
    ("n", "told"),
    [((20, 10), "n must be increasing sizes"), ((1, 10), "n must"), ((), "n must be increasing")],
)
def test_bad_sizes_are_told(n, told):
    with pytest.raises(ValueError, match=told):
        nn_distance(torch.randn(30, 2, generator=torch.Generator().manual_seed(0)), n)


def test_points_that_are_none_and_distances_that_do_not_fall_are_told():
    with pytest.raises(ValueError, match=r"x must be points \(p, ...\)"):
        nn_distance(torch.zeros(10), 5)
    lattice = torch.arange(64.0)[:, None]
    ends = torch.cat([lattice, 1000 * lattice + 5000])
    with pytest.raises(ValueError, match=r"distances do not fall|at least two different"):
        nn_distance(ends, (128,)).dimension()
