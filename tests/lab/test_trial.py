import numpy as np
import pytest
import torch

from regimes.lab import Array, Series, TrialResult


def test_tensors_and_numpy_numbers_are_taken():
    result = TrialResult(
        {"a": torch.tensor(2.0), "b": np.float32(0.5), "c": np.int64(3), "d": "text"},
        arrays={"x": Array("i", torch.ones(3, requires_grad=True))},
    )
    assert result.scalars == {"a": 2.0, "b": 0.5, "c": 3, "d": "text"}
    assert type(result.scalars["c"]) is int
    assert isinstance(result.arrays["x"].values, np.ndarray)


def test_shared_times_are_spread_over_members():
    series = Series([0, 1, 2], np.zeros((4, 3)), dims=("seed", "time"))
    assert series.times.shape == (4, 3)


def test_nan_and_infinity_are_named():
    result = TrialResult(
        {"a": float("nan"), "b": 1.0},
        arrays={"c": Array("i", [1.0, np.inf]), "d": Array("i", [1, 2])},
        series={"e": Series([0.0, 1.0], [np.nan, 1.0])},
    )
    assert result.nonfinite == ("a", "c", "e")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Array(("i", "j"), [1.0]), "dimension names"),
        (lambda: Array("i", [1j]), "real numbers"),
        (lambda: Array("i", ["a"]), "texts as scalars"),
        (lambda: Series([0.0, 1.0, 2.0], [1.0, 2.0]), "do not fit"),
        (lambda: Series([0.0], [1.0], dims=("step",)), "'time'"),
        (lambda: TrialResult({"a": [1, 2]}), "scalar 'a'"),
        (lambda: TrialResult({"a": np.ones(2)}), "scalar 'a'"),
        (lambda: TrialResult(arrays={"a": [1.0]}), "array 'a'"),
        (lambda: TrialResult(series={"a": [1.0]}), "series 'a'"),
        (lambda: TrialResult({"a": 1.0}, arrays={"a": Array("i", [1])}), "twice: a"),
        (lambda: TrialResult({"a_times": 1.0}, series={"a": Series([0], [1.0])}), "a_times"),
    ],
)
def test_what_cannot_be_stored_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_a_mask_hides_is_nan_and_flagged():
    hidden = np.ma.masked_array([1.0, 2.0], mask=[False, True], dtype="float32")
    result = TrialResult(
        {"x": np.ma.masked, "y": np.ma.masked_array(3, mask=False)},
        arrays={"v": Array("k", hidden), "w": Array("k", np.ma.masked_array([1, 2]))},
        series={"s": Series([0.0, 1.0], hidden)},
    )
    np.testing.assert_array_equal(result.arrays["v"].values, [1.0, np.nan])
    assert result.arrays["v"].values.dtype == np.float32
    assert type(result.arrays["w"].values) is np.ndarray
    assert (np.isnan(result.scalars["x"]), result.scalars["y"]) == (True, 3)
    assert result.nonfinite == ("x", "v", "s")


@pytest.mark.parametrize("dtype", [int, bool, "uint8"])
def test_a_mask_over_what_cannot_be_nan_is_refused(dtype):
    with pytest.raises(ValueError, match=r"masked entries.*astype\('float64'\)"):
        Array("k", np.ma.masked_array([1, 0], mask=[False, True], dtype=dtype))


def test_integers_of_64_bits_are_stored_and_no_larger_ones():
    assert TrialResult({"x": 2**64 - 1, "y": -(2**63)}).scalars["x"] == 2**64 - 1
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="more than 64 bits"):
            TrialResult({"x": value})
