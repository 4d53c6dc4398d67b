"""The same study on seeds that no record has seen, and what that says of each recorded claim."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from regimes.lab._claims import Claim, Verdict
from regimes.lab._dataset_io import dataset_files
from regimes.lab._parameters import blocks_of, each_coerced, same_form
from regimes.lab._results import Summary, label_of, replace_in_record
from regimes.lab._study import Study

SEED = "seed"
SMALL = 2**22  # bytes of data that are kept with a record
_DIGITS = 1e-6  # to which single precision agrees with itself on another machine


class Mark(StrEnum):
    """What fresh seeds say of a recorded verdict."""

    REPLICATED = "replicated"  # reproduced twice, on data drawn anew
    NOT_REPLICATED = "not replicated"  # reproduced once
    SAME = "same verdict"  # twice, but it is not `reproduced`
    OTHER = "other verdict"  # and the recorded one was not `reproduced`
    IGNORES_SEED = "ignores its seed"  # the same to the last digit: nothing was drawn anew
    EXACT = "exact"  # the same to the last digit, and so it should be: a formula or a count
    NOT_MEASURED = "not measured"  # the part of the study that was run does not decide it


@dataclass(frozen=True)
class Comparison:
    """One claim, as recorded and on fresh seeds."""

    id: str
    recorded: Claim
    fresh: Claim | None
    mark: Mark


def fresh_parameters(study: Study, params: Any, seen: Iterable[int]) -> Any:
    """Parameters with as many seeds, all beyond those seen, in every block that scans seeds.

    The shift is the same for all blocks, so that those that share seeds go on sharing them.

    Raises:
        ValueError: the study has no axis of seeds.
    """
    blocks = blocks_of(each_coerced(params))
    drawn = {name for name in blocks if any(axis.name == SEED for axis in study.blocks[name])}
    if not drawn:
        raise ValueError(
            f"{study.name} has no axis called {SEED!r} in what is to be run: there is nothing to "
            "draw anew, so it cannot be replicated"
        )
    shift = 1 + max(seen, default=-1) - min(min(getattr(blocks[name], SEED)) for name in drawn)
    for name in drawn:
        seeds = tuple(seed + shift for seed in getattr(blocks[name], SEED))
        blocks[name] = dataclasses.replace(blocks[name], **{SEED: seeds})
    return same_form(params, blocks)


def seeds_seen(study: Study, records: Iterable[Summary]) -> set[int]:
    """Every seed of the study's own sizes and of its records, whatever form these have."""
    found: set[int] = set()
    for params in study.sizes.values():
        for own in blocks_of(params).values():
            found.update(getattr(own, SEED, ()))
    for record in records:
        found |= _seeds_in(record.params)
        if record.dataset is not None:
            data = study.upgraded(record.dataset)
            found.update(map(int, data[SEED].values) if SEED in data.coords else ())
    return found


def fresh_label(study: Study, size: str, params: Any, dtype: str | None = None) -> str:
    """The name of a replication's run; parameters as they are before their seeds are shifted."""
    return label_of(study, size, params, dtype).replace(size, f"{size}-fresh", 1)


def compared(record: Summary, fresh: Summary) -> list[Comparison]:
    """Every recorded claim beside its verdict on fresh seeds."""
    anew = {claim.id: claim for claim in fresh.claims}
    return [
        Comparison(claim.id, claim, anew.get(claim.id), _mark(claim, anew.get(claim.id)))
        for claim in record.claims
    ]


def marks(record: Summary) -> dict[str, Mark]:
    """The marks a record's replication gives its claims; none when either of the two is stale."""
    again = record.replication
    if again is None or record.stale or again.stale:
        return {}
    return {each.id: each.mark for each in compared(record, again)}


def notes(mark: Mark | None, stale: Sequence[str]) -> list[str]:
    """What is said beside a verdict: what fresh seeds gave, and that the record is stale."""
    told = mark not in (None, Mark.SAME, Mark.NOT_MEASURED)
    return [*([str(mark)] if told else []), *(["stale"] if stale else [])]


def record_replication(record: Summary, fresh: Summary, root: Path) -> Path:
    """Keep a replication beside its record in the results folder; its data only if small."""
    if fresh.dataset is not None:
        size = sum(map(len, dataset_files(fresh.dataset).values()))
        fresh = fresh if size <= SMALL else dataclasses.replace(fresh, dataset=None)
    folder = root / record.study / record.label
    replace_in_record(folder, dataclasses.replace(record, replication=fresh), replication=True)
    return folder


def _mark(recorded: Claim, fresh: Claim | None) -> Mark:
    if fresh is None or (fresh.measured is None and fresh.verdict is Verdict.INCONCLUSIVE):
        return Mark.NOT_MEASURED
    if _to_the_last_digit(recorded, fresh):
        return Mark.EXACT if recorded.exact and fresh.exact else Mark.IGNORES_SEED
    twice = recorded.verdict is fresh.verdict
    if recorded.verdict is Verdict.REPRODUCED:
        return Mark.REPLICATED if twice else Mark.NOT_REPLICATED
    return Mark.SAME if twice else Mark.OTHER


def _to_the_last_digit(a: Claim, b: Claim) -> bool:
    """Whether a claim came out the same in a way that chance does not explain.

    Another machine may change the last digits. Counts and shares of a few may agree by chance, and
    then other numbers in `why` differ.
    """
    if a.measured is None or b.measured is None:
        return False
    if not math.isclose(a.measured, b.measured, rel_tol=_DIGITS):
        return False
    if a.error and b.error:
        return math.isclose(a.error, b.error, rel_tol=_DIGITS)
    is_round = float(f"{a.measured:.4g}") == a.measured
    return a.why == b.why or (a.measured == b.measured and not is_round)


def _seeds_in(params: Mapping[str, Any]) -> set[int]:
    found: set[int] = set()
    for name, value in params.items():
        if isinstance(value, Mapping):
            found |= _seeds_in(value)
        elif name == SEED and isinstance(value, tuple):
            found.update(value)
    return found
