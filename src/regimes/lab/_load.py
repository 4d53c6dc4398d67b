"""A run's data by its study's name: recorded, or finished in the store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from regimes.lab._record import CorruptRecordError
from regimes.lab._registry import discover, find
from regimes.lab._results import Summary, refreshed, results_roots
from regimes.lab._stale import marked
from regimes.lab._store import Store
from regimes.lab._study import Study

if TYPE_CHECKING:
    import xarray as xr


def load(
    study: str,
    size: str = "cpu",
    *,
    store: Store | None = None,
    results: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """What a run of a study measured: a dataset whose axes are the scanned parameters.

    A record comes first: one in results/, else one that comes with the package. What is not
    recorded is taken from the store, where it must be finished.

    Args:
        study: its name, as `regimes studies` lists it.
        size: "smoke", "cpu" or "paper"; the label of a run whose parameters were set by hand is
            `regimes.lab.run(...).label`, such as "cpu-1f2e3d4c".
        store: the trials on disk; by default REGIMES_STORE or out/store.
        results: a folder of records, to be the only one that is looked in.

    Returns:
        The dataset. Its `attrs` say where it is from: `study`, `size`, `version`, `source`,
        `command`, `created`, and `stale`, why the study would say otherwise today (empty if not).

    Raises:
        ValueError: there is no such study, no finished run of that size, or its files are damaged.

    Example:
        >>> data = load("regimes/phase-diagram", "cpu")
        >>> data.error.dims, data.sizes["width"]
        (('width', 'seed', 'scale'), 13)
    """
    place = store or Store()
    recorded = _runs(study, *results_roots(results))
    kept = _runs(study, place.root / "summaries")
    if not recorded and not kept:
        find(study)  # an unknown name is refused with the nearest ones
    if size not in recorded and size not in kept:
        known = dict.fromkeys(kept, "in the store") | dict.fromkeys(recorded, "recorded")
        there = ", ".join(f"{label} ({where})" for label, where in sorted(known.items()))
        raise ValueError(
            f"there is no run of {study} at size {size!r}, only: {there or 'none at all'}. "
            f"Make it with: regimes run {study} --size {size}"
        )
    folder = recorded.get(size) or kept[size]
    code = discover().studies.get(study)
    summary = _read(folder)
    if size not in recorded:
        summary = _finished(refreshed(summary, code, place) if code else summary)
    return _described(summary, code, folder)


def _runs(study: str, *roots: Path) -> dict[str, Path]:
    """The folders of a study's runs by their labels; a later root counts more."""
    abouts = (about for root in roots for about in (root / study).glob("*/summary.json"))
    return {about.parent.name: about.parent for about in abouts}


def _read(folder: Path) -> Summary:
    try:
        return Summary.load(folder)
    except (CorruptRecordError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"the run in {folder} is damaged: {error}. Restore it, or give the command of the run "
            "again: it is made anew from the trials in the store"
        ) from error


def _finished(summary: Summary) -> Summary:
    if summary.complete and summary.dataset is not None:
        return summary
    failed = f" and {summary.failed} failed" if summary.failed else ""
    raise ValueError(
        f"{summary.study} at size {summary.label!r} is not finished: {summary.finished} of "
        f"{summary.trials} trials are{failed}. Go on with: {summary.command}. What there is: "
        "regimes.lab.summarise(study, size).dataset"
    )


def _described(summary: Summary, study: Study | None, folder: Path) -> xr.Dataset:
    """The dataset in the form its study has now, with what is known of the run."""
    if summary.dataset is None:
        raise ValueError(f"the run in {folder} has no data; it was saved before a trial finished")
    stale = marked(summary, study, judge=False).stale if study else ("the study was not found",)
    data = study.upgraded(summary.dataset) if study else summary.dataset
    return data.assign_attrs(
        study=summary.study,
        size=summary.label,
        version=summary.version,
        source=str(folder),
        command=summary.command,
        created=summary.created,
        stale="; ".join(stale),
    )
