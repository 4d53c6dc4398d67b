"""Fresh seeds, and what they say of recorded verdicts."""

from dataclasses import replace

import pytest

from regimes.lab import (
    Claim,
    Mark,
    Request,
    Summary,
    check_results,
    compared,
    conduct,
    discover,
    fresh_label,
    fresh_parameters,
    marked,
    marks,
    override,
    record_replication,
    run,
    save_results,
    seeds_seen,
    verdicts,
)
from regimes.lab import _replicate as module
from regimes.lab._parameters import every_value


def fresh_run(study, store, size="smoke", settings=(), seen=None):
    own = override(study.parameters(size), list(settings))
    seen = seeds_seen(study, []) if seen is None else seen
    params = fresh_parameters(study, own, seen)
    request = Request(study, size, params, store, label=fresh_label(study, size, own))
    return conduct(request, request.agenda())[1]


def test_seeds_are_shifted_beyond_all_that_were_seen(toys):
    params = fresh_parameters(toys.Echo, toys.EchoParams(), [0, 1, 7])
    assert params == toys.EchoParams(seed=(8, 9))
    odd = fresh_parameters(toys.Echo, toys.EchoParams(seed=(3, 5)), [5])
    assert odd.seed == (6, 8)
    assert fresh_parameters(toys.Echo, toys.EchoParams(seed=(3, 4)), []).seed == (0, 1)


def test_blocks_that_share_seeds_go_on_sharing_them(toys):
    blocks = {"draws": (0, 1, 2), "more": (1, 2)}
    study = replace(toys.Draws, blocks=dict.fromkeys(blocks, toys.Draws.blocks["draws"]))
    params = {name: toys.DrawParams(seed=seeds) for name, seeds in blocks.items()}
    fresh = fresh_parameters(study, params, [2])
    assert {name: own.seed for name, own in fresh.items()} == {"draws": (3, 4, 5), "more": (4, 5)}


def test_a_block_without_seeds_stays_and_a_study_without_is_refused(toys):
    params = toys.Draws.parameters("smoke")
    fresh = fresh_parameters(toys.Draws, params, [3])
    assert fresh["formula"] == params["formula"]
    with pytest.raises(ValueError, match="toy/trouble has no axis called 'seed'"):
        fresh_parameters(toys.Trouble, toys.TroubleParams(), [])
    with pytest.raises(ValueError, match="nothing to draw anew"):
        fresh_parameters(toys.Draws, {"formula": toys.FormulaParams()}, [])


def test_seeds_are_found_in_sizes_parameters_and_data(toys, store):
    summary = run("toy/draws", store=store)
    assert seeds_seen(toys.Draws, []) == {0, 1, 2, 3, 4}
    elsewhere = replace(summary, params={"draws": {"seed": (17,)}}, dataset=None)
    assert 17 in seeds_seen(toys.Draws, [elsewhere])
    data = summary.dataset.assign_coords(seed=[20, 21, 22, 23])
    older = replace(summary, params={"batch": 4}, dataset=data)
    assert 23 in seeds_seen(toys.Draws, [older])


def test_every_study_can_be_given_fresh_seeds():
    for study in discover().studies.values():
        if any(axis.name == "seed" for axis in study.axes):
            seen = seeds_seen(study, [])
            for params in study.sizes.values():
                fresh = fresh_parameters(study, params, seen)
                old, new = study.configs(params), study.configs(fresh)
                assert len(old) == len(new)
                assert seen.isdisjoint(every_value(fresh, "seed"))


def test_labels_tell_the_size_and_what_was_set(toys):
    params = toys.EchoParams()
    assert fresh_label(toys.Echo, "smoke", params) == "smoke-fresh"
    label = fresh_label(toys.Echo, "smoke", replace(params, scale=2.0))
    assert label.startswith("smoke-fresh-")


@pytest.mark.parametrize(
    ("recorded", "fresh", "mark"),
    [
        ((1.1, 0.1), (1.2, 0.1), Mark.REPLICATED),
        ((1.1, 0.1), (9.0, 0.1), Mark.NOT_REPLICATED),
        ((1.1, 0.1), (2.0, 5.0), Mark.NOT_REPLICATED),  # undecided
        ((9.1, 0.1), (9.2, 0.1), Mark.SAME),
        ((9.1, 0.1), (1.2, 0.1), Mark.OTHER),
        ((1.123456, 0.1), (1.123456, 0.1), Mark.IGNORES_SEED),
        ((1.123456, None), (1.123456, None), Mark.IGNORES_SEED),
        ((1.123456, 0.1), (1.123456 + 1e-15, 0.1 - 1e-16), Mark.IGNORES_SEED),
        ((1.123456, 0.1), (1.123456, 0.11), Mark.REPLICATED),
        ((1.0000001, None), (1.0000002, None), Mark.REPLICATED),
        ((1.0, None), (1.0, None), Mark.REPLICATED),  # a count may agree by chance
    ],
)
def test_marks(recorded, fresh, mark):
    a, b = (
        Claim.between("X-1", value, 0, 2, error=error, why=why)
        for (value, error), why in ((recorded, "3 of 4 below .31"), (fresh, "3 of 4 below .32"))
    )
    assert module._mark(a, b) is mark


