import numpy as np
import pytest
import xarray as xr

from regimes.lab._dataset_io import dataset_files, dataset_from


def test_a_dataset_survives(dtype, tolerance):
    kind = str(dtype).removeprefix("torch.")
    dataset = xr.Dataset(
        {
            "x": (("a", "name"), np.array([[1.0, np.nan], [2.0, -np.inf]], kind), {"units": "m"}),
            "flag": ("a", np.array([True, False])),
            "count": ((), np.int64(3)),
        },
        {"a": [1, 2], "name": ["one", "two"], "label": ("a", np.array(["p", "qq"]))},
        {"study": "a/b", "trials": np.int64(4)},
    )
    again = dataset_from(dataset_files(dataset))
    xr.testing.assert_identical(again, dataset.assign_attrs(trials=4))
    assert again["x"].dtype == kind


def test_equal_datasets_have_equal_bytes():
    made = [xr.Dataset({"x": ("a", np.arange(3.0))}) for _ in range(2)]
    assert dataset_files(made[0]) == dataset_files(made[1])


def test_other_attributes_are_refused():
    with pytest.raises(ValueError, match="attribute 'made'"):
        dataset_files(xr.Dataset({}, attrs={"made": object()}))
