"""`regimes studies`: what can be run."""

from __future__ import annotations

from typing import Any

from regimes.cli._options import JsonOption, StoreOption
from regimes.cli._output import say, say_json, table
from regimes.lab import SIZES, Store, Study, discover


def studies(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List every study with its sizes, how much of each is done, and the claims it judges."""
    catalogue, place = discover(), Store(store)
    states = {name: _state(study, place) for name, study in catalogue.studies.items()}
    if as_json:
        say_json({"studies": list(states.values()), "broken": dict(catalogue.broken)})
        return
    rows = [
        [
            name,
            *(_cell(state["sizes"].get(size)) for size in SIZES),
            _ids(state["claims"]),
            state["about"],
        ]
        for name, state in states.items()
    ]
    table(["study", *SIZES, "claims", "about"], rows)
    for module, why in catalogue.broken.items():
        say(f"could not import {module}: {why}", error=True)


def _state(study: Study, store: Store) -> dict[str, Any]:
    present = store.keys(study.name)
    sizes = {}
    for size in study.sizes:
        keys = [config.key for config in study.configs(study.parameters(size))]
        sizes[size] = {"trials": len(keys), "present": sum(key in present for key in keys)}
    first = " ".join(study.description.split("\n\n")[0].split())
    return {"name": study.name, "about": first, "sizes": sizes, "claims": list(study.judges)}


def _cell(state: dict[str, int] | None) -> str:
    if state is None:
        return "-"
    return f"{state['present']}/{state['trials']}" if state["present"] else str(state["trials"])


def _ids(ids: list[str]) -> str:
    return f"{ids[0]} ... {ids[-1]} ({len(ids)})" if len(ids) > 3 else ", ".join(ids)
