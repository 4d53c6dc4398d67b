"""The scan over alpha, at its smallest size and with plateaus that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, find, run


@pytest.fixture(scope="module")
def study():
    return find("compression/alpha-scan")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def known(feature, lazy, frozen, *, also=None, scatter=0.02):
    """Four seeds whose errors differ a little at every scale."""
    alphas = np.array([1e-8, 1e-6, 1.0, 1e4])
    draws = 1 + scatter * np.array([[1, -1, 0, 1], [-1, 1, 0, -1], [1, 1, 0, -1], [-1, -1, 0, 1]])
    error = draws * [feature, also or feature, 0.1, lazy]
    return xr.Dataset(
        {
            "test_error": (("seed", "alpha"), error),
            "unfitted": (("seed", "alpha"), np.zeros((4, 4))),
            "frozen_error": ("seed", [frozen] * 4),
        },
        {"alpha": alphas, "seed": range(4)},
    )


def test_the_ends_of_the_scan_differ_as_they_should(summary):
    dataset = summary.dataset.isel(seed=0)
    small, large = dataset.isel(alpha=0), dataset.isel(alpha=-1)
    assert small.amplification_star > 2 * large.amplification_star
    assert float(large.amplification_star) == pytest.approx(1.0, abs=0.4)
    assert small.kernel_change > 10 * large.kernel_change
    assert small.t_star > large.t_star
    assert small.share.isel(moment=-1) > large.share.isel(moment=-1)


def test_the_slider_has_every_scale(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures["Neurons at the end of training"].frames) == summary.dataset.sizes["alpha"]


@pytest.mark.parametrize(
    ("feature", "lazy", "frozen", "verdict"),
    [
        (0.03, 0.19, 0.19, "reproduced"),
        (0.16, 0.19, 0.19, "not reproduced"),  # no better than lazy
        (0.03, 0.19, 0.22, "not reproduced"),  # the lazy end is not the frozen kernel
        (0.03, 0.19, 0.16, "not reproduced"),
    ],
)
def test_the_claim_can_fail(study, feature, lazy, frozen, verdict):
    (claim,) = study.claims(known(feature, lazy, frozen))
    assert claim.id == "COMP-20"
    assert claim.verdict == verdict


@pytest.mark.parametrize("also", [0.02, 0.06])
def test_the_feature_end_is_flat(study, also):
    (claim,) = study.claims(known(0.03, 0.19, 0.19, also=also))
    assert claim.verdict == "not reproduced"


def test_an_error_that_reaches_over_the_edge_decides_nothing(study):
    (claim,) = study.claims(known(0.03, 0.19, 0.19, scatter=0.5))
    assert claim.verdict == "inconclusive"


def test_only_the_seeds_that_ran_are_judged(study):
    part = known(0.03, 0.19, 0.19)
    for variable in part.data_vars:
        part[variable][2:] = np.nan
    (claim,) = study.claims(part)
    assert claim.verdict == "reproduced"
    assert "2 seeds" in claim.why


def test_one_seed_has_no_error(study):
    (claim,) = study.claims(known(0.03, 0.19, 0.19).isel(seed=[0]))
    assert claim.verdict == "inconclusive"


def test_a_scan_without_the_plateaus_decides_nothing(summary):
    (claim,) = summary.claims
    assert claim.verdict == "inconclusive"
    assert "alpha = 1e-08 was not run" in claim.why
