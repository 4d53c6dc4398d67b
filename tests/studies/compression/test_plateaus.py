"""Times and amplification over alpha, at the smallest size and with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run

ALPHAS = np.array([1e-14, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])


@pytest.fixture(scope="module")
def study():
    return find("compression/plateaus")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("plateaus"))
    return run(study, store=place, executor=InlineExecutor())


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


def test_the_smoke_size_runs_whole(summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert {claim.id for claim in summary.claims} == {"COMP-17", "COMP-18", "COMP-19", "COMP-50"}
    mean = summary.dataset.amplification.isel(p=0, seed=0)
    assert float(mean[0]) > 2 * float(mean[-1])


def test_known_curves_are_judged_right(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}
    assert verdicts(study, known(slope=1.4))["COMP-17"] == "not reproduced"
    assert verdicts(study, known(frozen=6.0))["COMP-18"] == "not reproduced"
    assert verdicts(study, known(power=1.1))["COMP-18"] == "not reproduced"
    assert verdicts(study, known(high=1.2))["COMP-50"] == "not reproduced"


def test_figure_tells_what_is_seen(study, summary):
    (figure,) = study.figures(summary.dataset).values()
    assert "fixed point" in figure.layout.meta["caption"]
