"""The flow of outputs under a kernel that does not move."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes.flow._field import Evaluation, GradientChange, State
from regimes.flow._objective import Objective

DUAL, OUTPUTS = "dual", "outputs"


@final
@dataclass(frozen=True, eq=False)
class KernelField:
    """`do/dt = K c`, `da/dt = c` with `c = -l'(o)/n` [Geiger 2020, eq. 28].

    The state holds the dual weights a and the outputs o = K a, so that one product with K per step
    is enough. Gradients are measured by `c^T K c`, their norm in the space of parameters, which
    makes the flow step for step the limit alpha -> infinity of `gradient_flow`.

    Attributes:
        gram: K between training points, (n, n) shared or (m, n, n).
        objective: what is descended.
    """

    gram: Tensor
    objective: Objective

    def evaluate(self, state: State) -> Evaluation:
        """Outputs, and the speeds of dual weights and outputs."""
        predictions = self.objective.predictions(state[OUTPUTS])
        pull = self.objective.pull(predictions)
        return Evaluation(predictions, {DUAL: pull, OUTPUTS: self._product(pull)})

    def _product(self, pull: Tensor) -> Tensor:
        if self.gram.ndim == 3:
            return torch.bmm(self.gram, pull)
        columns = pull.transpose(0, 1).flatten(1)  # one product for all members and outputs
        return (self.gram @ columns).unflatten(1, (len(pull), -1)).transpose(0, 1).contiguous()

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """Norms `c^T K c`; rounding may make them negative, which counts as zero."""

        def norm(dual: Tensor, outputs: Tensor) -> Tensor:
            return (dual * outputs).flatten(1).sum(1).clamp_min(0)

        first, second = before.speed, after.speed
        return GradientChange(
            norm(first[DUAL], first[OUTPUTS]),
            norm(second[DUAL], second[OUTPUTS]),
            norm(first[DUAL] - second[DUAL], first[OUTPUTS] - second[OUTPUTS]),
        )

    def select(self, kept: Tensor) -> KernelField:
        """The field of some of the members."""
        return dataclasses.replace(
            self,
            gram=self.gram if self.gram.ndim == 2 else self.gram[kept],
            objective=self.objective.select(kept),
        )
