"""Errors alone and together, on predictions whose answers are known."""

import numpy as np
import pytest
import torch

from regimes import measure
from regimes.measure import ensemble_outcomes, jackknife_error


@pytest.fixture
def outputs():
    return np.random.default_rng(0).normal(0.7, 1.0, (2, 6, 400))


def test_numbers_of_the_ensemble_are_those_of_the_plain_formulas(outputs):
    y = np.where(np.arange(400) % 2, 1.0, -1.0)
    found = ensemble_outcomes(outputs * y, y, np.ones((2, 6)))
    np.testing.assert_allclose(found.error, (outputs <= 0).mean(-1))
    np.testing.assert_allclose(found.ensemble_error, (outputs.mean(1) <= 0).mean(-1))
    np.testing.assert_allclose(found.variance, outputs.var(1, ddof=1).mean(-1))
    others = np.delete(outputs, 2, axis=1)
    np.testing.assert_allclose(found.ensemble_error_without[:, 2], (others.mean(1) <= 0).mean(-1))
    np.testing.assert_allclose(found.variance_without[:, 2], others.var(1, ddof=1).mean(-1))


def test_they_are_the_numbers_of_the_plain_measures(outputs):
    y = np.ones(400)
    found = ensemble_outcomes(outputs, y, np.ones((2, 6)))
    F, labels = torch.from_numpy(outputs).transpose(0, 1), torch.from_numpy(y)
    np.testing.assert_allclose(found.error, measure.test_error(F, labels).T)
    np.testing.assert_allclose(found.ensemble_error, measure.ensemble_error(F, labels))
    np.testing.assert_allclose(found.variance, measure.ensemble_variance(F))


def test_runs_that_do_not_count_are_left_out(outputs):
    kept = np.ones((2, 6))
    kept[0, 1], kept[1, 2:] = 0, 0
    found = ensemble_outcomes(outputs, np.ones(400), kept)
    rest = np.delete(outputs[0], 1, axis=0)
    assert found.variance[0] == pytest.approx(rest.var(0, ddof=1).mean())
    assert found.variance_without[0, 1] == found.variance[0]
    assert np.isnan(found.variance[1])  # two runs are too few
    assert np.isnan(found.ensemble_error_without[1]).all()


@pytest.mark.parametrize("seeds", [0, 1, 2])
def test_fewer_runs_count_when_asked_for(outputs, seeds):
    kept = (np.arange(6) < seeds)[None].astype(float)
    found = ensemble_outcomes(outputs[:1], np.ones(400), kept, least=1)
    assert np.isnan(found.ensemble_error).all() == (seeds == 0)
    assert np.isnan(found.variance).all() == (seeds < 2)
    assert np.isnan(found.ensemble_error_without[0, 0]) == (seeds < 2)
    assert np.isnan(found.variance_without[0, 0])


def test_shapes_must_fit(outputs):
    with pytest.raises(ValueError, match=r"outputs must have shape \(scale, seed, point\)"):
        ensemble_outcomes(outputs, np.ones(399), np.ones((2, 6)))


def test_the_jackknife_of_a_variance_is_about_right():
    draws = np.random.default_rng(0).normal(size=(400, 30))
    errors = [
        jackknife_error(np.array([np.delete(row, i).var(ddof=1) for i in range(30)]))
        for row in draws
    ]
    assert np.mean(errors) == pytest.approx(draws.var(axis=1, ddof=1).std(), rel=0.2)
