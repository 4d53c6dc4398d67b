from dataclasses import replace

import numpy as np
import pytest

from regimes.lab import Array, TrialResult, agenda, collect, execute, gather, mean_over
from regimes.lab._perform import perform
from regimes.lab._record import encode


def run(study, params, store):
    execute(agenda(study, params, store=store), store=store)
    return gather(study, params, store=store)


@pytest.fixture
def dataset(toys, store):
    return collect(run(toys.Echo, toys.EchoParams(), store))


def test_values_lie_on_the_grid_of_the_scan(dataset):
    assert dict(dataset.sizes) == {"width": 2, "alpha": 3, "seed": 2, "rank": 2, "loss_step": 3}
    expected = np.outer([1, 2], [0.5, 1.0, 2.0])
    np.testing.assert_array_equal(dataset["product"], expected)
    assert dataset["product"].dims == ("width", "alpha")
    value = dataset["value"].sel(width=2, alpha=2.0, seed=1)
    assert float(value) == 3.0
    assert dataset["value"].dims == ("width", "alpha", "seed")
    assert dataset["name"].sel(width=2, alpha=0.5).item() == "w2"


def test_units_coordinates_and_counts_are_there(dataset):
    assert dataset["value"].attrs["units"] == "m"
    assert dataset["trial_seconds"].attrs["units"] == "s"
    assert dataset["alpha"].attrs["units"] == "1"
    np.testing.assert_array_equal(dataset["rank"], [1, 2])
    counts = {name: dataset.attrs[name] for name in ("trials", "finished", "failed", "missing")}
    assert counts == {"trials": 6, "finished": 6, "failed": 0, "missing": 0}


def test_series_of_different_lengths_are_padded(dataset):
    short = dataset["loss"].sel(width=1, alpha=2.0).values
    np.testing.assert_array_equal(short, [2.0, 2.0, np.nan])
    np.testing.assert_array_equal(dataset["loss_times"].sel(width=2, alpha=2.0), [0, 1, 2])


def test_what_is_missing_is_nan_and_said_to_be_missing(toys, store):
    run(toys.Echo, replace(toys.EchoParams(), width=(1,)), store)
    results = gather(toys.Echo, toys.EchoParams(), store=store)
    dataset = collect(results)
    assert (len(results), len(results.missing)) == (3, 3)
    assert np.isnan(dataset["product"].sel(width=2)).all()
    np.testing.assert_array_equal(dataset["trial_state"], [[2, 2, 2], [0, 0, 0]])
    assert dataset["name"].sel(width=2, alpha=0.5).item() == ""


def test_failed_and_unwanted_points_are_told_apart(toys, store):
    params = toys.TroubleParams(kind=("fine", "raise"))
    dataset = collect(run(toys.Trouble, params, store))
    np.testing.assert_array_equal(dataset["trial_state"], [[2, 2, 2, 2], [2, 1, 2, 1]])
    picky = replace(toys.Trouble, wanted=lambda params, point: point.i != 2)
    dataset = collect(gather(picky, params, store=store))
    np.testing.assert_array_equal(dataset["trial_state"], [[2, 2, 3, 2], [2, 1, 3, 1]])


def test_a_nan_is_flagged_and_never_averaged_away(toys, store):
    params = toys.TroubleParams(kind=("nan", "fine"), i=(0, 1, 2))
    dataset = collect(run(toys.Trouble, params, store))
    np.testing.assert_array_equal(dataset["trial_nonfinite"], [[0, 1, 0], [0, 0, 0]])
    average = mean_over(dataset, "x", "i")
    assert np.isnan(average["mean"].sel(kind="nan"))
    assert float(average["mean"].sel(kind="fine")) == 1.0
    np.testing.assert_array_equal(average["count"], [3, 3])


def test_an_average_leaves_out_what_did_not_run_and_counts_the_rest(toys, store):
    params = toys.EchoParams(width=(1,), alpha=(1.0, 2.0))
    run(toys.Echo, params, store)
    wider = replace(params, alpha=(1.0, 2.0, 4.0))
    dataset = collect(gather(toys.Echo, wider, store=store))
    average = mean_over(dataset, "product", "alpha")
    np.testing.assert_array_equal(average["mean"], [1.5])
    np.testing.assert_array_equal(average["count"], [2])
    np.testing.assert_allclose(average["error"], np.std([1, 2], ddof=1) / np.sqrt(2))


def test_an_average_over_members_has_the_units_and_the_textbook_error(dataset):
    average = mean_over(dataset, "value", "seed")
    np.testing.assert_allclose(average["mean"], dataset["value"].mean("seed"))
    np.testing.assert_allclose(average["error"], 0.5)
    assert average["mean"].attrs["units"] == "m"
    with pytest.raises(ValueError, match="no dimension 'time'"):
        mean_over(dataset, "value", "time")


def test_a_damaged_trial_counts_as_missing(toys, store):
    results = run(toys.Echo, toys.EchoParams(), store)
    victim = results.records[0].key
    (store.folder("toy/echo") / victim / "arrays.safetensors").write_bytes(b"nonsense")
    again = gather(toys.Echo, toys.EchoParams(), store=store)
    assert again.missing == (victim,)


def scan(toys, store, **values):
    """A scan whose trials return what is given for each of them in turn."""
    results = list(values.values())
    study = replace(toys.Trouble, trial=lambda params, point: results[point.i])
    params = toys.TroubleParams(i=tuple(range(len(results))))
    for config in study.configs(params):
        store.commit([encode(perform(study, config))])
    return gather(study, params, store=store)


def test_trials_that_name_their_values_differently_share_their_dimensions(toys, store):
    """The first has the longer array, under a name of its own."""
    dataset = collect(
        scan(
            toys,
            store,
            first=TrialResult(arrays={"early": Array("k", [1.0, 2.0, 3.0])}),
            second=TrialResult(arrays={"late": Array("k", [4.0]), "other": Array("j", [1, 2])}),
        )
    )
    assert dict(dataset.sizes) == {"kind": 1, "i": 2, "k": 3, "j": 2}
    np.testing.assert_array_equal(dataset["early"][0], [[1, 2, 3], [np.nan] * 3])
    np.testing.assert_array_equal(dataset["late"][0], [[np.nan] * 3, [4, np.nan, np.nan]])
    np.testing.assert_array_equal(dataset["other"][0], [[np.nan] * 2, [1, 2]])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Array("j", [1.0]), r"the dimensions \('k',\) in the trial at .*'i': 0.* and \('j',\) in"),
        (Array(("k", "j"), [[1.0]]), r"and \('k', 'j'\) in the trial at .*'i': 1"),
    ],
)
def test_one_name_with_different_dimensions_names_both_trials(toys, store, other, message):
    first = TrialResult(arrays={"x": Array("k", [1.0, 2.0])})
    results = scan(toys, store, first=first, second=TrialResult(arrays={"x": other}))
    with pytest.raises(ValueError, match=message):
        collect(results)


def test_a_number_here_and_a_text_there_names_both_trials(toys, store):
    results = scan(toys, store, first=TrialResult({"x": "one"}), second=TrialResult({"x": 1}))
    with pytest.raises(ValueError, match=r"texts in the trial at .*'i': 0.* and numbers in"):
        collect(results)


def test_a_coordinate_shorter_than_its_dimension_is_explained(toys, store):
    coordinate = TrialResult(arrays={"k": Array("k", [1.0])})
    longer = TrialResult(arrays={"x": Array("k", [1.0, 2.0])})
    with pytest.raises(ValueError, match="no trial has the whole coordinate 'k'"):
        collect(scan(toys, store, first=coordinate, second=longer))
