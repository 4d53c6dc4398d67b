"""The checks of gradient flow, at the smallest size and with numbers that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run
from regimes.studies.regimes.flow_check import CHECKS, CPU, PAPER, SCALES, memory_time

AT = (1e-2, 1.0, 1e2, 1e3, 1e4)
NOISE = np.array([0.95, 1.0, 1.05])


@pytest.fixture(scope="module")
def study():
    return find("regimes/flow-check")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("flow"))
    return run(study, store=place, executor=InlineExecutor())


def known(steps=1e-3, memory=1e-3, ratio=8.3, *, p=100, without=()):
    """Differences of the two checks and the ratio of steps; `without` (check, at) not run."""
    shape = (len(CHECKS), len(AT))
    level = np.array([steps, memory, 10 * memory])[:, None, None] * np.ones((*shape, 1))
    dims, every = ("check", "at"), ("check", "at", "seed")
    full = np.ones((*shape, 3))
    state = np.full(shape, 2)
    for check, at in without:
        state[CHECKS.index(check), AT.index(at)] = 0
    data = xr.Dataset(
        {
            "difference": (every, level * NOISE),
            "error": (every, 0.2 * full),
            "altered_error": (every, 0.2 * full),
            "steps": (every, 1000 * full),
            "altered_steps": (every, 1000 * ratio * full * NOISE),
            "kept": (every, full),
            "worst_output": (every, 0.05 * full),
            "worst_gradient": (every, 1e-4 * full),
            "seconds": (dims, np.ones(shape)),
            "altered_seconds": (dims, 8 * np.ones(shape)),
            "tau": (dims, np.full(shape, 1e-3)),
            "p": (dims, np.full(shape, float(p))),
            "eps": (dims, np.full(shape, 1e-4)),
            "trial_state": (dims, state),
        },
        {"check": list(CHECKS), "at": list(AT), "seed": np.arange(3)},
    )
    return data.where(data.trial_state == 2).assign(trial_state=data.trial_state)


def verdicts(study, data):
    return {claim.id: claim.verdict.value for claim in study.claims(data)}


def test_the_smoke_size_judges_every_claim(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert {claim.verdict.value for claim in summary.claims} == {"inconclusive"}


def test_finer_steps_are_more_steps_to_nearly_the_same_end(summary):
    steps = summary.dataset.sel(check="steps")
    assert bool((steps.altered_steps > 1.5 * steps.steps).all())
    assert bool((steps.difference > 0).all())
    assert float(steps.difference.max()) < 0.2
    assert bool((steps.worst_gradient <= 0.1).all())


def test_a_longer_memory_changes_more(summary):
    data = summary.dataset
    short, long = (data.difference.sel(check=name).mean() for name in ("memory", "memory x 10"))
    assert 0 < float(short) < float(long)
    assert float(data.tau.sel(check="memory", at=1.0)) == memory_time(1.0)
    assert float(data.tau.sel(check="memory x 10", at=1.0)) == pytest.approx(10 * memory_time(1.0))


def test_figures_tell_what_is_seen(study, summary):
    for data in (summary.dataset, known(without=[("memory", at) for at in AT])):
        figures = study.figures(data)
        assert len(figures) == 2
        for figure in figures.values():
            assert len(figure.layout.meta["caption"]) > 100


@pytest.mark.parametrize(
    ("numbers", "failing"),
    [
        ({}, set()),
        ({"steps": 5e-3}, {"REG-45"}),
        ({"ratio": 2.0}, {"REG-46"}),
        ({"ratio": 30.0}, {"REG-46"}),
        ({"memory": 3e-2}, {"REG-47"}),
        ({"steps": 2e-3, "p": 10_000}, {"REG-45"}),  # 1e-3 is asked for at full size
    ],
)
def test_verdicts_follow_the_numbers(study, numbers, failing):
    found = verdicts(study, known(**numbers))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == failing
    assert {id for id, verdict in found.items() if verdict == "reproduced"} == set(found) - failing


def test_missing_trials_decide_nothing(study):
    lost = known(without=[("steps", 1e4), ("memory", 1.0)])
    assert set(verdicts(study, lost).values()) == {"inconclusive"}
    assert "10000" in study.claims(lost)[0].why
    lost = known(without=[("memory x 10", 1.0)])
    assert set(verdicts(study, lost).values()) == {"reproduced"}
    none = known(without=[(check, at) for check in CHECKS for at in AT])[["trial_state"]]
    assert set(verdicts(study, none).values()) == {"inconclusive"}


def test_runs_that_did_not_fit_are_left_out(study):
    data = known()
    data["kept"][0, 0, 0] = 0
    data["difference"][0, 0, 0] = 1.0
    assert verdicts(study, data)["REG-45"] == "reproduced"
    data["kept"][0, 0] = 0
    assert verdicts(study, data)["REG-45"] == "inconclusive"


def test_the_sizes_hold_the_scales_that_are_judged():
    for size in (CPU, PAPER):
        assert all(np.isclose(size.at, at, rtol=1e-9).any() for at in SCALES)
