"""Where a study, a run or a claim stands, seen from one page."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from regimes.lab._results import Summary

INDEX, CLAIMS = "index.html", "claims.html"


@dataclass(frozen=True)
class Places:
    """Addresses within a report: of a folder as files, of a single page as places on it.

    >>> Places("../", frozenset({"COMP-12"})).study("compression/cylinder")
    '../compression/cylinder.html'
    """

    root: str | None  # from the page to the folder's root; None: everything is on one page
    claims: Set[str]  # ids that have a place in the ledger's tables

    @property
    def home(self) -> str:
        """The first page, or the top of the only one."""
        return "#top" if self.root is None else f"{self.root}{INDEX}"

    @property
    def ledger(self) -> str:
        """Every claim."""
        return "#claims" if self.root is None else f"{self.root}{CLAIMS}"

    def study(self, name: str) -> str:
        """All that has run of a study."""
        return f"#{study_anchor(name)}" if self.root is None else f"{self.root}{name}.html"

    def run(self, name: str, label: str) -> str:
        """One run of it."""
        page = "" if self.root is None else f"{self.root}{name}.html"
        return f"{page}#{anchor(name, label)}"

    def claim(self, id: str) -> str | None:
        """The claim's row in the ledger, if it has one."""
        if id not in self.claims:
            return None
        return f"#{id}" if self.root is None else f"{self.root}{CLAIMS}#{id}"


def study_anchor(name: str) -> str:
    """The name of a study as that of a place on a page."""
    return name.replace("/", "-")


def anchor(name: str, label: str) -> str:
    """The place of a run on its page."""
    return f"{study_anchor(name)}-{label}"


def run_anchor(run: Summary) -> str:
    """The place of a run on its page."""
    return anchor(run.study, run.label)
