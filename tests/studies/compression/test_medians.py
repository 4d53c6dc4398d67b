"""Medians over seeds, as they are drawn and when they are judged."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import Missing
from regimes.studies.compression import _medians


def test_bars_hold_the_middle_half_and_guides_have_their_slope():
    values = np.arange(1.0, 6.0)[:, None] * np.ones(3)
    data = xr.DataArray(values, dims=("seed", "n_train"), coords={"n_train": [1, 10, 100]})
    figure = _medians.axes("error", ticks=data.n_train, caption="")
    _medians.curve(figure, data.reindex(n_train=[1, 10, 100, 1000]), "line", slope=-0.5)
    line, guide = figure.data
    np.testing.assert_array_equal(line.y, [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(line.error_y.array, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(guide.x, [1, 100])
    np.testing.assert_allclose(guide.y, [22.5, 2.25])


def test_a_scan_is_whole_when_nothing_failed_or_is_to_come():
    _medians.need_whole(xr.Dataset({"trial_state": ("p", [2, 2, 3])}))
    with pytest.raises(Missing, match="2 trials missing"):
        _medians.need_whole(xr.Dataset({"trial_state": ("p", [0, 1, 2])}))
    with pytest.raises(Missing, match="no trial has finished"):
        _medians.need_whole(xr.Dataset())
