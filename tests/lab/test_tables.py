"""Rows of a union's table along its settings, and which blocks it has."""

import pytest
import xarray as xr

from regimes.lab import along, first_of, rows, split, those_run
from regimes.lab.judge import Missing


@pytest.fixture
def table():
    coords = {
        "block": ("trial", ["widths", "widths", "widths", "scales"]),
        "width": ("trial", [4, 2, 4, 8]),
        "scale": ("trial", [0.1, 10.0, 10.0, 1.0]),
    }
    return xr.Dataset({"trial_state": ("trial", [2, 2, 2, 0])}, coords)


def test_rows_lie_along_a_setting_in_its_order(table):
    found = along(table, "width")
    assert found.width.values.tolist() == [2, 4, 4, 8]
    assert found.trial_state.dims == ("width",)


def test_rows_are_split_by_one_setting_and_lie_along_another(table):
    found = split(rows(table, "widths"), "scale", "width")
    assert {scale: own.width.values.tolist() for scale, own in found.items()} == {
        0.1: [4],
        10.0: [2, 4],
    }
    assert found[10.0].trial_state.dims == ("width",)


def test_the_first_block_that_the_scan_has(table):
    assert first_of(table, "sizes", "scales") == "scales"
    assert first_of(table, "widths", "scales") == "widths"
    assert first_of(xr.Dataset(), "sizes", "scales") == "scales"


def test_blocks_without_a_finished_trial_did_not_run(table):
    assert those_run(table, "widths", "scales") == ["widths"]
    for lacking in (table, xr.Dataset()):
        with pytest.raises(Missing, match="no trial of scales has finished"):
            those_run(lacking, "scales")
