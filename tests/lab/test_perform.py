from dataclasses import replace

import numpy as np
import pytest

from regimes.lab import Array, TrialResult
from regimes.lab._perform import GROUP_SIZE, Job, Outcome, outcome_of, perform, perform_all


def test_a_record_tells_when_where_and_with_what(toys):
    config = toys.Echo.configs(toys.EchoParams())[0]
    record = perform(toys.Echo, config, device="cpu")
    assert record.status == "finished"
    assert record.started <= record.ended
    assert {"machine", "versions", "commit", "device", "threads"} <= set(record.provenance)


def test_the_same_configuration_gives_the_same_bits(toys):
    config = toys.Echo.configs(toys.EchoParams(), dtype="float32")[3]
    first, second = (perform(toys.Echo, config).result for _ in range(2))
    assert first.arrays["value"].values.dtype == np.float32
    assert first.arrays["value"].values.tobytes() == second.arrays["value"].values.tobytes()


def test_an_exception_becomes_a_failed_record_with_its_traceback(toys):
    config = toys.Trouble.configs(toys.TroubleParams(kind=("raise",), i=(1,)))[0]
    record = perform(toys.Trouble, config)
    assert record.status == "failed"
    assert record.error["message"] == "number 1 does not like it"
    assert "toy_studies.py" in record.error["traceback"]
    assert outcome_of(toys.Trouble, record).error == "RuntimeError: number 1 does not like it"


def test_the_return_value_is_checked(toys):
    config = toys.Trouble.configs(toys.TroubleParams(kind=("wrong",)))[0]
    assert "must return a TrialResult" in perform(toys.Trouble, config).error["message"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (TrialResult({"alpha": 1.0}), "named like an axis"),
        (TrialResult(arrays={"x": Array("seed", [1.0])}), "1 entries along 'seed'"),
        (TrialResult(arrays={"x": Array("width", [1.0])}), "an axis not stacked"),
    ],
)
def test_members_must_fit_the_stacked_axes(toys, result, message):
    study = replace(toys.Echo, trial=lambda params, point: result)
    record = perform(study, study.configs(toys.EchoParams())[0])
    assert message in record.error["message"]


def test_groups_are_small_and_what_is_done_elsewhere_is_skipped(toys):
    params = toys.TroubleParams(i=tuple(range(GROUP_SIZE + 10)))
    configs = toys.Trouble.configs(params)
    done = configs[5].key
    groups = list(perform_all(toys.Trouble, configs, device="cpu", is_done=lambda key: key == done))
    assert max(map(len, groups)) <= GROUP_SIZE
    outcomes = [outcome for group in groups for _, outcome in group]
    assert [item.key for item in outcomes] == [config.key for config in configs]
    assert [item.key for item in outcomes if item.status == "found"] == [done]


def test_long_trials_are_saved_one_by_one(toys):
    configs = toys.Trouble.configs(toys.TroubleParams(seconds=0.11, i=(0, 1)))
    groups = perform_all(toys.Trouble, configs, device="cpu", is_done=lambda key: False)
    assert [len(group) for group in groups] == [1, 1]


def test_the_best_of_the_members_is_watched(toys):
    record = perform(toys.Echo, toys.Echo.configs(toys.EchoParams())[0])
    outcome = outcome_of(toys.Echo, record)
    assert outcome.watched == {"value": 0.5}
    assert Outcome.from_dict(outcome.as_dict()) == outcome


def test_a_study_outside_a_module_is_explained(toys):
    job = Job("toy/absent", "toy_studies", "store")
    with pytest.raises(ValueError, match="top level of an importable module"):
        job.load()
