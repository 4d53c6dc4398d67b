"""Rows of blocks: what a claim may rest on, and what is missing."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import Point
from regimes.lab.judge import Missing
from regimes.studies.regimes import _scans, _setting


def table(states, seeds=4):
    block = ["widths", "widths", "widths", "scales"]
    coords = {"block": ("trial", block), "width": ("trial", [4, 2, 4, 8])}
    coords |= {"scale": ("trial", [0.1, 10.0, 10.0, 1.0]), "seed": np.arange(seeds)}
    variables = {"trial_state": ("trial", states)}
    variables["fitted"] = (("trial", "seed"), np.ones((4, seeds)))
    return xr.Dataset(variables, coords)


@pytest.mark.parametrize(
    ("dataset", "blocks", "reason"),
    [
        (xr.Dataset(), ("widths",), "no trial has finished"),
        (table([2] * 4), ("sizes",), "'sizes' is left out"),
        (table([2, 2, 0, 1]), ("widths",), "1 of 3 trials"),
        (table([2, 2, 0, 1]), ("widths", "scales"), "2 of 4 trials"),
        (table([2] * 4, seeds=3), ("widths",), "3 seeds, an error bar needs 4"),
    ],
)
def test_a_block_is_whole_or_says_what_it_lacks(dataset, blocks, reason):
    with pytest.raises(Missing, match=reason):
        _scans.whole(dataset, *blocks)


def test_blocks_that_the_scan_lacks_do_not_count():
    assert _scans.whole(table([2, 2, 2, 0]), "widths", "sizes").sizes["trial"] == 3


def test_points_beyond_the_pool_are_of_known_images():
    with pytest.raises(ValueError, match="images must be one of"):
        _setting.points_at(Point({}), "faces", 6000, 100, components=10)


def test_the_built_in_digits_come_from_the_shared_pool():
    made = _setting.points_at(Point({}), "digits", 20, 30, components=None)
    assert made.x_train.shape == (20, 1, 8, 8)
    assert np.isclose(made.x_test.flatten(1).square().sum(1), 64.0).all()
