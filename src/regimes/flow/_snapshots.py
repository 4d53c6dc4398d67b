"""What an observer sees of some members at a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from regimes.flow._members import Members
from regimes.flow._readings import Readings
from regimes.nets import Ensemble


@final
@dataclass(frozen=True, eq=False)
class NetworkSnapshot:
    """Some members of a run of networks, m of them.

    Attributes:
        numbers: their numbers in the run, (m,).
        readings: their times, losses, ... (m,) each.
        parameters: name -> (m, ...).
        predictions: F on the training points, (m, n, c).
        members: all R members at the start: networks, points, scales.
        subtract_init: whether F leaves the initial function out.
    """

    numbers: np.ndarray
    readings: Readings
    parameters: Mapping[str, Tensor]
    predictions: Tensor
    members: Members
    subtract_init: bool

    @property
    def ensemble(self) -> Ensemble:
        """The networks as they are now."""
        return self._start.with_parameters(self.parameters)

    def network(self, index: int) -> nn.Module:
        """One of the m networks as a module, e.g. for `TangentKernel`."""
        return self.ensemble.member(index)

    def predict(self, x: Tensor, *, member_inputs: bool = False) -> Tensor:
        """F on any points, (m, n, c); `x` is (n, ...), or (m, n, ...) with `member_inputs`."""
        return predict(
            self.ensemble,
            self._start,
            self.members.alpha[self.numbers],
            x,
            member_inputs=member_inputs,
            subtract_init=self.subtract_init,
        )

    def predict_test(self) -> Tensor:
        """F on the test points, (m, n_test, c)."""
        test = self.members.test.select(torch.from_numpy(self.numbers))
        return self.predict(test.x, member_inputs=test.own)

    @property
    def test_errors(self) -> Tensor:
        """Fraction of test points on the wrong side, ties being errors, of one output, (m,)."""
        test = self.members.test.select(torch.from_numpy(self.numbers))
        return (self.predict_test()[..., 0] * test.y <= 0).double().mean(-1)

    @property
    def _start(self) -> Ensemble:
        return self.members.ensemble.select(torch.from_numpy(self.numbers))


@final
@dataclass(frozen=True, eq=False)
class KernelSnapshot:
    """Some members of a frozen-kernel run.

    Attributes:
        numbers: their numbers in the run, (m,).
        readings: their times, losses, ... (m,) each.
        dual: weights a of the training points, (m, n, c); outputs anywhere are `K(x, train) a`.
        predictions: outputs on the training points, (m, n, c).
    """

    numbers: np.ndarray
    readings: Readings
    dual: Tensor
    predictions: Tensor


def predict(
    now: Ensemble,
    start: Ensemble,
    alpha: Tensor,
    x: Tensor,
    *,
    member_inputs: bool,
    subtract_init: bool,
    entries: int = 2**26,
) -> Tensor:
    """`alpha (f - f0)` or `alpha f` on any points, some of them at a time."""
    widest = max(p.shape[1] if p.ndim > 1 else 1 for p in now.parameters.values())
    chunk = max(1, entries // (now.size * widest))
    parts = []
    with torch.no_grad():
        for part in x.split(chunk, dim=1 if member_inputs else 0):
            f = now(part, member_inputs=member_inputs)
            if subtract_init:
                f = f - start(part, member_inputs=member_inputs)
            parts.append(f)
    f = torch.cat(parts, 1)
    return alpha.to(f).view(-1, 1, 1) * f
