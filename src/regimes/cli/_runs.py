"""`regimes runs`: the trials in the store; list, filter, show, prune."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from regimes.cli._options import JsonOption, StoreOption
from regimes.cli._output import FAILED, fail, say, say_json, table
from regimes.lab import Catalogue, CorruptRecordError, Store, begun, discover

app = typer.Typer(help="The trials in the store: list, show, prune.", no_args_is_help=False)

StudyFilter = Annotated[str | None, typer.Option("--study", help="Only this study.")]
StatusFilter = Annotated[
    str | None, typer.Option("--status", help="finished, failed, flagged, damaged or begun.")
]
WhereFilter = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=VALUE", help="Only trials with this parameter or axis."),
]
_STATUSES = ("finished", "failed", "flagged", "damaged", "begun")


@dataclass(frozen=True)
class _Found:
    """A trial in the store; `body` is trial.json, or what is known of one that is only begun.

    It is empty for a damaged one.
    """

    study: str
    key: str
    status: str
    body: dict[str, Any]

    @property
    def point(self) -> dict[str, Any]:
        return self.body["config"]["point"] if self.body else {}


@app.callback(invoke_without_command=True)
def runs(context: typer.Context, store: StoreOption = None) -> None:
    """The trials in the store; without a subcommand they are listed."""
    if context.invoked_subcommand is None:
        list_trials(store=store)


@app.command("list")
def list_trials(
    study: StudyFilter = None,
    status: StatusFilter = None,
    where: WhereFilter = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Rows to show; 0 for all.")] = 50,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List trials."""
    found = list(_search(Store(store), study, status, where or []))
    if as_json:
        say_json(
            [
                {**item.body, "study": item.study, "key": item.key, "status": item.status}
                for item in found
            ]
        )
        return
    shown = found[:limit] if limit else found
    table(["study", "trial", "status", "seconds", "ended", "point"], [_row(i) for i in shown])
    say(f"{len(found)} trials" + (f", the first {limit} shown" if len(shown) < len(found) else ""))


@app.command("show")
def show(
    key: Annotated[str, typer.Argument(help="The trial's key, or its beginning.")],
    store: StoreOption = None,
) -> None:
    """Show one trial: configuration, status, scalars, machine, versions, error."""
    place = Store(store)
    hits = [
        (study, name)
        for study in place.studies()
        for name in place.keys(study)
        if name.startswith(key)
    ]
    if len(hits) != 1:
        fail(f"{len(hits)} trials in {place.root} have a key that begins with {key!r}", FAILED)
    try:
        body = place.body(*hits[0])
    except CorruptRecordError as error:
        fail(f"trial {hits[0][1]} is damaged: {error}", FAILED)
    trouble = body.pop("error")
    say(json.dumps(body, indent=2))
    if trouble:
        say(trouble["traceback"] or f"{trouble['type']}: {trouble['message']}")
    say(str(place.folder(hits[0][0]) / hits[0][1]))


@app.command("prune")
def prune(
    study: StudyFilter = None,
    status: StatusFilter = None,
    where: WhereFilter = None,
    older_than: Annotated[
        float | None, typer.Option("--older-than", metavar="DAYS", help="Only older trials.")
    ] = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Only trials of another version of their study.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it they are only listed.")] = (
        False
    ),
    store: StoreOption = None,
) -> None:
    """Delete trials from the store; at least one filter must say which."""
    if not (study or status or where or outdated or older_than is not None):
        fail("say which trials: --study, --status, --where, --older-than or --outdated")
    place = Store(store)
    doomed = list(_search(place, study, status, where or []))
    if older_than is not None:
        limit = time.time() - older_than * 86400
        doomed = [item for item in doomed if _ended(item) < limit]
    if outdated:
        catalogue = discover()
        doomed = [item for item in doomed if _outdated(item, catalogue)]
    for item in doomed:
        if yes:
            place.remove(item.study, item.key)
        say("  ".join(_row(item)))
    left = place.sweep() if yes else 0
    say(
        f"{len(doomed)} trials {'deleted' if yes else 'would be deleted; add --yes to do it'}"
        + (f", {left} folders that dead processes left removed" if left else "")
    )


def _search(
    store: Store, study: str | None, status: str | None, where: list[str]
) -> Iterator[_Found]:
    if status is not None and status not in _STATUSES:
        fail(f"unknown status {status!r}; use one of: {', '.join(_STATUSES)}")
    wanted = [_condition(text) for text in where]
    for item in _all(store, study):
        if _has_status(item, status) and all(_matches(item, *c) for c in wanted):
            yield item


def _all(store: Store, study: str | None) -> Iterator[_Found]:
    for name in store.studies():
        if study in (None, name):
            found = (_look(store, name, key) for key in sorted(store.keys(name)))
            yield from (item for item in found if item)
    for each in begun(store):
        if study in (None, each.study):
            known = {"config": each.config, "seconds": each.seconds, "ended": each.saved}
            yield _Found(each.study, each.key, "begun", known)


def _look(store: Store, study: str, key: str) -> _Found | None:
    try:
        body = store.body(study, key)
    except FileNotFoundError:
        return None
    except CorruptRecordError as error:
        return _Found(study, key, f"damaged: {error}", {})
    flagged = body["status"] == "finished" and body["nonfinite"]
    return _Found(study, key, "flagged" if flagged else body["status"], body)


def _condition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        fail(f"--where takes KEY=VALUE, got {text!r}")
    return name.strip(), value.strip()


def _has_status(item: _Found, status: str | None) -> bool:
    actual = item.status.partition(":")[0]
    return status in (None, actual) or (status == "finished" and actual == "flagged")


def _matches(item: _Found, name: str, value: str) -> bool:
    if not item.body:
        return False
    config = item.body["config"]
    values = {**config["params"], **config["point"], "dtype": config["dtype"]}
    held = values.get(name)
    return str(held) == value or (isinstance(held, list) and value in map(str, held))


def _ended(item: _Found) -> float:
    return datetime.fromisoformat(item.body["ended"]).timestamp() if item.body.get("ended") else 0.0


def _outdated(item: _Found, catalogue: Catalogue) -> bool:
    known = catalogue.studies.get(item.study)
    return bool(known and item.body and item.body["config"]["version"] != known.version)


def _row(item: _Found) -> list[str]:
    seconds = f"{item.body['seconds']:.3g}" if item.body else ""
    ended = item.body["ended"][:19].replace("T", " ") if item.body else ""
    point = ", ".join(f"{k}={v}" for k, v in item.point.items())
    return [item.study, item.key, item.status, seconds, ended, point]
