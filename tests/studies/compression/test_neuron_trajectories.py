"""Neuron trajectories, at the smallest size."""

import numpy as np
import pytest
import torch

from regimes.lab import LocalExecutor, Store, find, run
from regimes.studies.compression.neuron_trajectories._trial import classes, table_error


@pytest.fixture(scope="module")
def study():
    return find("compression/neuron-trajectories")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("neurons"))
    return run(study, store=place, executor=LocalExecutor(1, threads=1))


def test_the_equation_starts_where_the_network_does(summary):
    at = summary.dataset.sel(part="places")
    np.testing.assert_allclose(at.theory_log.values[0], at.network_log.values[0], atol=1e-5)
    gap = np.abs(at.theory_log - at.network_log).values[: at.sizes["time"] // 4]
    assert np.median(gap) < 0.05


def test_weights_grow_about_as_fast_as_predicted(summary):
    at = summary.dataset.sel(part="growth")
    np.testing.assert_allclose(at.growth, at.rate, rtol=0.25)


def test_verdicts_follow_the_numbers(study, summary):
    data = summary.dataset.copy(deep=True)
    data["z_mean"][:] = np.array([-1.23, 0.64, 0.44])
    data["z_mean"][:, 0] += 0.01
    data["near_axis"][:] = 0.7
    data["growth"] = 0.43 + 0.001 * data["growth"]
    data["gap_living"] = 0.05 + 0.001 * data["gap_living"]
    assert {claim.verdict for claim in study.claims(data)} == {"reproduced"}
    data["near_axis"][:] = 0.5
    data["growth"] += 0.05
    data["gap_living"] += 0.4
    assert {claim.verdict for claim in study.claims(data)} == {"not reproduced"}


def test_classes_are_weighted_by_amplitude():
    # w, b, beta of d = 2: kinks at z = (1, 0) and (3, 0), the second three times as large
    state = torch.tensor(
        [[1.0, 0.0, -(2**-0.5), 1.0], [3.0, 0.0, -9 / 2**0.5, 1.0], [-1.0, 1.0, 0.5, 2.0]]
    ).double()
    mean, share = classes(state, 2)
    assert np.isnan(mean[0])
    assert mean[1] == pytest.approx((1 + 9) / 4)
    assert share.tolist()[1:] == [1.0, 0.0]


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_the_table_is_that_of_the_roots(d):
    assert table_error(d) < 1e-4
