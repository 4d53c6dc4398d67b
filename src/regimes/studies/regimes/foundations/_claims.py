"""The rows of the ledger that the foundations judge."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regimes.lab import Claim
from regimes.studies.regimes.foundations import _start_claims as start
from regimes.studies.regimes.foundations import _training_claims as training

if TYPE_CHECKING:
    import xarray as xr

WIDE = 100  # widths up to this at least, or corrections of 1/h bend the power laws


@dataclass(frozen=True)
class Row:
    """One row of the ledger: the part that measures it and how it is judged."""

    id: str
    part: str
    expected: str
    judge: Callable[[Any], Claim]
    widths: str = ""  # the variable of its widths, where it fits an exponent to them

    def claim(self, dataset: xr.Dataset, done: Collection[str]) -> Claim:
        """The verdict, undecided where the part has not run or its networks are narrow."""
        why = ""
        if self.part not in done:
            why = f"the part {self.part!r} has not run"
        elif self.widths:
            why = _narrow(dataset, self.widths)
        return Claim.unclear(self.id, self.expected, why=why) if why else self.judge(dataset)


ROWS = (
    Row("REG-01", "parametrisation", "same weights to 1e-10", start.same_model_claim),
    Row("REG-02", "forms", "1.4044 ± 5e-4", start.factor_claim),
    Row("REG-03", "forms", "largest gap ln2/b to 1e-9", start.soft_hinge_claim),
    Row("REG-04", "early-speed", "to 1e-10", start.early_claim),
    Row("REG-05", "forms", "243", start.count_claim),
    Row(
        "REG-06",
        "gaussian-process",
        "covariance within .15, excess kurtosis < .6",
        start.process_claim,
    ),
    Row("REG-07", "kernel-noise", "-0.5 ± 0.1", start.noise_claim, "noise_width"),
    Row("REG-08", "layers", "-0.5, -1, -0.5, each ± 0.1", start.gradients_claim, "layer_width"),
    Row("REG-09", "layers", "-0.5 ± 0.12, exactly 1/alpha", start.speeds_claim, "layer_width"),
    Row("REG-66", "neighbours", "-1/d within 10 %", start.neighbours_claim),
    Row(
        "REG-70",
        "maximal-update",
        "equal to 1e-10; within 30 %; -0.5 ± 0.2",
        training.maximal_claim,
        "move_width",
    ),
    Row("REG-71", "small-steps", "ratio 2 ± 0.3; SGD falls with the rate", training.descent_claim),
    Row("REG-73", "mean-field", "-1 ± 0.25, identities", training.density_claim, "field_width"),
    Row("REG-74", "stopping", "hinges stop, cross-entropy does not", training.stops_claim),
    Row("REG-75", "accepted-steps", "< 0.1 and < eps unless forced", training.steps_claim),
)


def _narrow(at: xr.Dataset, name: str) -> str:
    """Why the widths of a run cannot tell an exponent, or nothing where they can."""
    widest = float(at[name].max())
    if widest >= WIDE:
        return ""
    return f"the widest networks have h = {widest:g}: exponents need {WIDE} or more"
