"""Cells of an ensemble and their gaps, on predictions whose answers are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import Measured, Missing
from regimes.measure import ensemble_outcomes, jackknife_error
from regimes.studies.regimes._outcomes import (
    cell_of,
    cells_of,
    ensemble_gap,
    error_gap,
    training_points,
    variance_ratio,
)


def row(outputs, y, kept, scale):
    found = vars(ensemble_outcomes(outputs, y, kept))
    dims = ("scale", "seed")
    values = {name: (dims[: v.ndim], v) for name, v in found.items()}
    return xr.Dataset(
        {**values, "kept": (dims, kept)},
        {"scale": scale, "seed": np.arange(outputs.shape[1])},
    )


@pytest.fixture
def outputs():
    return np.random.default_rng(0).normal(0.7, 1.0, (2, 6, 400))


def test_runs_that_did_not_fit_do_not_count(outputs):
    y = np.ones(400)
    spoiled = outputs.copy()
    spoiled[0, 1] = -1e6
    kept = np.ones((2, 6))
    kept[0, 1] = 0
    data = row(spoiled, y, kept, [0.1, 1e3])
    cell = cell_of(data, scale=0.1)
    assert cell.dropped == 1
    assert list(cell.seeds) == [0, 2, 3, 4, 5]
    rest = np.delete(outputs[0], 1, axis=0)
    assert cell.ensemble_error == pytest.approx((rest.mean(0) <= 0).mean())
    assert "1 runs" in cell.shown


def test_fewer_than_three_runs_make_no_cell(outputs):
    kept = np.zeros((2, 6))
    kept[:, :2] = 1
    data = row(outputs, np.ones(400), kept, [0.1, 1e3])
    assert np.isnan(data.ensemble_error).all()
    with pytest.raises(Missing, match=r"fewer than three runs fitted, at scale = 0\.1"):
        cell_of(data, scale=0.1)
    assert cells_of(data) == {}


def test_a_scale_that_was_not_run_makes_no_cell(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    with pytest.raises(Missing, match=r"scale = 10\.0 was not run"):
        cell_of(data, scale=10.0)
    with pytest.raises(Missing, match="not run"):
        cell_of(data.drop_vars("ensemble_error"), scale=0.1)
    assert list(cells_of(data.isel(scale=[1, 0]))) == [0.1, 1e3]


def test_too_few_training_points_decide_nothing():
    data = xr.Dataset({"p": ("scale", [60.0, np.nan])})
    assert training_points(data, 60) == 60
    with pytest.raises(Missing, match="60 training points are too few"):
        training_points(data, 61)


def test_a_cell_against_itself(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    cell = cell_of(data, scale=1e3)
    assert error_gap(cell, cell) == Measured(0.0, 0.0)
    assert ensemble_gap(cell, cell) == Measured(0.0, 0.0)
    assert variance_ratio(cell, cell) == Measured(1.0, 0.0)


def test_gaps_and_ratios_between_cells(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    a, b = cell_of(data, scale=0.1), cell_of(data, scale=1e3)
    gap = error_gap(a, b)
    apart = 100 * ((outputs[0] <= 0).mean(-1) - (outputs[1] <= 0).mean(-1))
    assert gap.value == pytest.approx(apart.mean())
    assert gap.error == pytest.approx(apart.std(ddof=1) / 6**0.5)
    ratio = variance_ratio(a, b)
    assert ratio.value == pytest.approx(a.variance / b.variance)
    assert 0 < ratio.error < 1


def test_cells_with_other_seeds_are_compared_without_pairs(outputs):
    kept = np.ones((2, 6))
    kept[0, 0] = 0
    data = row(outputs, np.ones(400), kept, [0.1, 1e3])
    a, b = cell_of(data, scale=0.1), cell_of(data, scale=1e3)
    ratio = variance_ratio(a, b)
    expected = np.hypot(
        jackknife_error(a.variance_without / b.variance),
        jackknife_error(a.variance / b.variance_without),
    )
    assert ratio.value == pytest.approx(a.variance / b.variance)
    assert ratio.error == pytest.approx(expected)
    assert error_gap(a, b).value == pytest.approx(100 * (a.error.mean() - b.error[1:].mean()))
