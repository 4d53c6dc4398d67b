"""The ledger with what has been measured: every claim of every document, run or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from regimes.lab._claims import Claim, Verdict
from regimes.lab._ledger import LedgerEntry, ledger
from regimes.lab._results import Summary
from regimes.lab._study import SIZES


@dataclass(frozen=True)
class LedgerLine:
    """One claim of a document and the best verdict there is on it."""

    entry: LedgerEntry
    claim: Claim | None  # None: not run
    study: str = ""
    size: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict; `not run` when nothing has been measured."""
        return Verdict.NOT_RUN if self.claim is None else self.claim.verdict


def verdicts(summaries: Iterable[Summary], *, with_smoke: bool = False) -> list[LedgerLine]:
    """Every line of the ledger, in its order, then claims of studies outside the ledger.

    Only runs with a size's own parameters count, and smoke runs, which are too small to decide
    anything, only when asked for. Of several runs the largest that measured the claim is shown,
    whatever came out: a small run does not decide what a large one leaves open.
    """
    found: dict[str, list[LedgerLine]] = {}
    for summary in summaries:
        if summary.label == summary.size and (with_smoke or summary.size != "smoke"):
            for claim in summary.claims:
                entry = ledger().get(claim.id) or LedgerEntry(
                    claim.id,
                    summary.study.partition("/")[0],
                    claim.statement,
                    claim.where,
                    claim.expected,
                )
                line = LedgerLine(entry, claim, summary.study, summary.size)
                found.setdefault(claim.id, []).append(line)
    best = {id: max(lines, key=_weight) for id, lines in found.items()}
    listed = [best.get(id) or LedgerLine(entry, None) for id, entry in ledger().items()]
    return listed + [best[id] for id in sorted(best) if id not in ledger()]


def count_verdicts(lines: Iterable[LedgerLine]) -> dict[str, int]:
    """How many lines have each verdict, every verdict named."""
    counted = Counter(line.verdict.value for line in lines)
    return {verdict.value: counted[verdict.value] for verdict in Verdict}


def _weight(line: LedgerLine) -> tuple[bool, int]:
    claim = line.claim
    open_without_number = claim is None or (
        claim.verdict is Verdict.INCONCLUSIVE and claim.measured is None
    )
    return not open_without_number, SIZES.index(line.size)
