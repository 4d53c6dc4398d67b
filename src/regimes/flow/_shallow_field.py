"""The gradient of one-hidden-layer relu networks without automatic differentiation.

Spec `compression` S3: with inputs x_a = [m_1 x, m_b] and the mask A of active (neuron, point)
pairs, everything is three products with A, which stays in a CPU's cache when few members are done
at a time:

    A = [W_a x_a > 0],  f = m_2 ((beta W_a)^T A * x_a).sum,  S = A (c x_a),
    dW_a = m_2 beta S,  dbeta = m_2 (W_a * S).sum
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast, final

import torch
from torch import Tensor

from regimes.flow._field import Evaluation, GradientChange, State
from regimes.flow._network_field import parameter_change
from regimes.flow._objective import Objective
from regimes.nets import Ensemble, FullyConnected

_WEIGHT, _BIAS, _READOUT = "layers.0.weight", "layers.0.bias", "layers.1.weight"
_CPU_TILE_BYTES = 4 * 2**20  # of the mask: what two cores keep in their caches


@final
@dataclass(frozen=True, eq=False)
class ShallowField:
    """Speeds of networks for which `is_shallow` holds; the same numbers as `NetworkField`.

    Attributes:
        inputs: x_a, (n, d+1) shared or (m, n, d+1); without the last column for no biases.
        scale: m_2, the multiplier of the readout with the activation's factor.
        objective: what is descended.
        memory: bytes that the mask of one tile of members may take.
    """

    inputs: Tensor
    scale: float
    objective: Objective
    memory: int

    def evaluate(self, state: State) -> Evaluation:
        """Predictions and speeds, a tile of members at a time."""
        size, width = state[_READOUT].shape[0], state[_READOUT].shape[2]
        points = self.inputs.shape[-2]
        tile = max(1, self.memory // (width * points * self.inputs.element_size()))
        if tile >= size:
            return self._part(state, slice(0, size))
        parts = [self._part(state, slice(i, i + tile)) for i in range(0, size, tile)]
        return Evaluation(
            torch.cat([part.predictions for part in parts]),
            {name: torch.cat([part.speed[name] for part in parts]) for name in state},
        )

    def _part(self, state: State, members: slice) -> Evaluation:
        beta = state[_READOUT][members].mT  # (m, h, 1)
        weights = state[_WEIGHT][members]
        if _BIAS in state:
            weights = torch.cat([weights, state[_BIAS][members].unsqueeze(-1)], -1)
        shared = self.inputs.ndim == 2
        inputs = self.inputs if shared else self.inputs[members]
        m, h, _ = weights.shape
        if shared:
            active = (weights.flatten(0, 1) @ inputs.mT).view(m, h, -1)
        else:
            active = torch.bmm(weights, inputs.mT)
        active = active.gt_(0)
        summed = torch.bmm((weights * beta).mT, active)  # (m, d+1, n)
        f = (summed * inputs.mT).sum(1).mul_(self.scale).unsqueeze(-1)
        predictions = self.objective.predictions(f, members)
        pull = self.objective.pull(predictions, members).mul_(self.scale)
        drawn = torch.bmm(active, pull * inputs)  # (m, h, d+1)
        speed = {_READOUT: (weights * drawn).sum(-1).unsqueeze(1)}
        drawn = drawn * beta
        if _BIAS in state:
            speed |= {_WEIGHT: drawn[..., :-1], _BIAS: drawn[..., -1]}
        else:
            speed[_WEIGHT] = drawn
        return Evaluation(predictions, {name: speed[name] for name in state})

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """Norms in parameter space (spec `regimes` S6)."""
        return parameter_change(before, after)

    def select(self, kept: Tensor) -> ShallowField:
        """The field of some of the members."""
        return dataclasses.replace(
            self,
            inputs=self.inputs if self.inputs.ndim == 2 else self.inputs[kept],
            objective=self.objective.select(kept),
        )


def is_shallow(ensemble: Ensemble) -> bool:
    """Whether the networks are one hidden relu layer, one output, no output bias."""
    net = ensemble.template
    return (
        isinstance(net, FullyConnected)
        and (net.depth, net.out_dim) == (1, 1)
        and net.activation.function is torch.relu
        and not net.biases.output
    )


def shallow_field(ensemble: Ensemble, x: Tensor, objective: Objective, memory: int) -> ShallowField:
    """The field of networks for which `is_shallow` holds, on inputs (n, d) or (m, n, d)."""
    net = cast(FullyConnected, ensemble.template)
    first, readout = net.layers
    inputs = x * getattr(first, "weight_multiplier", 1.0)
    if net.biases.hidden:
        ones = torch.full_like(x[..., :1], getattr(first, "bias_multiplier", 1.0))
        inputs = torch.cat([inputs, ones], -1)
    scale = getattr(readout, "weight_multiplier", 1.0) * net.activation.factor
    if x.device.type == "cpu":
        memory = min(memory, _CPU_TILE_BYTES)
    return ShallowField(inputs, scale, objective, memory)
