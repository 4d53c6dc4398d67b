"""Records that no longer say what their study would: each reason alone."""

import dataclasses
from dataclasses import replace

import pytest

from regimes.lab import Claim, run
from regimes.lab._stale import marked


@pytest.fixture
def summary(toys, store):
    return run("toy/echo", store=store)


def reasons(summary, study, **details):
    return list(marked(summary, study, **details).stale)


def test_a_record_of_the_present_study_is_not_stale(toys, summary):
    assert reasons(summary, toys.Echo) == []


def test_another_version(toys, summary):
    (why,) = reasons(summary, replace(toys.Echo, version=2))
    assert why == "the study has version 2, the run had 1"


def test_parameters_of_the_size_that_changed(toys, summary):
    sizes = {"smoke": toys.EchoParams(scale=2.0)}
    (why,) = reasons(summary, replace(toys.Echo, sizes=sizes))
    assert why == "the parameters of size smoke have changed"
    by_hand = replace(summary, label="smoke-12345678")
    assert reasons(by_hand, replace(toys.Echo, sizes=sizes)) == []


def test_other_judging_code_and_none(toys, summary):
    other = replace(toys.Echo, claims=find_judges(toys))
    assert reasons(summary, other) == ["the judging code has changed"]
    assert reasons(replace(summary, judging=""), toys.Echo) == ["no digest of the judging code"]


def find_judges(toys):
    """The same verdicts from a function that lives here."""
    return lambda dataset: toys.Echo.claims(dataset)


def test_a_verdict_edited_by_hand(toys, summary):
    first, _ = summary.claims
    edited = replace(summary, claims=(first, Claim.holds("TOY-2", True, "negative", why="6.0")))
    (why,) = reasons(edited, toys.Echo)
    assert why == "its data, judged again, say otherwise of TOY-2"
    assert reasons(edited, toys.Echo, judge=False) == []


def test_a_study_that_fails_on_the_data_is_told(toys, summary):
    broken = replace(toys.Echo, claims=lambda dataset: 1 / 0)
    assert "cannot be judged again: ZeroDivisionError" in reasons(summary, broken)[-1]


def test_parameters_of_an_older_form_are_compared_as_trials(toys, summary):
    """The study calls `scale` something else now, and knows how its trials were configured."""

    @dataclasses.dataclass(frozen=True)
    class Now:
        width: tuple[int, ...] = (1, 2)
        alpha: tuple[float, ...] = (0.5, 1.0, 2.0)
        seed: tuple[int, ...] = (0, 1)
        size: float = 1.0

    def formerly(params, config):
        return replace(config, params={"scale": config.params["size"]})

    now = replace(toys.Echo, sizes={"smoke": Now()}, formerly=formerly)
    assert reasons(summary, now) == []
    for other in (Now(size=2.0), Now(width=(1, 3)), Now(width=(1,)), Now(seed=(0, 2))):
        (why,) = reasons(summary, replace(now, sizes={"smoke": other}))
        assert "parameters of size smoke" in why


def test_a_replication_has_reasons_of_its_own(toys, summary):
    again = replace(summary, label="smoke-fresh", judging="other")
    (why,) = reasons(replace(summary, replication=again), toys.Echo)
    assert why == "replication: the judging code has changed"
