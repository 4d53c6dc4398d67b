"""The judges of a study, collected by a decorator: one function per claim."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from regimes.lab._claims import Claim, Verdict
from regimes.lab._ledger import check_id, ledger
from regimes.lab.judge._missing import Missing
from regimes.lab.judge._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import xarray as xr

Parts: TypeAlias = Generator[Part, None, str | None]  # yields parts, returns a remark
Judge: TypeAlias = "Callable[[xr.Dataset], Parts | Claim]"


@dataclass(frozen=True)
class _Declared:
    expected: str
    judge: Judge
    report: bool
    exact: bool


class Claims:
    """The claims of one study, in the order they are declared.

    A judge yields the parts of its claim, each a number with its range, and may return a remark
    that is printed beside the verdict. Where parts do not fit it returns a `Claim` of its own. A
    `Missing` raised anywhere below it makes the claim inconclusive, and says why. Claims declared
    in several files are joined: `Claims(_start.claim, _training.claim)`.

    >>> import xarray as xr
    >>> from regimes.lab.judge import above, mean_of, need
    >>> claim = Claims()
    >>> @claim("X-1", "the error falls")
    ... def falls(dataset):
    ...     yield above("fall", mean_of(need(dataset, "fall").fall), 0.0)
    ...     return "over two seeds"
    >>> [found.why for found in claim.judged(xr.Dataset({"fall": ("seed", [0.1, 0.3])}))]
    ['fall 0.2 ± 0.1; over two seeds']
    >>> [found.why for found in claim.judged(xr.Dataset())]
    ['no finished trial has fall']
    """

    def __init__(self, *declared: Claims) -> None:
        self._judges: dict[str, _Declared] = {}
        for others in declared:
            for id, each in others._judges.items():
                self(id, each.expected, report=each.report, exact=each.exact)(each.judge)

    def __call__(
        self, id: str, expected: str, *, report: bool = False, exact: bool = False
    ) -> Callable[[Judge], Judge]:
        """Declare a judge.

        Args:
            id: the claim's id in the ledger, or one of the study's own.
            expected: the relation in words, shown where nothing could be measured.
            report: the ledger only asks for the numbers: they are reported, and not counted among
                what is reproduced, whatever range the parts name.
            exact: the number that decides is a formula or a count, so fresh seeds cannot change it.
        """
        check_id(id)
        if id in self._judges:
            raise ValueError(f"claim {id} has two judges in one study")

        def collect(judge: Judge) -> Judge:
            self._judges[id] = _Declared(expected, judge, report, exact)
            return judge

        return collect

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids judged, in order."""
        return tuple(self._judges)

    @property
    def modules(self) -> frozenset[str]:
        """Names of the modules in which the judges were written."""
        return frozenset(each.judge.__module__ for each in self._judges.values())

    def judged(self, dataset: xr.Dataset, *, only: Iterable[str] | None = None) -> list[Claim]:
        """Every claim, or these alone, with its verdict on these data."""
        return [self._judge(id, dataset) for id in (self._judges if only is None else only)]

    def _judge(self, id: str, dataset: xr.Dataset) -> Claim:
        declared = self._judges[id]
        expected = declared.expected
        try:
            found = declared.judge(dataset)
            claim = found if isinstance(found, Claim) else _collected(id, found)
            if declared.report:
                claim = replace(claim, verdict=Verdict.REPORTED)
            claim = replace(claim, exact=declared.exact)
        except Missing as missing:
            claim = Claim.unclear(id, expected, why=str(missing))
        # the ledger states its own claims; of others the declaration is all there is
        return claim if id in ledger() or claim.statement else replace(claim, statement=expected)


def _collected(id: str, found: Parts) -> Claim:
    if not isinstance(found, Generator):
        raise TypeError(f"the judge of {id} must yield parts or return a Claim, got {found!r}")
    parts: list[Part] = []
    while True:
        try:
            parts.append(next(found))
        except StopIteration as end:
            if not parts:
                raise TypeError(f"the judge of {id} yielded no part") from None
            return claim_of_parts(id, parts, why=end.value or "")
