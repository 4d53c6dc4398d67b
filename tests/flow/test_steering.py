"""Control beside the state: the same runs as with control on the host."""

import numpy as np
import pytest
import torch

from regimes import data, flow, nets
from regimes.flow import _integrate, _steering

POINTS = data.stripe(n_train=24, n_test=5, d=3, seed=0)


def network(hidden, dtype):
    def make(seed):
        return nets.FullyConnected(
            3, 8, hidden, parametrization="mean_field", bias=True, seed=seed, dtype=dtype
        )

    return make


RUNS = {
    "hinge": {"loss": "hinge", "until": "fitted", "divide_by": "alpha"},
    "soft hinge": {"loss": "softhinge_20", "until": "halved", "t_end": 3.0},
    "kinks": {
        "loss": "softhinge_20",
        "until": "fitted",
        "rule": flow.StepRule(floor=1e-3),
        "max_steps": 150,
    },
    "to a time": {"loss": "qhinge", "until": None, "t_end": 2.5, "method": "heun"},
    "few steps": {"loss": "mse", "until": None, "t_end": 1e9, "max_steps": 37, "method": "rk4"},
    "weights and gradient": {
        "loss": "cross_entropy",
        "until": flow.loss_below(0.5),
        "tolerances": flow.Tolerances(output=0.3, gradient=1e-2, weight=0.02),
        "max_steps": 150,
    },
    "own loss": {"loss": lambda F, y: (1 - y * F).square(), "until": None, "t_end": 0.3},
}


def both(monkeypatch, make, **options):
    """A run with control on the host, and one with control beside the state."""
    first = make(**options)
    asked = []

    def steers(batch, settings, recorder):
        asked.append(_steering.steers(batch, settings, recorder))
        return asked[-1]

    monkeypatch.setattr(_steering, "_costly", lambda device: True)
    monkeypatch.setattr(_integrate, "steers", steers)
    second = make(**options)
    assert asked == [True]
    return first, second


def agree(first, second, tolerance=1e-9):
    assert first.status == second.status
    for name in ("steps", "refused", "forced"):
        assert torch.equal(getattr(first, name), getattr(second, name))
    for name in ("outputs_train", "unresolved"):
        torch.testing.assert_close(
            getattr(first, name), getattr(second, name), rtol=tolerance, atol=tolerance
        )
    for name in ("history", "event_times", "worst", "parameters"):
        mine, other = getattr(first, name), getattr(second, name)
        assert mine.keys() == other.keys()
        for key, value in mine.items():
            torch.testing.assert_close(
                value, other[key], rtol=tolerance, atol=tolerance, equal_nan=True
            )
            assert value.dtype == other[key].dtype


@pytest.mark.parametrize("members", [1, 5])
@pytest.mark.parametrize("hidden", [1, 2])
@pytest.mark.parametrize("name", RUNS)
def test_runs_agree_with_control_on_the_host(monkeypatch, name, hidden, members):
    def run(**options):
        alphas = [0.1, 0.3, 1.0, 3.0, 10.0][:members]
        seeds = list(range(members))
        return flow.gradient_flow(
            network(hidden, torch.float64),
            POINTS.to(dtype=torch.float64),
            alpha=alphas,
            ensemble=seeds,
            **{"max_steps": 150} | options,
        )

    agree(*both(monkeypatch, run, **RUNS[name]))


def test_frozen_kernels(monkeypatch):
    gram = torch.randn(3, 24, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    gram = gram @ gram.mT
    labels = POINTS.y_train.double()

    def run(**options):
        return flow.kernel_flow(gram, labels, loss="softhinge_20", max_steps=100, **options)

    agree(*both(monkeypatch, run))


def test_in_single_precision(monkeypatch):
    def run():
        return flow.gradient_flow(
            network(1, torch.float32), POINTS, loss="hinge", alpha=0.01, ensemble=4, max_steps=60
        )

    agree(*both(monkeypatch, run), tolerance=1e-4)


def test_members_that_diverge_are_told_apart(monkeypatch):
    def slope(F, y):
        return torch.where(F.abs() < 1.0, -y * F, y * F / 0.0)

    def run():
        return flow.gradient_flow(
            network(1, torch.float64),
            POINTS.to(dtype=torch.float64),
            loss=slope,
            alpha=[0.1, 5.0],
            until=None,
            t_end=20.0,
            max_steps=60,
        )

    first, second = both(monkeypatch, run)
    assert first.status == second.status
    assert torch.equal(first.steps, second.steps)


def test_the_wall_clock_ends_a_run(monkeypatch):
    def run():
        return flow.gradient_flow(
            network(1, torch.float64),
            POINTS.to(dtype=torch.float64),
            until=None,
            t_end=1e9,
            ensemble=3,
            max_seconds=0.01,
        )

    _, second = both(monkeypatch, run)
    assert {status.value for status in second.status} == {"out of time"}
    assert int(second.steps.min()) > 0
    ends = second.history["step"][:, -1]
    assert torch.equal(ends, second.steps.double())


def test_observers_and_own_events_stay_with_the_host(monkeypatch):
    monkeypatch.setattr(_steering, "_costly", lambda device: True)
    monkeypatch.setattr(_integrate, "steer", None)
    settings = {"ensemble": 2, "max_steps": 3}
    watch = {"size": flow.Observer(lambda seen: seen.predictions.abs().amax((1, 2)))}
    make = network(1, torch.float32)
    flow.gradient_flow(make, POINTS, observe=watch, **settings)
    own = flow.Event("own", lambda p: np.greater(p.time, 1e9))
    flow.gradient_flow(make, POINTS, until=own, t_end=1.0, **settings)
    flow.gradient_flow(make, POINTS, momentum=flow.Momentum(0.1), **settings)
