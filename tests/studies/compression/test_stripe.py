"""What the studies of the theme share: training, its groups by precision, peaks."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from regimes import data
from regimes.lab import Point, find
from regimes.studies import _stripe
from regimes.studies.compression import _frozen


@dataclass(frozen=True)
class Params:
    width: int = 10
    alpha: float = 1e-4
    max_steps: int = 30


@pytest.fixture(scope="module")
def sets():
    return [data.stripe(n_train=20, n_test=5, d=3, seed=seed) for seed in (0, 1)]


@pytest.fixture(scope="module")
def point():
    return Point({"seed": (0, 1)}, dtype="float64")


def test_a_trial_trains_with_its_own_parameters(point, sets):
    found = _stripe.train_at(point, Params(), sets)
    plain = _stripe.train(sets, width=10, seeds=(0, 1), alpha=1e-4, dtype="float64", max_steps=30)
    for name, value in plain.parameters.items():
        torch.testing.assert_close(found.parameters[name], value, rtol=0, atol=0)


def test_what_is_given_by_name_goes_before(point, sets):
    found = _stripe.train_at(point, Params(), sets, width=4, dtype="float32", max_steps=5)
    weights, _, _ = _stripe.neurons(found.parameters)
    assert weights.shape == (2, 4, 3)
    assert weights.dtype == torch.float32
    assert int(found.steps.max()) <= 5


def test_alphas_that_would_change_places_are_refused():
    assert _stripe.by_precision((1.0, 2.0), 0.5) == [("float64", [1.0, 2.0])]
    with pytest.raises(ValueError, match=r"alpha must increase.* got \(1.0, 1e-06\): sort it"):
        _stripe.by_precision((1.0, 1e-6), 0.5)
    for name, seed in (("plateaus", 0), ("alpha-scan", (0,))):
        study = find(f"compression/{name}")
        with pytest.raises(ValueError, match="alpha must increase"):
            study.trial(
                study.parameters("smoke"), Point({"p": 100, "seed": seed, "alpha": (1.0, 1e-6)})
            )


def test_a_peak_is_the_largest_value_and_its_time(point, sets):
    seen = {"amplification": _stripe.amplification_observer()}
    found = _stripe.train_at(point, Params(max_steps=2000), sets, observe=seen)
    largest, times = _stripe.peaks(found)
    record = found.recordings["amplification"]
    for k, star in enumerate(found.event_times["t_star"]):
        values = record.values[k].numpy()
        assert largest[k] == values.max()
        assert times[k] * float(star) == pytest.approx(float(record.times[k][values.argmax()]))


def test_the_frozen_flow_is_that_of_the_networks_kernel(point, sets):
    found = _frozen.frozen_flow(point, sets[0], 0, 10, test=True, max_steps=50)
    assert found.outputs_test is not None
    first = _stripe.start(3, 10, [0], dtype="float64")
    w, b, beta = (each[0] for each in _stripe.neurons(first))
    one = _frozen.network_kernel(w, b, beta)(sets[0].x_train.double(), sets[0].x_test.double())
    stacked = _frozen.stacked_kernels(first, sets[0].x_train.double(), sets[0].x_test.double())
    np.testing.assert_allclose(stacked[0], one, rtol=1e-12)
