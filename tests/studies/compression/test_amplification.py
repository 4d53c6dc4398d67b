"""Amplification in time and against p, at the smallest size and with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run
from regimes.studies.compression.amplification._claims import TIMES


@pytest.fixture(scope="module")
def study():
    return find("compression/amplification")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("amplification"))
    return run(study, store=place, executor=InlineExecutor(), d=[5], p=[200])


def known(slope=0.5, gap=0.001, plateau=True):
    p, seeds = np.array([100, 300, 1000, 4000]), 6
    spread = np.exp(0.05 * np.arange(seeds))
    lam = 0.9 * np.ones((2, 1, 1)) * p[:, None] ** slope * spread
    course = np.full((2, 4, seeds, len(TIMES)), np.nan)
    grown = np.minimum(np.exp(8 * TIMES), 20.0) if plateau else np.exp(2 * TIMES)
    course[0, 1] = grown * spread[:, None]
    last = np.full((2, 4, seeds), np.nan)
    last[0, 1] = lam[0, 1]
    ratios = np.full((2, 4, seeds, 4), np.nan)
    ratios[0, 3] = 0.02
    level = np.full((2, 4, seeds), np.nan)
    level[0, 3] = lam[0, 3]
    dims = ("d", "p", "seed")
    return xr.Dataset(
        {
            "amplification": (dims, lam),
            "course": ((*dims, "moment"), course),
            "last": (dims, last),
            "ratios": ((*dims, "direction"), ratios),
            "ratios_predicted": ((*dims, "direction"), ratios + gap),
            "amplification_predicted": (dims, level),
            "ratios_first_order": ((*dims, "direction"), ratios + 0.02),
            "amplification_first_order": (dims, level),
            "level": (dims, level),
        },
        {"d": [5, 10], "p": p, "seed": np.arange(seeds)},
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_known_curves_are_judged_right(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}
    assert verdicts(study, known(slope=0.3))["COMP-13"] == "not reproduced"
    assert verdicts(study, known(gap=0.01))["COMP-11"] == "not reproduced"
    assert verdicts(study, known(plateau=False))["COMP-15"] == "not reproduced"


def test_other_dimensions_are_judged_where_one_was_not_run(study):
    found = verdicts(study, known().sel(d=[5]))
    assert found.pop("COMP-13") == "inconclusive"
    assert set(found.values()) == {"reproduced"}


def test_the_prediction_of_the_level_is_for_the_data_set_itself(summary):
    """Even of 200 points: nothing is expanded in their number."""
    chosen = summary.dataset.sel(d=5, p=200)
    assert float(chosen.amplification.mean()) > 4
    miss = float(np.abs(chosen.ratios - chosen.ratios_predicted).max())
    assert miss < 0.1 * float(np.abs(chosen.ratios).max())
    np.testing.assert_allclose(chosen.level, chosen.amplification_predicted, rtol=0.2)
