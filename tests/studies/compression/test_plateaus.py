"""Times and amplification over alpha, at the smallest size and with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run

ALPHAS = np.array([1e-14, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])


@pytest.fixture(scope="module")
def study():
    return find("compression/plateaus")


SEEDS = 4


def known(*, slope=1.143, bend=0.0, frozen=5.0, power=1.0, high=30.0, low=1.0, scatter=0.001):
    """Both plateaus, with times and levels that differ a little from seed to seed."""
    u = np.log(1 / ALPHAS)
    draws = 1 + scatter * np.linspace(-1, 1, SEEDS)[:, None]
    rise = 3 + slope * draws * u + bend * (u - u[2]) ** 2
    t_star = np.where(ALPHAS < 0.1, rise, 5.0 * draws / ALPHAS**power)
    lam = low + (high * draws - 1) / (1 + (ALPHAS / 3e-3) ** 0.8)
    grid = np.ones((2, 1, 1))
    return xr.Dataset(
        {
            "t_star": (("p", "seed", "alpha"), grid * t_star),
            "amplification": (("p", "seed", "alpha"), grid * lam),
            "frozen_t_star": (("p", "seed"), np.full((2, SEEDS), frozen)),
            "dimension": (("p", "seed"), np.full((2, SEEDS), 5)),
        },
        {"p": [1500, 3000], "seed": range(SEEDS), "alpha": ALPHAS},
    )


def test_features_are_amplified_at_small_alpha_only(study, tmp_path):
    store, alphas = Store(tmp_path), [1e-14, 1e6]
    summary = run(study, store=store, executor=InlineExecutor(), p=[100], alpha=alphas)
    small, large = summary.dataset.amplification.isel(p=0, seed=0).values
    assert small > 2 * large


def test_seeds_to_come_change_nothing_but_their_number(study, verdicts):
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


def test_data_that_follow_the_law_are_reproduced(study, verdicts):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("distorted", "id"),
    [
        ({"slope": 1.28}, "COMP-17"),
        ({"slope": 1.0}, "COMP-17"),
        ({"bend": 0.01}, "COMP-17"),
        ({"frozen": 5.3}, "COMP-18"),
        ({"frozen": 4.7}, "COMP-18"),
        ({"power": 1.01}, "COMP-18"),
        ({"low": 1.2}, "COMP-19"),
        ({"high": 1.2}, "COMP-50"),
    ],
)
def test_a_distortion_fails_its_own_claim(study, verdicts, distorted, id):
    found = verdicts(study, known(**distorted))
    assert found[id] == "not reproduced"
    assert {v for other, v in found.items() if other != id} == {"reproduced"}


@pytest.mark.parametrize(
    ("first", "last", "verdict"), [(0, 0, "reproduced"), (0.1, 0.1, "not reproduced")]
)
def test_the_small_plateau_is_flat(study, verdicts, first, last, verdict):
    data = known()
    data["amplification"][:, :, 0] *= 1 + np.linspace(first, last, SEEDS)
    assert verdicts(study, data)["COMP-19"] == verdict


def test_an_error_that_reaches_over_the_edge_decides_nothing(study, verdicts):
    data = known()
    data["amplification"][:, :, 0] *= 1 + np.array([-0.05, 0.0, 0.05, 0.1])
    assert verdicts(study, data)["COMP-19"] == "inconclusive"
    steep = known(slope=1.24, scatter=0.05)
    assert verdicts(study, steep)["COMP-17"] == "inconclusive"
    open_ratio = known()
    open_ratio["amplification"][1, :, 5] = 15.0 * np.array([0.2, 0.8, 1.2, 1.8])
    assert verdicts(study, open_ratio)["COMP-50"] == "inconclusive"


def test_one_run_that_is_off_is_seen(study, verdicts):
    data = known()
    data["frozen_t_star"][0, 0] *= 1.06
    assert verdicts(study, data)["COMP-18"] == "not reproduced"


def test_the_crossover_has_a_place(study, verdicts):
    data = known().assign_coords(alpha=ALPHAS)
    early = 1 + 29 / (1 + (ALPHAS / 1e-7) ** 0.8)
    data["amplification"][:] = early
    claim = {c.id: c for c in study.claims(data)}["COMP-19"]
    assert "log10 alpha half way" in claim.expected
    assert claim.verdict == "not reproduced"
