"""The cylinder, at the smallest size and with curves that are known."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, find, run


@pytest.fixture(scope="module")
def study():
    return find("compression/cylinder")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


UNTIL = ("t_star", "peak", "fitted")
NAMES = ("amplification_star", "peak", "amplification_max")


def known(*slopes, scatter=0.1):
    """Amplifications p^slope at t*, up to five t* and in runs to the end.

    The last two miss the largest set, and runs to the end the last seeds.
    """
    p, draws = np.array([100, 300, 1000, 3000]), np.random.default_rng(1).normal(size=(4, 9))
    draws -= np.median(draws, axis=1, keepdims=True)
    dims, values = ("until", "n_train", "seed"), {}
    for number, (name, slope) in enumerate(zip(NAMES, slopes, strict=True)):
        found = np.full((3, 4, 9), np.nan)
        found[number] = p[:, None] ** slope * np.exp(scatter * draws)
        found[1:, 3] = np.nan
        found[2, :, 7:] = np.nan
        values[name] = (dims, found)
    whole = np.where(np.isnan(values["amplification_max"][1]), np.nan, 1.0)
    state = [[2, 2, 2, 2], [2, 2, 2, 3], [2, 2, 2, 3]]
    return xr.Dataset(
        {
            **values,
            "time_of_peak": (dims, 1.5 * np.isfinite(values["peak"][1])),
            "peak_time": (dims, 1.5 * whole),
            "fitted": (dims, whole),
            "trial_state": (dims[:2], state),
        },
        {"until": list(UNTIL), "n_train": p, "seed": np.arange(9)},
    )


def test_runs_to_the_end_fit_and_grow_after_t_star(summary):
    whole = summary.dataset.sel(until="fitted", n_train=8).isel(seed=slice(2))
    assert (whole.fitted == 1).all()
    assert (whole.amplification_max >= whole.whole_star).all()


def test_both_ways_of_training_pass_the_same_t_star(summary):
    """The first seeds of the runs to t* are those trained on."""
    dataset = summary.dataset.sel(n_train=8)
    first = dataset.amplification_star.sel(until="t_star").values[:2]
    np.testing.assert_allclose(first, dataset.whole_star.sel(until="fitted").values[:2], rtol=1e-4)


def test_the_peak_is_that_of_the_whole_run(summary):
    """Runs to five t* see the peak of the runs to the end, which came before."""
    dataset = summary.dataset.sel(n_train=8)
    whole = dataset.sel(until="fitted").isel(seed=slice(2))
    early = whole.peak_time.values <= 5
    assert early.any()
    seen = dataset.peak.sel(until="peak").values[:2]
    np.testing.assert_allclose(seen[early], whole.amplification_max.values[early], rtol=1e-4)


def test_training_to_the_end_is_for_small_sets(study):
    params = replace(study.parameters("smoke"), n_train=(12, 24, 48), whole_up_to=24)
    points = [config.point for config in study.configs(params)]
    assert {p["n_train"] for p in points if p["until"] == "fitted"} == {12, 24}
    assert {p["n_train"] for p in points if p["until"] == "t_star"} == {12, 24, 48}
    assert {p["seed"] for p in points if p["until"] == "fitted"} == {(1,), (2,)}


IDS = ("COMP-28", "COMP-29b", "COMP-29")


@pytest.mark.parametrize("wrong", [0.1, 0.9])
@pytest.mark.parametrize("number", range(3))
def test_each_exponent_decides_its_own_claim(study, verdicts, number, wrong):
    slopes = [0.5, 0.5, 0.5]
    assert set(verdicts(study, known(*slopes)).values()) == {"reproduced"}
    slopes[number] = wrong
    claims = {claim.id: claim for claim in study.claims(known(*slopes))}
    failed = [id for id, claim in claims.items() if claim.verdict == "not reproduced"]
    assert failed == [IDS[number]]
    assert claims[IDS[number]].measured == pytest.approx(wrong, abs=0.01)
    assert "p = 3000" in claims["COMP-28"].why
    assert "p = 3000" not in claims["COMP-29"].why
    assert "medians of 7 seeds" in claims["COMP-29"].why


def test_an_error_that_reaches_over_the_edge_decides_nothing(study, verdicts):
    assert set(verdicts(study, known(0.6, 0.65, 0.65, scatter=1.0)).values()) == {"inconclusive"}


def test_older_summaries_had_a_dimension_for_runs_to_the_end(study, verdicts):
    new = known(0.5, 0.5, 0.5)
    old = new.drop_vars(["amplification_max", "peak_time", "fitted"])
    for name in ("amplification_max", "peak_time", "fitted"):
        part = new[name].isel(seed=slice(7)).drop_vars("seed")
        old[name] = part.rename(seed="whole")
    xr.testing.assert_identical(study.upgraded(old)[list(new)], new)
    xr.testing.assert_identical(study.upgraded(new), new)


def test_a_scan_without_training_to_the_end_is_no_failure(study):
    dataset = known(0.5, 0.5, 0.5).sel(until=["t_star"])[["amplification_star", "trial_state"]]
    star, *others = study.claims(dataset)
    assert star.verdict == "reproduced"
    assert {claim.verdict for claim in others} == {"inconclusive"}
    drawn = [len(figure.data) for figure in study.figures(dataset).values()]
    assert drawn == [2, 0]  # the medians at t* with their slope, and what is missing


def test_nothing_is_decided_before_all_has_run(study):
    dataset = known(0.5, 0.5, 0.5)
    dataset["trial_state"][1, 0] = 0
    assert {claim.verdict for claim in study.claims(dataset)} == {"inconclusive"}
