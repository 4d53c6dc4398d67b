"""Cases: texts that name their settings, and the table made of them."""

import numpy as np
import pytest
import xarray as xr

from regimes.studies.regimes import _cases


def table(states):
    names = _cases.cases("widths", P=5, h=(4, 2), at=(0.1, 10.0))
    rows = [_cases.settings_of(name) for name in names]
    coords = {key: ("case", [row[key] for row in rows]) for key in rows[0]}
    return xr.Dataset({"trial_state": ("case", states)}, {"case": list(names), **coords})


def test_a_case_gives_back_what_it_was_made_of():
    (case,) = _cases.cases("limit", net="cnn", pca=0, L=3, P=200, h=64, at=1e-6)
    assert _cases.settings_of(case) == {
        "scan": "limit",
        "net": "cnn",
        "pca": 0,
        "L": 3,
        "P": 200,
        "h": 64,
        "at": 1e-6,
    }
    assert "," not in case  # the command line separates cases by commas


@pytest.mark.parametrize("case", ["widths h", "widths h=", "widths h=4 h=5", "widths at=large"])
def test_a_case_that_cannot_be_read_is_refused(case):
    with pytest.raises(ValueError, match="widths"):
        _cases.settings_of(case)


def test_a_scan_holds_its_finished_cases_alone():
    dataset = table([2, 2, 1, 0])
    assert _cases.unfinished(dataset, "widths") == 2
    assert _cases.unfinished(dataset, "scales") == 0
    found = _cases.scan_of(dataset, "widths", at=0.1)
    assert found["h"].values.tolist() == [4]
    ordered = _cases.along(_cases.scan_of(table([2] * 4), "widths", at=10.0), "h")
    assert ordered["h"].values.tolist() == [2, 4]
    assert _cases.scan_of(dataset, "scales").sizes["case"] == 0


def test_unknown_images_are_refused():
    with pytest.raises(ValueError, match="images must be one of"):
        _cases.points("faces", 6000, 100, components=10, dtype="float64", device="cpu")


def test_the_built_in_digits_come_from_the_shared_pool():
    made = _cases.points("digits", 20, 30, components=None, dtype="float64", device="cpu")
    assert made.x_train.shape == (20, 1, 8, 8)
    assert np.isclose(made.x_test.flatten(1).square().sum(1), 64.0).all()
