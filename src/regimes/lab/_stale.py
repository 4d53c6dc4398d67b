"""Whether a summary still says what its study would say of its data, and if not, why."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from regimes.lab._claims import Claim
from regimes.lab._differences import differences
from regimes.lab._judging import judged, judging_digest
from regimes.lab._parameters import from_plain
from regimes.lab._results import Summary
from regimes.lab._study import Study


def marked(summary: Summary, study: Study, *, judge: bool = True) -> Summary:
    """The summary with the reasons for which it is stale; none when it is not.

    Args:
        summary: with its data, if it is to be judged again.
        study: in its present form.
        judge: judge the data again, which finds claims changed by hand and costs a moment.
    """
    reasons = [*made_otherwise(summary, study), *_judged_otherwise(summary, study, judge)]
    again = summary.replication
    if again is not None:
        again = marked(again, study, judge=judge)
        reasons += [f"replication: {reason}" for reason in again.stale]
    return dataclasses.replace(summary, replication=again, stale=tuple(reasons))


def made_otherwise(summary: Summary, study: Study) -> list[str]:
    """Why the trials behind a summary are not those of the study; only a new run mends that."""
    if summary.version != study.version:
        return [f"the study has version {study.version}, the run had {summary.version}"]
    if summary.label == summary.size and not _same_scan(summary, study):
        return [f"the parameters of size {summary.size} have changed"]
    return []


def other_code(summary: Summary, study: Study) -> list[str]:
    """Why the code that judged a summary is not the study's."""
    if not summary.finished or summary.judging == judging_digest(study):
        return []
    return ["the judging code has changed" if summary.judging else "no digest of the judging code"]


def rejudged(summary: Summary, study: Study) -> tuple[Claim, ...]:
    """The claims as the study judges them now, from the summary's data."""
    if summary.dataset is None:
        return ()
    dataset = study.upgraded(summary.dataset)
    return judged(study, dataset, finished=summary.finished, trials=summary.trials)


def _judged_otherwise(summary: Summary, study: Study, judge: bool) -> list[str]:
    reasons = other_code(summary, study)
    if not judge or summary.dataset is None:
        return reasons
    try:
        found = differences(summary.claims, rejudged(summary, study))
    except Exception as error:  # a study's own code; the others must still be looked at
        return [*reasons, f"it cannot be judged again: {type(error).__name__}: {error}"]
    ids = ", ".join(dict.fromkeys(each.id for each in found))
    return [*reasons, *([f"its data, judged again, say otherwise of {ids}"] if ids else [])]


def _same_scan(summary: Summary, study: Study) -> bool:
    """Whether a run had the trials that its size has now.

    A study that was regrouped knows how each trial was configured before: the former parameters are
    then compared with those of the run.
    """
    if summary.size not in study.sizes:
        return False
    params = study.parameters(summary.size)
    try:
        return bool(from_plain(study.parameters("smoke"), summary.params) == params)
    except ValueError:  # parameters of an older form
        configs = study.configs(params, dtype=summary.dtype)
    former = [study.formerly(params, config) or config for config in configs]
    return len(configs) == summary.trials and all(
        all(_holds(summary.params, name, value) for name, value in config.params.items())
        and all(_scans(summary.params, name, value) for name, value in config.point.items())
        for config in former
    )


def _holds(params: Mapping[str, Any], name: str, value: Any) -> bool:
    return name in params and bool(params[name] == value)


def _scans(params: Mapping[str, Any], name: str, value: Any) -> bool:
    held = params.get(name)
    wanted = value if isinstance(value, tuple) else (value,)
    return isinstance(held, tuple) and set(wanted) <= set(held)
