"""Cells of an ensemble and their gaps, on predictions whose answers are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.measure import ensemble_outcomes, jackknife_error
from regimes.studies.regimes._outcomes import cell_of, ensemble_gap, error_gap, variance_ratio


def row(outputs, y, kept, at):
    found = vars(ensemble_outcomes(outputs, y, kept))
    dims = ("scale", "seed")
    values = {name: (dims[: v.ndim], v) for name, v in found.items()}
    return xr.Dataset(
        {**values, "kept": (dims, kept), "at": ("scale", at)},
        {"seed": np.arange(outputs.shape[1])},
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
    cell = cell_of(data, 0.1)
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
    assert cell_of(data, 0.1) is None


def test_a_scale_that_was_not_run_makes_no_cell(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    assert cell_of(data, 10.0) is None
    assert cell_of(data.drop_vars("ensemble_error"), 0.1) is None


def test_a_cell_against_itself(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    cell = cell_of(data, 1e3)
    assert error_gap(cell, cell) == (0.0, 0.0)
    assert ensemble_gap(cell, cell) == (0.0, 0.0)
    assert variance_ratio(cell, cell) == (1.0, 0.0)


def test_gaps_and_ratios_between_cells(outputs):
    data = row(outputs, np.ones(400), np.ones((2, 6)), [0.1, 1e3])
    a, b = cell_of(data, 0.1), cell_of(data, 1e3)
    gap, error = error_gap(a, b)
    apart = (outputs[0] <= 0).mean(-1) - (outputs[1] <= 0).mean(-1)
    assert gap == pytest.approx(apart.mean())
    assert error == pytest.approx(apart.std(ddof=1) / 6**0.5)
    ratio, error = variance_ratio(a, b)
    assert ratio == pytest.approx(a.variance / b.variance)
    assert 0 < error < 1


def test_cells_with_other_seeds_are_compared_without_pairs(outputs):
    kept = np.ones((2, 6))
    kept[0, 0] = 0
    data = row(outputs, np.ones(400), kept, [0.1, 1e3])
    a, b = cell_of(data, 0.1), cell_of(data, 1e3)
    value, error = variance_ratio(a, b)
    expected = np.hypot(
        jackknife_error(a.variance_without / b.variance),
        jackknife_error(a.variance / b.variance_without),
    )
    assert (value, error) == (pytest.approx(a.variance / b.variance), pytest.approx(expected))
    gap, _ = error_gap(a, b)
    assert gap == pytest.approx(a.error.mean() - b.error[1:].mean())
