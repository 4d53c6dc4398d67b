"""One run on a page: its summary and the figures drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from regimes.lab._results import Summary
from regimes.lab._study import SIZES, Study


@dataclass(frozen=True)
class Section:
    """One run on the page: its summary and the figures drawn from it."""

    summary: Summary
    description: str
    figures: Mapping[str, Any]  # title -> plotly figure
    problem: str = ""  # why there are no figures


def report_section(summary: Summary, study: Study | None) -> Section:
    """A run with its figures; what goes wrong in drawing them is said on the page."""
    if summary.damaged:
        return Section(summary, study.description if study else "", {})
    if study is None:
        return Section(summary, "", {}, "The study's code was not found, so there are no figures.")
    if summary.dataset is None:
        return Section(summary, study.description, {}, "No trial has finished yet.")
    try:
        figures = dict(study.figures(summary.dataset))
    except Exception as error:  # a study's own code; the page must still be made
        why = f"The figures could not be drawn: {type(error).__name__}: {error}"
        return Section(summary, study.description, {}, why)
    return Section(summary, study.description, figures)


def by_study(sections: Iterable[Section]) -> dict[str, list[Section]]:
    """The runs of each study, by name, the largest first."""
    found: dict[str, list[Section]] = {}
    for part in sections:
        found.setdefault(part.summary.study, []).append(part)
    return {
        name: sorted(found[name], key=lambda part: _rank(part.summary), reverse=True)
        for name in sorted(found)
    }


def by_theme(studies: Mapping[str, list[Section]]) -> dict[str, list[str]]:
    """The names of the studies of each theme."""
    found: dict[str, list[str]] = {}
    for name in studies:
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _rank(run: Summary) -> tuple[int, bool]:
    size = SIZES.index(run.size) if run.size in SIZES else -1
    return size, run.label == run.size
