"""What is minimised: the loss of a scaled predictor, averaged over each member's points."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

from regimes._check import choose
from regimes.flow._losses import Loss, value_and_margins

EVERYBODY = slice(None)  # compared by identity

# How the mean loss is divided; it sets the unit of time alone.
_DIVISORS = {"alpha^2": 2.0, "alpha": 1.0, "1": 0.0}


def check_unit(divide_by: str, alpha: Tensor, dtype: torch.dtype) -> None:
    """Refuse a unit of time in which squares of gradients leave the range of the precision."""
    power = 1.0 - choose(divide_by, _DIVISORS, "divide_by")
    reach = 0.5 * math.log10(torch.finfo(dtype).max) - 3.0  # a thousand for the network's own
    size = power * alpha.double().log10()
    worst = int(size.abs().argmax())
    if abs(float(size[worst])) > reach:
        raise ValueError(
            f"alpha={float(alpha[worst]):g} with divide_by={divide_by!r} makes gradients of about "
            f"1e{float(size[worst]):.0f}, whose squares are beyond {dtype}; use divide_by='alpha', "
            "which changes the unit of time (or of the rate) alone"
        )


@final
@dataclass(frozen=True, eq=False)
class Objective:
    """`(1/(alpha^k n)) sum_mu l(F_mu, y_mu)` with `F = alpha (f - f0)` or `F = alpha f`.

    [Geiger 2020, eq. 7] has k = 2 (for alpha -> infinity the outputs then follow the frozen-kernel
    flow); [Paccolat 2021, eq. 2] has k = 1 (f moves at a speed that does not depend on alpha).

    Attributes:
        loss: l and its derivative.
        y: labels, (m or 1, n).
        counts: training points of each member, (m, 1).
        mask: which points belong to each member, (m, n), or None for all of them.
        alpha: scale of each member, (m, 1, 1).
        start: f0 of each member, (m, n, c), or None for F = alpha f.
        divide_by: "alpha^2", "alpha" or "1".
    """

    loss: Loss
    y: Tensor
    counts: Tensor
    mask: Tensor | None
    alpha: Tensor
    start: Tensor | None
    divide_by: str
    points: Tensor = field(init=False, repr=False)  # counts as (m,)
    _pull_factor: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        choose(self.divide_by, _DIVISORS, "divide_by")
        factor = -(self.alpha ** (1.0 - self.power)) / self.counts.unsqueeze(-1)  # (m, 1, 1)
        object.__setattr__(self, "_pull_factor", factor)
        object.__setattr__(self, "points", self.counts.squeeze(1))

    @property
    def power(self) -> float:
        """k: the mean loss is divided by alpha^k."""
        return _DIVISORS[self.divide_by]

    def predictions(self, f: Tensor, members: slice = EVERYBODY) -> Tensor:
        """F of the raw outputs f, (m, n, c)."""
        alpha = _part(self.alpha, members)
        return alpha * f if self.start is None else alpha * (f - _part(self.start, members))

    def pull(self, predictions: Tensor, members: slice = EVERYBODY) -> Tensor:
        """Minus the derivative of the objective by the raw outputs f, (m, n, c)."""
        derivative = self.loss.derivative(predictions, self._labels(members))
        pull = derivative * _part(self._pull_factor, members)
        return pull if self.mask is None else pull * _part(self.mask, members).unsqueeze(-1)

    def losses_and_margins(self, predictions: Tensor) -> tuple[Tensor, Tensor]:
        """Mean losses without the division by alpha, (m,), and the margins of every point, (m, n).

        Points that are not a member's own have the margin +infinity.
        """
        values, margins = value_and_margins(self.loss, predictions, self.y)
        if self.mask is not None:
            values = values * self.mask
            margins = margins.masked_fill(~self.mask, torch.inf)
        return values.sum(1) / self.points, margins

    def largest_change(self, before: Tensor, after: Tensor) -> Tensor:
        """Largest change of a prediction over each member's points, (m,)."""
        change = (after - before).abs_()
        if self.mask is not None:
            change = change.masked_fill(~self.mask.unsqueeze(-1), 0.0)
        return change.amax((1, 2))

    def select(self, kept: Tensor) -> Objective:
        """The objective of some of the members."""
        return dataclasses.replace(
            self,
            y=self.y if len(self.y) == 1 else self.y[kept],
            counts=self.counts[kept],
            mask=None if self.mask is None else self.mask[kept],
            alpha=self.alpha[kept],
            start=None if self.start is None else self.start[kept],
        )

    def _labels(self, members: slice) -> Tensor:
        return self.y if self.y.shape[0] == 1 else _part(self.y, members)


def _part(values: Tensor, members: slice) -> Tensor:
    """`values[members]`, without a view of everything: a step of few members has many of these."""
    return values if members is EVERYBODY else values[members]
