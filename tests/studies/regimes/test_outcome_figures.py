"""Curves of ensembles: what is drawn of runs that count, and of those that do not."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import draw
from regimes.measure import jackknife_error
from regimes.studies.regimes._outcome_figures import draw_errors, draw_jackknifed

WITHOUT = np.array([0.10, 0.12, 0.14, 9.0])  # the last run does not count


@pytest.fixture
def row():
    """Two scales, the larger one first, and a third at which too few runs fitted."""
    error = np.array([0.2, 0.3, 0.4, 0.9])
    dims = ("scale", "seed")
    return xr.Dataset(
        {
            "error": (dims, np.stack([error, error / 2, error])),
            "ensemble_error": ("scale", [0.2, 0.1, np.nan]),
            "ensemble_error_without": (dims, np.stack([2 * WITHOUT, WITHOUT, WITHOUT])),
            "variance": ("scale", [3.0, 2.0, np.nan]),
            "variance_without": (dims, np.stack([WITHOUT] * 3)),
            "kept": (dims, np.stack([[1, 1, 1, 0]] * 3)),
        },
        {"scale": [1e3, 0.1, 10.0]},
    )


def test_errors_are_of_the_runs_that_count(row):
    figure = draw.axes("scale", "error", caption="")
    draw_errors(figure, row, "plain: ")
    single, together = figure.data
    assert (single.name, together.name) == ("plain: one network (mean)", "plain: ensemble")
    for trace in (single, together):
        assert list(trace.x) == [0.1, 1e3]
    assert single.y == pytest.approx([15.0, 30.0])
    assert together.y == pytest.approx([10.0, 20.0])
    error = 100 * jackknife_error(WITHOUT[:3])
    assert together.error_y.array == pytest.approx([error, 2 * error])


def test_along_another_dimension_and_in_other_units(row):
    over_alpha = row.assign_coords(alpha=("scale", [4.0, 2.0, 3.0])).swap_dims(scale="alpha")
    figure = draw.axes("alpha", "variance", caption="")
    draw_jackknifed(figure, over_alpha, "variance", "plain", times=5.0)
    assert list(figure.data[0].x) == [2.0, 4.0]
    assert figure.data[0].y == pytest.approx([10.0, 15.0])
