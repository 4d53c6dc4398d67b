"""The square hinge of an output whose norm over the training points is held at one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from regimes._check import real
from regimes.flow._losses import MarginLoss, quadratic_hinge


@final
@dataclass(frozen=True)
class NormalisedHinge:
    """`(1/2) max(0, margin - y F/|F|)^2` with `|F|^2 = mean over points of F^2`, one output.

    With the size of the output held fixed a margin is no mere unit any more: more parameters are
    needed to reach a larger one [Geiger 2020b, sec. 6]. The norm is over the points of a step, so
    all members train on all points, and `F -> c F` changes nothing. Predictions must not all be 0:
    give `subtract_init=False`.

    >>> import torch
    >>> loss = NormalisedHinge(0.5)
    >>> F = torch.tensor([[[3.0], [-4.0]]])
    >>> loss.margins(F, torch.ones(1, 2)).round(decimals=4)
    tensor([[ 0.8485, -1.1314]])
    """

    margin: float = 0.5
    smooth: bool = True

    def __post_init__(self) -> None:
        real("margin", self.margin)

    @property
    def name(self) -> str:
        """How it is called."""
        return f"normalised_hinge(margin={self.margin:g})"

    @property
    def _plain(self) -> MarginLoss:
        return quadratic_hinge(self.margin)

    def check(self, y: Tensor, outputs: int) -> None:
        """Labels +-1, one output."""
        if outputs != 1:
            raise ValueError(f"{self.name} is for networks with one output, got {outputs}")
        self._plain.check(y, outputs)

    def value(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Loss of every point."""
        return self._plain.value(predictions / _norm(predictions), y)

    def derivative(self, predictions: Tensor, y: Tensor) -> Tensor:
        """Of the sum over points, through the norm too: `(g - u mean(g u))/|F|` with u = F/|F|."""
        size = _norm(predictions)
        unit = predictions / size
        plain = self._plain.derivative(unit, y)
        return (plain - unit * (plain * unit).mean(-2, keepdim=True)) / size

    def margins(self, predictions: Tensor, y: Tensor) -> Tensor:
        """`y F/|F|`."""
        return self._plain.margins(predictions / _norm(predictions), y)


def _norm(predictions: Tensor) -> Tensor:
    """|F| of every member, (m, 1, 1)."""
    return predictions.square().mean(-2, keepdim=True).sqrt()
