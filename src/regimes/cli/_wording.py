"""Words for things more than one command speaks of."""

from __future__ import annotations

from regimes.lab import Summary, measured_text
from regimes.lab._progress import duration

__all__ = ["claim_rows", "duration"]


def claim_rows(summary: Summary) -> list[list[str]]:
    """One row per claim: id, verdict, expected, measured, why."""
    return [
        [
            claim.id,
            claim.verdict.value,
            f"expected {claim.expected}",
            f"measured {measured_text(claim)}",
            claim.why,
        ]
        for claim in summary.claims
    ]
