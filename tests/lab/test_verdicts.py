from dataclasses import replace

import pytest

from regimes.lab import Claim, Verdict, announce_run, count_verdicts, ledger, verdicts


@pytest.fixture
def summary(toys):
    def make(size, *claims, label=None):
        made = announce_run(toys.Echo, "smoke", toys.EchoParams(), trials=1, dtype=None, command="")
        return replace(made, size=size, label=label or size, claims=claims)

    return make


def reproduced(id):
    return Claim.between(id, 1.0, 0.0, 2.0)


def failed(id):
    return Claim.between(id, 9.0, 0.0, 2.0)


def line(lines, id):
    return next(item for item in lines if item.entry.id == id)


def test_every_claim_is_listed_run_or_not(summary):
    lines = verdicts([summary("cpu", reproduced("COMP-12"))])
    assert [item.entry.id for item in lines] == list(ledger())
    assert count_verdicts(lines) == {
        "reproduced": 1,
        "not reproduced": 0,
        "inconclusive": 0,
        "reported": 0,
        "not run": len(ledger()) - 1,
    }
    assert line(lines, "COMP-12").study == "toy/echo"


def test_the_larger_run_counts_if_it_decided(summary):
    small, large = summary("cpu", failed("REG-10")), summary("paper", reproduced("REG-10"))
    assert line(verdicts([small, large]), "REG-10").size == "paper"
    vague = summary("paper", Claim.unclear("REG-10", "1", why="not run that far"))
    assert line(verdicts([small, vague]), "REG-10").verdict is Verdict.NOT_REPRODUCED


def test_a_small_run_does_not_decide_what_a_large_one_leaves_open(summary):
    small = summary("cpu", reproduced("REG-10"))
    noisy = summary("paper", Claim.between("REG-10", 1.9, 0.0, 2.0, error=0.2))
    assert line(verdicts([small, noisy]), "REG-10").verdict is Verdict.INCONCLUSIVE


def test_smoke_runs_and_changed_parameters_do_not_count(summary):
    runs = [summary("smoke", reproduced("REG-10")), summary("cpu", failed("REG-10"), label="cpu-1")]
    assert line(verdicts(runs), "REG-10").verdict is Verdict.NOT_RUN
    assert line(verdicts(runs, with_smoke=True), "REG-10").verdict is Verdict.REPRODUCED


def test_claims_of_a_studys_own_come_last(summary):
    own = replace(reproduced("TOY-7"), statement="mine")
    lines = verdicts([summary("cpu", own)])
    assert (lines[-1].entry.id, lines[-1].entry.statement) == ("TOY-7", "mine")
    assert lines[-1].entry.theme == "toy"
