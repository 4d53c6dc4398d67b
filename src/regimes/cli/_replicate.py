"""`regimes replicate`: the same study on fresh seeds, beside what is recorded."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from regimes.cli._options import (
    DeviceOption,
    DryRunOption,
    DtypeOption,
    GraceOption,
    JsonOption,
    ResultsOption,
    SetOption,
    SizeOption,
    StoreOption,
    StudyArgument,
    ThreadsOption,
    WorkersOption,
)
from regimes.cli._output import FAILED, fail, say, say_json, table, user_errors
from regimes.cli._run import (
    carry_out,
    executor_of,
    leave_unless_whole,
    outcome,
    plan,
    show_agenda,
    tell,
)
from regimes.cli._typed import typed
from regimes.lab import (
    Comparison,
    Mark,
    Request,
    Store,
    Study,
    Summary,
    compared,
    find,
    fresh_label,
    fresh_parameters,
    marked,
    measured_text,
    override,
    record_replication,
    results_root,
    results_roots,
    seeds_seen,
    stored_summaries,
)


def replicate(
    study: StudyArgument,
    size: SizeOption = "cpu",
    settings: SetOption = None,
    workers: WorkersOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "cpu",
    dtype: DtypeOption = None,
    dry_run: DryRunOption = False,
    keep: Annotated[
        bool, typer.Option("--record", help="Write the outcome beside the committed record.")
    ] = False,
    store: StoreOption = None,
    results: ResultsOption = None,
    grace: GraceOption = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Run a recorded study again on seeds beyond the recorded ones, and compare the verdicts.

    The same command again goes on where it was stopped. With --set only a part is run.
    """
    place = Store(store)
    with user_errors():
        chosen = find(study)
        own = override(chosen.parameters(size), settings or [])
        record, committed, seen = _recorded(chosen, size, place, results)
        params = fresh_parameters(chosen, own, seen)
        label = fresh_label(chosen, size, own, dtype)
        request = Request(chosen, size, params, place, dtype, device, typed(), label)
        if keep and (record.stale or not committed):
            why = (
                "; ".join(record.stale)
                or f"it is not in {results_root(results)}: regimes results save"
            )
            fail(f"the record of {study} ({size}) cannot take a replication: {why}")
        planned = plan(request)
    for reason in record.stale:
        say(f"the record of {study} ({size}) is stale: {reason}", error=True)
    if dry_run:
        show_agenda(planned, workers, as_json=as_json)
        return
    done, fresh = carry_out(
        request,
        planned,
        lambda: executor_of("local", workers, threads, device, None, "driver", None),
        quiet=as_json,
        grace=grace,
    )
    found = compared(record, fresh)
    if as_json:
        rows = [_as_dict(each) for each in found]
        say_json({**outcome(done, fresh, place), "comparison": rows})
    else:
        tell(done, fresh)
        _show(found)
    leave_unless_whole(done)
    if keep and not fresh.complete:
        fail(f"{fresh.finished} of {fresh.trials} trials are finished: nothing recorded", FAILED)
    if keep:
        say(str(record_replication(record, fresh, results_root(results))), error=as_json)


def _recorded(
    study: Study, size: str, store: Store, results: str | None
) -> tuple[Summary, bool, set[int]]:
    """The run to compare with, whether it is committed, and every seed of the records."""
    known = stored_summaries(*results_roots(results))
    records = [each for each in known if each.study == study.name]
    others = stored_summaries(store.root / "summaries")
    mine = [each for each in others if (each.study, each.label) == (study.name, size)]
    for runs in (records, mine):
        for summary in runs:
            if summary.label == size and summary.finished:
                seen = seeds_seen(study, [summary, *records])
                place = results_root(results) / study.name / size
                committed = runs is records and place.is_dir()
                return marked(summary, study), committed, seen
    raise ValueError(
        f"nothing is recorded of {study.name} at size {size}; "
        f"start with: regimes run {study.name} --size {size}"
    )


def _show(found: list[Comparison]) -> None:
    headings = ["id", "recorded", "measured", "fresh seeds", "measured", "mark"]
    table(headings, [_row(each) for each in found])
    counts = {mark: sum(each.mark is mark for each in found) for mark in Mark}
    say(", ".join(f"{number} {mark.value}" for mark, number in counts.items() if number))


def _row(each: Comparison) -> list[str]:
    return [
        each.id,
        each.recorded.verdict.value,
        measured_text(each.recorded),
        each.fresh.verdict.value if each.fresh else "–",
        measured_text(each.fresh),
        each.mark.value,
    ]


def _as_dict(each: Comparison) -> dict[str, Any]:
    return {
        "id": each.id,
        "recorded": each.recorded.as_dict(),
        "fresh": each.fresh.as_dict() if each.fresh else None,
        "mark": each.mark.value,
    }
