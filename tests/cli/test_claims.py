import json

from regimes.lab import ledger


def test_the_whole_ledger_is_shown_run_or_not(regimes):
    answer = json.loads(regimes("claims", "--json").stdout)
    assert [claim["id"] for claim in answer["claims"]] == list(ledger())
    assert answer["counts"]["not run"] == len(ledger())
    assert "COMP-12" in regimes("claims").stdout


def test_filters(regimes):
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    mine = json.loads(regimes("claims", "--study", "toy/echo", "--json").stdout)
    assert [(c["id"], c["verdict"]) for c in mine["claims"]] == [
        ("TOY-1", "reproduced"),
        ("TOY-2", "not reproduced"),
    ]
    assert mine["claims"][0]["measured"] == 6.0
    themed = json.loads(regimes("claims", "--theme", "kernels", "--json").stdout)
    assert len(themed["claims"]) == 37
    failed = json.loads(regimes("claims", "--verdict", "not reproduced", "--json").stdout)
    assert [claim["id"] for claim in failed["claims"]] == ["TOY-2"]
    assert "TOY-2  not reproduced  negative" in regimes("claims", "--theme", "toy").stdout


def test_runs_are_looked_for_where_they_may_be(regimes):
    for command in ("claims", "report"):
        told = regimes(command, "--from", "nowhere", code=2).stderr
        assert "both, store or results, got 'nowhere'" in told


def test_strict_fails_only_when_a_claim_failed(regimes):
    regimes("claims", "--strict")
    regimes("run", "toy/echo", "--size", "cpu", "--workers", 0)
    regimes("claims", "--strict", code=1)
    regimes("claims", "--strict", "--theme", "kernels")


def test_smoke_runs_count_only_when_asked_for(regimes):
    regimes("run", "toy/echo", "--workers", 0)
    assert json.loads(regimes("claims", "--theme", "toy", "--json").stdout)["claims"] == []
    words = ("claims", "--theme", "toy", "--with-smoke", "--json")
    assert len(json.loads(regimes(*words).stdout)["claims"]) == 2


def test_mistakes_are_explained(regimes):
    assert "use one of: reproduced" in regimes("claims", "--verdict", "maybe", code=2).stderr
    assert "unknown study" in regimes("claims", "--study", "no/such", code=2).stderr
