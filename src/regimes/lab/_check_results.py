"""The committed records, judged again from their data.

A record keeps its data, so what it says of its claims can be judged again at any time. A check
changes nothing. An update rewrites the claims after the judging code was changed on purpose; what
came out otherwise, or was asked otherwise, is listed under `changed` with the date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from regimes.lab._differences import changes_of, differences, with_kept_numbers
from regimes.lab._judging import judging_digest
from regimes.lab._registry import Catalogue
from regimes.lab._results import Summary, replace_in_record, stored_folders
from regimes.lab._stale import made_otherwise, other_code, rejudged
from regimes.lab._study import Study


@dataclass(frozen=True)
class Checked:
    """One record after a check or an update."""

    study: str
    label: str
    claims: int  # in the record
    problems: tuple[str, ...]  # what fails the check, or what an update could not mend
    remarks: tuple[str, ...] = ()  # what only a new run can mend
    changes: tuple[str, ...] = ()  # what an update changed in the claims
    rewritten: bool = False


def check_results(
    catalogue: Catalogue, root: Path, *, only: Iterable[str] = (), update: bool = False
) -> Iterator[Checked]:
    """Judge every record below a folder again.

    Args:
        catalogue: the studies.
        root: the folder of committed results.
        only: names of studies; all when there are none.
        update: rewrite the claims and digests of the records; their data are not touched.
    """
    wanted = set(only)
    for folder in stored_folders(root):
        if wanted and "/".join(folder.parts[-3:-1]) not in wanted:
            continue
        try:
            record = Summary.load(folder)
        except Exception as error:  # a damaged record must not hide the others
            why = f"damaged: {error}"
            yield Checked("/".join(folder.parts[-3:-1]), folder.name, 0, (why,))
            continue
        study = catalogue.studies.get(record.study)
        if study is None:
            lost = "the study's code was not found"
            yield Checked(record.study, record.label, len(record.claims), (lost,))
            continue
        judge = _updated if update else _checked
        try:
            yield judge(record, study, folder)
        except Exception as error:  # a study's own code; the other records must still be looked at
            why = f"cannot be judged again: {type(error).__name__}: {error}"
            yield Checked(record.study, record.label, len(record.claims), (why,))


def _checked(record: Summary, study: Study, folder: Path) -> Checked:
    problems = _problems(record, study)
    if record.replication is not None:
        again = _problems(record.replication, study)
        problems += [f"replication: {problem}" for problem in again]
    return Checked(
        record.study,
        record.label,
        len(record.claims),
        tuple(problems),
        tuple(made_otherwise(record, study)),
    )


def _problems(record: Summary, study: Study) -> list[str]:
    problems = other_code(record, study)
    if record.dataset is not None:
        problems += map(str, differences(record.claims, rejudged(record, study)))
    return problems


def _updated(record: Summary, study: Study, folder: Path) -> Checked:
    new, changes = _judged_anew(record, study)
    problems: list[str] = []
    again = record.replication
    if again is not None and again.dataset is not None:
        again, more = _judged_anew(again, study)
        changes += [f"replication: {line}" for line in more]
        new = replace(new, replication=again)
    elif again is not None and other_code(again, study):
        problems.append(
            "replication: the judging code has changed and its data were not kept; "
            f"do it again: {again.command}"
        )
    return Checked(
        record.study,
        record.label,
        len(new.claims),
        tuple(problems),
        tuple(made_otherwise(record, study)),
        tuple(changes),
        replace_in_record(folder, new),
    )


def _judged_anew(record: Summary, study: Study) -> tuple[Summary, list[str]]:
    claims = with_kept_numbers(record.claims, rejudged(record, study))
    found, listed = differences(record.claims, claims), changes_of(record.claims, claims)
    otherwise = {each.id for each in found}
    lines = [str(each) for each in found] + [
        f"{change['id']}: expected {change['was']['expected']}, now {change['now']['expected']}"
        for change in listed
        if change["id"] not in otherwise
    ]
    changed = (*record.changed, *listed)
    return replace(record, claims=claims, judging=judging_digest(study), changed=changed), lines
