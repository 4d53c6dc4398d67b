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


def test_what_pads_a_union_is_not_written(dtype):
    """As many places known as not a multiple of eight; all NaN, and no place at all, too."""
    kind = str(dtype).removeprefix("torch.")
    padded = np.full((10, 100, 7), np.nan, kind)
    padded[2, 1:51] = np.arange(350).reshape(50, 7)
    padded[3, 0, 0] = -np.inf
    data = xr.Dataset(
        {
            "x": (("trial", "t", "k"), padded),
            "none": (("trial", "k"), np.full((10, 7), np.nan, kind)),
            "empty": ("z", np.zeros(0, kind)),
        }
    )
    files = dataset_files(data)
    again = dataset_from(files)
    xr.testing.assert_identical(again, data)
    assert again["x"].dtype == again["none"].dtype == kind
    assert len(files["dataset.safetensors"]) < 0.3 * padded.nbytes


def test_equal_datasets_have_equal_bytes():
    made = [xr.Dataset({"x": ("a", np.arange(3.0))}) for _ in range(2)]
    assert dataset_files(made[0]) == dataset_files(made[1])


def test_other_attributes_are_refused():
    with pytest.raises(ValueError, match="attribute 'made'"):
        dataset_files(xr.Dataset({}, attrs={"made": object()}))