def test_a_claim_that_comes_out_the_same_in_every_word_ignores_its_seed():
    count = Claim.between("X-1", 3.0, 0, 4, why="3 of 4")
    assert module._mark(count, count) is Mark.IGNORES_SEED
    formula = replace(count, exact=True)
    assert module._mark(formula, formula) is Mark.EXACT
    assert module._mark(count, None) is Mark.NOT_MEASURED
    assert module._mark(count, Claim.unclear("X-1", "", why="no data")) is Mark.NOT_MEASURED


def test_a_study_is_compared_with_its_record(toys, store):
    record = run("toy/draws", store=store)
    fresh = fresh_run(toys.Draws, store)
    assert (fresh.label, fresh.params["draws"]["seed"]) == ("smoke-fresh", (5, 6, 7, 8))
    assert {each.id: each.mark for each in compared(record, fresh)} == {
        "DRAW-1": Mark.REPLICATED,
        "DRAW-2": Mark.NOT_REPLICATED,
        "DRAW-3": Mark.IGNORES_SEED,
        "DRAW-4": Mark.SAME,
    }


def test_a_part_says_nothing_of_the_rest(toys, store):
    record = run("toy/draws", store=store)
    part = fresh_run(toys.Draws, store, settings=["block=draws"])
    assert part.label.startswith("smoke-fresh-")
    found = {each.id: each.mark for each in compared(record, part)}
    assert (found["DRAW-1"], found["DRAW-3"]) == (Mark.REPLICATED, Mark.NOT_MEASURED)


@pytest.fixture
def recorded(toys, store, tmp_path):
    """The folder of a record with its replication."""
    root = tmp_path / "results"
    save_results(run("toy/draws", "cpu", store=store), root)
    record = Summary.load(root / "toy" / "draws" / "cpu")
    return record_replication(record, fresh_run(toys.Draws, store, "cpu"), root)


def test_the_record_keeps_both(toys, recorded):
    assert {path.name for path in recorded.iterdir()} == {
        *("summary.json", "dataset.json", "dataset.safetensors"),
        *(f"replication-{n}" for n in ("summary.json", "dataset.json", "dataset.safetensors")),
    }
    record = Summary.load(recorded)
    assert record.params["draws"]["seed"] == (0, 1, 2, 3, 4)
    assert record.replication.params["draws"]["seed"] == (5, 6, 7, 8, 9)
    assert record.replication.wall_seconds >= 0
    assert record.replication.environment["versions"]
    assert marks(record)["DRAW-1"] is Mark.REPLICATED
    (line,) = [line for line in verdicts([record]) if line.entry.id == "DRAW-1"]
    assert line.notes == ["replicated"]


def test_a_stale_record_or_replication_loses_the_mark(toys, recorded):
    record = Summary.load(recorded)
    assert marks(marked(record, replace(toys.Draws, version=2))) == {}
    again = replace(record.replication, judging="other")
    stale = marked(replace(record, replication=again), toys.Draws)
    assert marks(stale) == {}
    (line,) = [line for line in verdicts([stale]) if line.entry.id == "DRAW-1"]
    assert line.notes == ["stale"]


def test_large_data_are_not_kept_with_a_replication(toys, store, recorded, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 10)
    record = Summary.load(recorded)
    record_replication(record, record.replication, recorded.parents[2])
    again = Summary.load(recorded)
    assert again.replication.dataset is None
    assert len(list(recorded.iterdir())) == 4
    assert [each.problems for each in check_results(discover(), recorded.parents[2])] == [()]


def test_replications_are_checked_and_updated_with_their_record(toys, recorded):
    root, catalogue = recorded.parents[2], discover()
    (found,) = check_results(catalogue, root)
    assert found.problems == ()
    other = replace(toys.Draws, claims=lambda dataset: toys.Draws.claims(dataset)[:3])
    catalogue = replace(catalogue, studies={"toy/draws": other})
    (found,) = check_results(catalogue, root)
    assert "replication: DRAW-4: no longer judged" in found.problems
    (found,) = check_results(catalogue, root, update=True)
    assert found.problems == ()
    record = Summary.load(recorded)
    assert [each["id"] for each in record.replication.changed] == ["DRAW-4"]
    assert len(record.replication.claims) == 3


def test_a_replication_without_data_must_be_done_again_when_judges_change(
    toys, recorded, monkeypatch
):
    monkeypatch.setattr(module, "SMALL", 10)
    record, root = Summary.load(recorded), recorded.parents[2]
    record_replication(record, replace(record.replication, command="do it"), root)
    other = replace(toys.Draws, claims=lambda dataset: toys.Draws.claims(dataset))
    catalogue = replace(discover(), studies={"toy/draws": other})
    (found,) = check_results(catalogue, root, update=True)
    (problem,) = found.problems
    assert "data were not kept; do it again: do it" in problem


def test_a_record_saved_again_keeps_its_replication_unless_it_is_another_run(toys, recorded, store):
    root = recorded.parents[2]
    save_results(run("toy/draws", "cpu", store=store), root)
    assert Summary.load(recorded).replication is not None
    save_results(replace(run("toy/draws", "cpu", store=store), version=2), root)
    assert Summary.load(recorded).replication is None
    assert len(list(recorded.iterdir())) == 3
