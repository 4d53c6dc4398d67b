"""The ledger with what has been measured: every claim of every paper, run or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from regimes.lab._claims import Claim, Verdict
from regimes.lab._ledger import LedgerEntry, ledger
from regimes.lab._replicate import Mark, marks, notes
from regimes.lab._results import Summary
from regimes.lab._study import SIZES


@dataclass(frozen=True)
class LedgerLine:
    """One claim of a paper and the best verdict there is on it."""

    entry: LedgerEntry
    claim: Claim | None  # None: not run
    study: str = ""
    size: str = ""
    mark: Mark | None = None  # what fresh seeds say of it
    stale: tuple[str, ...] = ()  # why the run no longer says what the study would

    @property
    def verdict(self) -> Verdict:
        """The verdict; `not run` when nothing has been measured."""
        return Verdict.NOT_RUN if self.claim is None else self.claim.verdict

    @property
    def notes(self) -> list[str]:
        """What is said beside the verdict: what fresh seeds gave, and that the record is stale."""
        return notes(self.mark, self.stale)


def verdicts(summaries: Iterable[Summary], *, with_smoke: bool = False) -> list[LedgerLine]:
    """Every line of the ledger, in its order, then claims of studies outside the ledger.

    Only runs with a size's own parameters count, and smoke runs, which are too small to decide
    anything, only when asked for. Of several runs the largest that measured the claim is shown,
    whatever came out: a small run does not decide what a large one leaves open.
    """
    found: dict[str, list[LedgerLine]] = {}
    for summary in summaries:
        if summary.label == summary.size and (with_smoke or summary.size != "smoke"):
            given = marks(summary)
            for claim in summary.claims:
                entry = ledger().get(claim.id) or LedgerEntry(
                    claim.id,
                    summary.study.partition("/")[0],
                    claim.statement,
                    claim.where,
                    claim.expected,
                )
                line = LedgerLine(
                    entry,
                    claim,
                    summary.study,
                    summary.size,
                    given.get(claim.id),
                    summary.stale,
                )
                found.setdefault(claim.id, []).append(line)
    best = {id: max(lines, key=_weight) for id, lines in found.items()}
    listed = [best.get(id) or LedgerLine(entry, None) for id, entry in ledger().items()]
    return listed + [best[id] for id in sorted(best) if id not in ledger()]


def count_verdicts(lines: Iterable[LedgerLine]) -> dict[str, int]:
    """How many lines have each verdict, every verdict named."""
    counted = Counter(line.verdict.value for line in lines)
    return {verdict.value: counted[verdict.value] for verdict in Verdict}


def count_replicated(lines: Iterable[LedgerLine]) -> int:
    """How many lines were reproduced twice, the second time on fresh seeds."""
    return sum(line.mark is Mark.REPLICATED for line in lines)


def _weight(line: LedgerLine) -> tuple[bool, int]:
    claim = line.claim
    open_without_number = claim is None or (
        claim.verdict is Verdict.INCONCLUSIVE and claim.measured is None
    )
    return not open_without_number, SIZES.index(line.size)
