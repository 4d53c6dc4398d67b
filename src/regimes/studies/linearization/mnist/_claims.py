"""Where the network overtakes its linearisation on MNIST."""

from __future__ import annotations

from regimes.lab import Data, judge
from regimes.studies.linearization._judging import leads

claim = judge.Claims()


@claim(
    "LIN-29",
    "the lead of the linearisation against j; the paper's LeNet overtakes near 500",
    report=True,
)
def crossing(dataset: Data) -> judge.Parts:
    yield from leads(dataset, (50, 200))
    return "one network of each kind"
