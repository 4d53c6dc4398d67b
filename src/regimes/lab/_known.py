"""Every run there is a summary of: in the store, brought up to date, and in the results folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from regimes.lab._registry import Catalogue
from regimes.lab._results import Summary, refreshed, stored_summaries, with_history
from regimes.lab._stale import marked
from regimes.lab._store import Store
from regimes.lab._study import Study

SOURCES = ("both", "store", "results")


def check_source(name: str) -> None:
    """Refuse a place that runs are not looked for in.

    Raises:
        ValueError: with those there are.
    """
    if name not in SOURCES:
        raise ValueError(f"runs are looked for in both, store or results, got {name!r}")


def known_summaries(
    catalogue: Catalogue,
    store: Store,
    results: Path | tuple[Path, ...],
    *,
    source: str = "both",
    refresh: bool = False,
) -> list[Summary]:
    """One summary per run, by study and size; of two the one with more finished trials.

    Runs still going on are summarised as far as they are. Where that fails, in the study's own
    code, the older summary is given with its `problem`. A summary that no longer says what its
    study would say of its data is given with the reasons, as `stale`.

    Raises:
        ValueError: an unknown source.
    """
    check_source(source)
    found: dict[tuple[str, str], Summary] = {}
    if source in ("both", "results"):
        roots = results if isinstance(results, tuple) else (results,)
        for summary in stored_summaries(*roots):
            found[summary.study, summary.label] = summary
    if source in ("both", "store"):
        for summary in stored_summaries(store.root / "summaries"):
            current = _current(summary, catalogue.studies.get(summary.study), store, refresh)
            rival = found.get((current.study, current.label))
            if rival is None:
                found[current.study, current.label] = current
            elif current.damaged:
                found[current.study, current.label] = replace(rival, problem=current.problem)
            elif current.finished >= rival.finished:
                found[current.study, current.label] = with_history(current, rival)
    return [_as_now(found[key], catalogue) for key in sorted(found)]


def _as_now(summary: Summary, catalogue: Catalogue) -> Summary:
    """The summary with its dataset in the form its study has now, and the reasons it is stale."""
    study = catalogue.studies.get(summary.study)
    if study is None or summary.dataset is None:
        return summary
    return replace(marked(summary, study), dataset=study.upgraded(summary.dataset))


def _current(summary: Summary, study: Study | None, store: Store, refresh: bool) -> Summary:
    if summary.damaged:
        return summary
    if study is None:
        return replace(summary, problem="the study's code was not found")
    try:
        return refreshed(summary, study, store, force=refresh)
    except Exception as error:  # one study must not hide the others
        why = f"cannot be brought up to date: {type(error).__name__}: {error}"
        return replace(summary, problem=why)
