"""Neuron trajectories, at the smallest size."""

import numpy as np
import pytest
import torch

from regimes.lab import InlineExecutor, find, run
from regimes.studies.compression.neuron_trajectories._trial import classes, table_error


@pytest.fixture(scope="module")
def study():
    return find("compression/neuron-trajectories")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def test_the_equation_starts_where_the_network_does(summary):
    at = summary.dataset.sel(part="places")
    np.testing.assert_allclose(at.theory_log.values[0], at.network_log.values[0], atol=1e-5)
    gap = np.abs(at.theory_log - at.network_log).values[: at.sizes["time"] // 4]
    assert np.median(gap) < 0.05


def test_noise_on_all_weights_brings_the_equation_nearer(summary):
    at = summary.dataset.sel(part="equation")
    assert float(at.close_grown_all.mean()) > float(at.close_grown_source.mean())
    assert (at.gap_all > 0).all()


def test_weights_grow_about_as_fast_as_predicted(summary):
    at = summary.dataset.sel(part="growth")
    np.testing.assert_allclose(at.growth, at.rate, rtol=0.25)


def test_verdicts_follow_the_numbers(study, summary):
    data = summary.dataset.copy(deep=True)
    data["z_mean"][:] = np.array([-1.23, 0.64, 0.44])
    data["z_mean"][:, 0] += 0.01
    data["near_axis"][:] = 0.7
    data["growth"] = 0.43 + 0.001 * data["growth"]
    for gap in ("gap_source", "gap_all"):
        data[gap] = 0.05 + 0.001 * data[gap]
    assert {claim.verdict for claim in study.claims(data)} == {"reproduced"}
    data["near_axis"][:] = 0.5
    data["growth"] += 0.05
    for gap in ("gap_source", "gap_all"):
        data[gap] += 0.4
    assert {claim.verdict for claim in study.claims(data)} == {"not reproduced"}


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([0.05, 0.08, 0.1, 0.1, 0.1, 0.12, 0.9], "reproduced"),  # the worst does not decide
        ([0.1, 0.4, 0.4, 0.5, 0.5, 0.5, 0.6], "not reproduced"),
        ([0.05, 0.1, 0.2, 0.24, 0.6, 0.7, 0.9], "inconclusive"),
    ],
)
@pytest.mark.parametrize(("id", "name"), [("COMP-10", "gap_source"), ("COMP-10b", "gap_all")])
def test_each_noise_has_its_own_verdict(study, summary, verdicts, gaps, verdict, id, name):
    data = summary.dataset.isel(seed=[0] * 7).assign_coords(seed=range(7))
    data[name] = data[name].copy(data=np.broadcast_to(gaps, data[name].shape))
    assert verdicts(study, data)[id] == verdict


@pytest.mark.parametrize("wrong", range(3))
def test_every_class_of_neurons_must_be_in_place(study, summary, verdicts, wrong):
    data = summary.dataset.isel(seed=[0] * 4).assign_coords(seed=range(4))
    places = np.tile([-1.2262, 0.6466, 0.45], (4, 1)) + 0.005 * np.arange(-1.5, 2)[:, None]

    def judged(away, share=(0.7, 0.7, 0.7, 0.7)):
        moved, near = places.copy(), np.full((4, 3), 0.8)
        moved[:, wrong] += away
        near[:, wrong] = share
        data["z_mean"] = data.z_mean.copy(data=np.broadcast_to(moved, data.z_mean.shape))
        data["near_axis"] = data.near_axis.copy(data=np.broadcast_to(near, data.z_mean.shape))
        return verdicts(study, data)["COMP-05"]

    assert judged(0.0) == "reproduced"
    assert judged(0.08) == "not reproduced"
    assert judged(-0.08) == "not reproduced"
    assert judged(0.06) == "inconclusive"
    assert judged(0.0, (0.4, 0.6, 0.6, 0.9)) == "inconclusive"
    assert judged(0.0, (0.4, 0.5, 0.5, 0.4)) == "not reproduced"


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
