"""Fitting stages, at the smallest size."""

import numpy as np
import pytest

from regimes.lab import InlineExecutor, find, run
from regimes.studies.compression.fitting_stages._claims import sign_changes


@pytest.fixture(scope="module")
def study():
    return find("compression/fitting-stages")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def test_stages_follow_each_other_and_the_loss_falls(summary):
    data = summary.dataset
    assert bool((np.diff(data.stage_time.values, axis=0) > 0).all())
    assert float(data.end_loss.max()) < 0.15
    loss = data.loss.values
    assert loss[0] == pytest.approx(1.0)
    assert loss[-1] == pytest.approx(float(data.end_loss[0]))


def test_the_last_test_error_is_that_of_the_run(summary):
    assert float(summary.dataset.error.values[-1]) == pytest.approx(
        float(summary.dataset.test_error[0])
    )


def test_verdicts_follow_the_numbers(study, summary):
    data = summary.dataset.copy(deep=True)
    data["fitted_distance"] = 0.5 * data["unfitted_distance"]
    data["bins"] += 20
    assert {claim.verdict for claim in study.claims(data)} == {"not reproduced"}
    x = data.x1.values
    data["profile"][:] = (x + 0.3) * (x - 1.1855)
    data["bins"] *= 0
    data["fitted_distance"] = 2 * data["unfitted_distance"]
    assert {claim.verdict for claim in study.claims(data)} == {"reproduced"}
    data["bins"][0] = 9  # one run is enough
    assert study.claims(data)[1].verdict == "not reproduced"
    data["bins"][0] = 8
    assert study.claims(data)[1].verdict == "reproduced"
    data["profile"][-1, 0] = (x + 0.36) * (x - 1.1855)
    assert study.claims(data)[1].verdict == "not reproduced"
    data["profile"][-1, 0] = 1.0  # changes sign nowhere
    assert study.claims(data)[1].verdict == "not reproduced"


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((1.5, 2.0), "reproduced"), ((0.7, 0.8), "not reproduced"), ((0.8, 1.6), "inconclusive")],
)
def test_the_order_of_fitting_has_an_error(study, summary, verdicts, ratios, verdict):
    data = summary.dataset.copy(deep=True)
    data["fitted_distance"] = data["unfitted_distance"] * np.array(ratios)
    assert verdicts(study, data)["COMP-32"] == verdict


def test_crossings_of_a_parabola():
    x = np.linspace(-2, 2, 401)
    np.testing.assert_allclose(
        sign_changes(x, x**2 - 1.005), [-(1.005**0.5), 1.005**0.5], atol=1e-4
    )
    assert len(sign_changes(x, x**2 + 1)) == 0
