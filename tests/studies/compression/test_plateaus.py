"""Times and amplification over alpha, at the smallest size and with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run

ALPHAS = np.array([1e-14, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])


@pytest.fixture(scope="module")
def study():
    return find("compression/plateaus")


def known(slope=1.143, frozen=5.0, power=1.0, high=30.0):
    t_star = np.where(ALPHAS < 0.1, 3 + slope * np.log(1 / ALPHAS), 5.0 / ALPHAS**power)
    lam = 1 + (high - 1) / (1 + (ALPHAS / 3e-3) ** 0.8)
    grid = np.ones((2, 2, 1))
    return xr.Dataset(
        {
            "t_star": (("p", "seed", "alpha"), grid * t_star),
            "amplification": (("p", "seed", "alpha"), grid * lam),
            "frozen_t_star": (("p", "seed"), np.full((2, 2), frozen)),
            "dimension": (("p", "seed"), np.full((2, 2), 5)),
        },
        {"p": [1500, 3000], "seed": [0, 1], "alpha": ALPHAS},
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_features_are_amplified_at_small_alpha_only(study, tmp_path):
    store, alphas = Store(tmp_path), [1e-14, 1e6]
    summary = run(study, store=store, executor=InlineExecutor(), p=[100], alpha=alphas)
    small, large = summary.dataset.amplification.isel(p=0, seed=0).values
    assert small > 2 * large


def test_seeds_to_come_change_nothing_but_their_number(study):
    dataset = known()
    dataset["t_star"][0, 1] = np.nan
    dataset["amplification"][0, 1] = np.nan
    assert set(verdicts(study, dataset).values()) == {"reproduced"}
    dataset["t_star"][0] = np.nan
    found = verdicts(study, dataset)
    assert found.pop("COMP-50") == "reproduced"  # judged at the last p
    assert set(found.values()) == {"inconclusive"}


def test_alphas_that_were_not_run_are_said(study):
    claims = {claim.id: claim for claim in study.claims(known().isel(alpha=slice(1, 6)))}
    assert claims["COMP-17"].verdict == "reproduced"
    assert claims["COMP-18"].why == "needs two alpha from 1e2 on"
    assert claims["COMP-19"].verdict == "inconclusive"


def test_known_curves_are_judged_right(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}
    assert verdicts(study, known(slope=1.4))["COMP-17"] == "not reproduced"
    assert verdicts(study, known(frozen=6.0))["COMP-18"] == "not reproduced"
    assert verdicts(study, known(power=1.1))["COMP-18"] == "not reproduced"
    assert verdicts(study, known(high=1.2))["COMP-50"] == "not reproduced"
