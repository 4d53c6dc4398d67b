"""`regimes studies`: what can be run."""

from __future__ import annotations

from typing import Any

from regimes.cli._options import JsonOption, ResultsOption, StoreOption
from regimes.cli._output import say, say_json, table
from regimes.lab import (
    SIZES,
    Mark,
    Store,
    Study,
    Summary,
    discover,
    marked,
    marks,
    results_roots,
    stored_summaries,
)


def studies(
    store: StoreOption = None, results: ResultsOption = None, as_json: JsonOption = False
) -> None:
    """List every study with its sizes, how much of each is done, its claims and its records.

    Records whose version, parameters or judging code are no longer the study's are called stale;
    `regimes check-results` judges them again.
    """
    catalogue, place = discover(), Store(store)
    records: dict[str, list[Summary]] = {}
    for record in stored_summaries(*results_roots(results), data=False):
        records.setdefault(record.study, []).append(record)
    states = {
        name: _state(study, place, records.get(name, []))
        for name, study in catalogue.studies.items()
    }
    if as_json:
        say_json({"studies": list(states.values()), "broken": dict(catalogue.broken)})
        return
    rows = [
        [
            name,
            *(_cell(state["sizes"].get(size)) for size in SIZES),
            _ids(state["claims"]),
            "; ".join(_record(label, about) for label, about in state["records"].items()),
            state["about"],
        ]
        for name, state in states.items()
    ]
    table(["study", *SIZES, "claims", "recorded", "about"], rows)
    for name, state in states.items():
        for label, about in state["records"].items():
            for reason in about["stale"]:
                say(f"{name} ({label}): stale: {reason}", error=True)
    for module, why in catalogue.broken.items():
        say(f"could not import {module}: {why}", error=True)


def _state(study: Study, store: Store, records: list[Summary]) -> dict[str, Any]:
    present = store.keys(study.name)
    sizes = {}
    for size in study.sizes:
        keys = [config.key for config in study.configs(study.parameters(size))]
        sizes[size] = {"trials": len(keys), "present": sum(key in present for key in keys)}
    first = " ".join(study.description.split("\n\n")[0].split())
    return {
        "name": study.name,
        "about": first,
        "sizes": sizes,
        "claims": list(study.judges),
        "records": {record.label: _about(record, study) for record in records},
    }


def _about(record: Summary, study: Study) -> dict[str, Any]:
    seen = marked(record, study, judge=False)
    given = marks(seen)
    twice = [id for id, mark in given.items() if mark is Mark.REPLICATED]
    return {"claims": len(seen.claims), "replicated": twice, "stale": list(seen.stale)}


def _record(label: str, about: dict[str, Any]) -> str:
    number = len(about["replicated"])
    told = [
        *([f"{number} of {about['claims']} replicated"] if number else []),
        *(["stale"] if about["stale"] else []),
    ]
    return f"{label} ({', '.join(told)})" if told else label


def _cell(state: dict[str, int] | None) -> str:
    if state is None:
        return "-"
    return f"{state['present']}/{state['trials']}" if state["present"] else str(state["trials"])


def _ids(ids: list[str]) -> str:
    return f"{ids[0]} ... {ids[-1]} ({len(ids)})" if len(ids) > 3 else ", ".join(ids)
