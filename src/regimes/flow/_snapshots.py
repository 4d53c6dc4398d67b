"""What an observer sees of some members at a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from regimes._memory import parse_bytes
from regimes.flow._members import Members
from regimes.flow._readings import Readings
from regimes.flow._tiles import measured_pass
from regimes.nets import Ensemble, FullyConnected

_ENTRIES = 2**26  # between two layers, of all members together


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
        return self._start.moved_to(self.parameters)

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
    initial: Ensemble,
    alpha: Tensor,
    x: Tensor,
    *,
    member_inputs: bool,
    subtract_init: bool,
    memory: int | str | None = None,
) -> Tensor:
    """`alpha (f - f0)` or `alpha f` on any points, some of them at a time.

    What is between the layers takes at most a quarter of `memory`.
    """
    widest = max(p.shape[1] if p.ndim > 1 else 1 for p in now.parameters.values())
    chunk = max(1, _ENTRIES // (now.size * widest))
    if memory is not None:
        share = parse_bytes(memory, x.device) // 4
        chunk = max(1, min(chunk, share // (now.size * _bytes_per_point(now, x, member_inputs))))
    axis = 1 if member_inputs else 0
    scale = alpha.to(next(iter(now.parameters.values()))).view(-1, 1, 1)
    f = scale.new_empty(0)
    with torch.no_grad():
        for start in range(0, max(1, x.shape[axis]), chunk):
            part = x.narrow(axis, start, min(chunk, x.shape[axis] - start))
            made = now(part, member_inputs=member_inputs)
            if subtract_init:
                made = made - initial(part, member_inputs=member_inputs)
            made = scale * made
            if part.shape == x.shape:
                return made
            if not len(f):
                f = made.new_empty(now.size, x.shape[axis], *made.shape[2:])
            f[:, start : start + chunk] = made
    return f


def _bytes_per_point(ensemble: Ensemble, x: Tensor, member_inputs: bool) -> int:
    """Bytes between the layers of one member for one point."""
    net = ensemble.template
    if isinstance(net, FullyConnected):
        return 4 * max(net.width, net.out_dim) * x.element_size()
    few = (x[0] if member_inputs else x)[:2]
    return measured_pass(ensemble, few)[0] // len(few)
