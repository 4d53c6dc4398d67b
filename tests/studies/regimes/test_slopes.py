"""Curves, slopes and ratios of scans, and what happens when something is missing."""

import numpy as np
import pytest
import xarray as xr

from regimes.studies._parts import Part
from regimes.studies.regimes._slopes import Missing, curve, extremes, judged, slope, values_at


@pytest.fixture
def scan():
    at = np.array([1.0, 10.0, 100.0])
    values = np.array([2.0, 3.0, 4.0])[:, None] / at
    return xr.Dataset(
        {"y": (("seed", "at"), values), "fitted": (("seed", "at"), np.ones((3, 3)))},
        {"at": at, "seed": [0, 1, 2]},
    )


def test_the_slope_of_a_power_law_is_its_exponent(scan):
    found, error = slope(*curve(scan, "y", (1.0, 100.0)))
    assert found == pytest.approx(-1.0)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_one_seed_has_no_error_bar(scan):
    assert slope(*curve(scan.isel(seed=[0]), "y", (1.0, 100.0)))[1] is None


def test_runs_that_did_not_fit_are_left_out(scan):
    scan["fitted"][0, 2] = 0.0  # one seed: the seed goes
    at, values = curve(scan, "y", (1.0, 100.0))
    assert (len(at), len(values)) == (3, 2)
    scan["fitted"][:2, 2] = 0.0  # most seeds: the value of at goes
    at, values = curve(scan, "y", (1.0, 100.0))
    assert (len(at), len(values)) == (2, 3)
    assert values_at(scan, "y", 100.0).tolist() == [0.04]


@pytest.mark.parametrize("window", [(1.0, 1e3), (0.1, 100.0), (1e4, 1e5)])
def test_a_window_that_is_not_covered_decides_nothing(scan, window):
    with pytest.raises(Missing, match="needed"):
        curve(scan, "y", window)


def test_an_unfinished_trial_decides_nothing(scan):
    for name in ("y", "fitted"):
        scan[name][:, 1] = np.nan
    with pytest.raises(Missing, match=r"finished: 1, 100"):
        curve(scan, "y", (1.0, 100.0))
    with pytest.raises(Missing, match="no fitted run"):
        values_at(scan, "y", 10.0)
    with pytest.raises(Missing, match="no z"):
        values_at(scan, "z", 10.0)


def test_without_a_flag_all_runs_count(scan):
    assert len(values_at(scan.drop_vars("fitted"), "y", 10.0)) == 3


def test_ratio_of_extremes_has_the_error_of_both():
    ratio, error = extremes([np.exp([0.1, -0.1]), np.exp([1.2, 0.8]), np.exp([0.5, 0.5])])
    assert ratio == pytest.approx(np.e)
    assert error == pytest.approx(np.e * np.hypot(0.1, 0.2))


def test_missing_parts_make_an_unclear_claim():
    def nothing():
        raise Missing("no runs")

    claim = judged("REG-10", "a slope", nothing)
    assert (claim.verdict, claim.why, claim.expected) == ("inconclusive", "no runs", "a slope")
    assert judged("REG-10", "", lambda: ([Part("a", 1.0, 0.0, 2.0)], "so")).verdict == "reproduced"
