"""Runs of scans that fitted, and what happens when something is missing."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import Missing, log_slope
from regimes.studies.regimes._fitted_runs import fitted_at, fitted_curve


@pytest.fixture
def scan():
    scale = np.array([1.0, 10.0, 100.0])
    values = np.array([2.0, 3.0, 4.0])[:, None] / scale
    return xr.Dataset(
        {"y": (("seed", "scale"), values), "fitted": (("seed", "scale"), np.ones((3, 3)))},
        {"scale": scale, "seed": [0, 1, 2]},
    )


def test_the_slope_of_a_power_law_is_its_exponent(scan):
    found = log_slope(*fitted_curve(scan, "y", (1.0, 100.0)))
    assert found.value == pytest.approx(-1.0)
    assert found.error == pytest.approx(0.0, abs=1e-12)


def test_runs_that_did_not_fit_are_left_out(scan):
    scan["fitted"][0, 2] = 0.0  # one seed: the seed goes
    scale, values = fitted_curve(scan, "y", (1.0, 100.0))
    assert (len(scale), len(values)) == (3, 2)
    scan["fitted"][:2, 2] = 0.0  # most seeds: the window is not cut, and nothing is decided
    with pytest.raises(Missing, match="too few networks fitted"):
        fitted_curve(scan, "y", (1.0, 100.0))
    assert fitted_at(scan, "y", 100.0).tolist() == [0.04]


@pytest.mark.parametrize("window", [(1.0, 1e3), (0.1, 100.0), (1e4, 1e5)])
def test_a_window_that_is_not_covered_decides_nothing(scan, window):
    with pytest.raises(Missing, match="needed"):
        fitted_curve(scan, "y", window)


def test_an_unfinished_trial_decides_nothing(scan):
    for name in ("y", "fitted"):
        scan[name][:, 1] = np.nan
    with pytest.raises(Missing, match=r"finished: 1, 100"):
        fitted_curve(scan, "y", (1.0, 100.0))
    with pytest.raises(Missing, match=r"no finished trial at scale = 10.0 has y"):
        fitted_at(scan, "y", 10.0)
    with pytest.raises(Missing, match="has z"):
        fitted_at(scan, "z", 10.0)


def test_runs_of_which_none_fitted_decide_nothing(scan):
    scan["fitted"][:] = 0.0
    with pytest.raises(Missing, match="no fitted run"):
        fitted_at(scan, "y", 10.0)
    with pytest.raises(Missing, match="too few networks fitted"):
        fitted_curve(scan, "y", (1.0, 100.0))


def test_without_a_flag_all_runs_count(scan):
    assert len(fitted_at(scan.drop_vars("fitted"), "y", 10.0)) == 3
