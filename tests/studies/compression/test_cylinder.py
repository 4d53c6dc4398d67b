"""The cylinder, at the smallest size and with curves that are known."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run


@pytest.fixture(scope="module")
def study():
    return find("compression/cylinder")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("cylinder"))
    return run(study, store=place, executor=LocalExecutor(1, threads=1))


def known(slope):
    """Amplifications p^slope; the largest size was not followed to its peak."""
    p, spread = np.array([100, 300, 1000, 3000]), np.exp(0.1 * np.arange(-3, 4))
    star, peak = np.full((2, 2, 4, 7), np.nan)
    star[0] = p[:, None] ** slope * spread
    peak[1, :3] = 2 * p[:3, None] ** slope * spread
    return xr.Dataset(
        {
            "amplification_star": (("until", "n_train", "seed"), star),
            "peak": (("until", "n_train", "seed"), peak),
            "trial_state": (("until", "n_train"), [[2, 2, 2, 2], [2, 2, 2, 3]]),
        },
        {"until": ["t_star", "peak"], "n_train": p, "seed": np.arange(7)},
    )


def test_runs_to_the_end_fit_and_grow_after_t_star(summary):
    whole = summary.dataset.sel(until="fitted", n_train=8)
    assert (whole.fitted == 1).all()
    assert (whole.amplification_max >= whole.whole_star).all()


def test_both_ways_of_training_pass_the_same_t_star(summary):
    """The first seeds of the runs to t* are those trained on."""
    dataset = summary.dataset.sel(n_train=8)
    first = dataset.amplification_star.sel(until="t_star").values[:2]
    np.testing.assert_allclose(first, dataset.whole_star.sel(until="fitted").values, rtol=1e-4)


def test_the_peak_is_that_of_the_whole_run(summary):
    """Runs to five t* see the peak of the runs to the end, which came before."""
    dataset = summary.dataset.sel(n_train=8)
    whole = dataset.sel(until="fitted")
    early = whole.peak_time.values <= 5
    assert early.any()
    seen = dataset.peak.sel(until="peak").values[:2]
    np.testing.assert_allclose(seen[early], whole.amplification_max.values[early], rtol=1e-4)


def test_training_to_the_end_is_for_small_sets(study):
    params = replace(study.parameters("smoke"), n_train=(12, 24, 48), whole_up_to=24)
    points = [config.point for config in study.configs(params)]
    assert {p["n_train"] for p in points if p["until"] == "fitted"} == {12, 24}
    assert {p["n_train"] for p in points if p["until"] == "t_star"} == {12, 24, 48}


@pytest.mark.parametrize(("slope", "verdict"), [(0.5, "reproduced"), (0.1, "not reproduced")])
def test_the_exponent_decides(study, slope, verdict):
    claims = study.claims(known(slope))
    assert [claim.measured for claim in claims] == pytest.approx([slope, slope])
    assert {claim.verdict for claim in claims} == {verdict}
    assert "p = 3000" in claims[0].why
    assert "p = 3000" not in claims[1].why


def test_a_scan_without_training_to_the_end_is_no_failure(study):
    dataset = known(0.5).sel(until=["t_star"]).drop_vars("peak")
    star, whole = study.claims(dataset)
    assert (star.verdict, whole.verdict) == ("reproduced", "inconclusive")
    drawn = [len(figure.data) for figure in study.figures(dataset).values()]
    assert drawn == [2, 0]  # the medians at t* with their slope, and what is missing


def test_nothing_is_decided_before_all_has_run(study):
    dataset = known(0.5)
    dataset["trial_state"][1, 0] = 0
    assert {claim.verdict for claim in study.claims(dataset)} == {"inconclusive"}
