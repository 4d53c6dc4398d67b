"""A summary in words: for a terminal a few lines, for a notebook a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regimes._html import block, facts, table
from regimes.lab._claims import Claim

if TYPE_CHECKING:
    from regimes.lab._results import Summary


def summary_text(run: Summary) -> str:
    """How far the run is, what its data are, and a line a claim."""
    lines = [_head(run)]
    if run.dataset is not None:
        lines.append(f"  data     {_sizes(run)}; .dataset")
    lines += [f"  {claim.id}  {claim.verdict.value}: {_number(claim)}" for claim in run.claims]
    lines += [f"  problem  {text}" for text in (run.problem, *run.stale) if text]
    return "\n".join(lines)


def summary_html(run: Summary) -> str:
    """The same as tables."""
    rows = {
        "data": _sizes(run) if run.dataset is not None else "none yet",
        "command": run.command or "not known",
        "made": run.created,
        **{f"problem {n}": text for n, text in enumerate((run.problem, *run.stale)) if text},
    }
    claims = [
        (claim.id, claim.statement, claim.expected, measured_text(claim), claim.verdict.value)
        for claim in run.claims
    ]
    headings = ("id", "claim", "expected", "measured", "verdict")
    return block(_head(run), facts(rows), table(headings, claims) if claims else "")


def measured_text(claim: Claim | None) -> str:
    """A measured value with its error, as short as it can be.

    >>> measured_text(Claim.near("X-1", 0.512, 0.5, 0.1, error=0.031))
    '0.512 ± 0.031'
    >>> measured_text(Claim.near("X-2", 58550.0, 58550.0, 0.5))
    '58,550'
    """
    if claim is None or claim.measured is None:
        return "–"
    spread = f" ± {claim.error:.2g}" if claim.error is not None else ""
    value = float(claim.measured)
    if claim.error is None and value.is_integer() and 1e4 <= abs(value) < 1e9:
        return f"{int(value):,}"  # a count
    return f"{value:.4g}{spread}"


def _head(run: Summary) -> str:
    failed = f", {run.failed} failed" if run.failed else ""
    return (
        f"Summary of {run.study} ({run.label}): {run.finished} of {run.trials} trials finished"
        f"{failed}"
    )


def _sizes(run: Summary) -> str:
    assert run.dataset is not None
    sizes = ", ".join(f"{name} {size}" for name, size in run.dataset.sizes.items())
    return f"{len(run.dataset.data_vars)} variables over {sizes or 'nothing'}"


def _number(claim: Claim) -> str:
    return f"measured {measured_text(claim)}, expected {claim.expected}"
