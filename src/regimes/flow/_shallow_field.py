"""The gradient of one-hidden-layer relu networks without automatic differentiation.

[Paccolat 2021, eq. 4]: with inputs x_a = [m_1 x, m_b] and the mask A of active (neuron, point)
pairs, everything is three products with A, which stays in a CPU's cache when few members are done
at a time:

    A = [W_a x_a > 0],  f = m_2 ((beta W_a)^T A * x_a).sum,  S = A (c x_a),
    dW_a = m_2 beta S,  dbeta = m_2 (W_a * S).sum
"""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from functools import partial
from typing import cast, final

import torch
from torch import Tensor

from regimes._threads import CALL, is_small, one_thread, share, slices, workers_for
from regimes.flow._field import Evaluation, GradientChange, State
from regimes.flow._joined import Joined
from regimes.flow._network_field import parameter_change
from regimes.flow._objective import EVERYBODY, Objective
from regimes.flow._tiles import COPIES, tile_of
from regimes.nets import Ensemble, FullyConnected

_WEIGHT, _BIAS, _READOUT = "layers.0.weight", "layers.0.bias", "layers.1.weight"
_CPU_TILE_BYTES = 8 * 2**20  # of the mask: still near the cores, and few enough Python calls
# seconds of one core for a pair of neuron and point, and for a factor of its three products, and
# the calls of a tile: round figures that say whether threads are worth them
_PAIR, _PRODUCT, _CALLS = 5e-10, 6e-11, 15


@final
@dataclass(frozen=True, eq=False)
class ShallowField:
    """Speeds of networks for which `is_shallow` holds; the same numbers as `NetworkField`.

    Attributes:
        inputs: x_a, (n, d+1) shared or (m, n, d+1); without the last column for no biases.
        scale: m_2, the multiplier of the readout with the activation's factor.
        objective: what is descended.
        tile: members per pass.
    """

    inputs: Tensor
    scale: float
    objective: Objective
    tile: int

    def evaluate(self, state: State) -> Evaluation:
        """Predictions and speeds; only what is as large as the mask is done a tile at a time."""
        beta = state[_READOUT].mT  # (m, h, 1)
        weights = state[_WEIGHT]
        if _BIAS in state:
            joined = weights.new_empty(*weights.shape[:2], weights.shape[2] + 1)
            joined[..., :-1], joined[..., -1] = weights, state[_BIAS]  # faster than torch.cat
            weights = joined
        scaled, drawn = weights * beta, torch.empty_like(weights)
        m, h, _ = weights.shape
        points = self.inputs.shape[-2]
        predictions = weights.new_empty(m, points, 1)
        seconds = m * h * points * (_PAIR + _PRODUCT * weights.shape[2])
        on_cpu = weights.device.type == "cpu"
        workers = workers_for(seconds, _CALLS * CALL, m) if on_cpu else 1

        parts = slices(m, self.tile, workers)
        masks = threading.local()  # a worker's own is used again for its next tile

        def do(part: slice) -> None:
            if not hasattr(masks, "own"):
                masks.own = weights.new_empty(parts[0].stop, h, points)
            self._tile(part, weights[part], scaled[part], masks.own, predictions, drawn[part])

        if workers > 1:
            share([partial(do, part) for part in parts], workers)
        else:
            with one_thread(on_cpu and is_small(seconds)):
                for part in parts if len(parts) > 1 else [EVERYBODY]:
                    do(part)
        if isinstance(state, Joined):
            together = state.empty()
            torch.sum(weights * drawn, -1, out=together[_READOUT].squeeze(1))
            whole = _BIAS not in state
            torch.mul(drawn if whole else drawn[..., :-1], beta, out=together[_WEIGHT])
            if not whole:
                torch.mul(drawn[..., -1], beta.squeeze(-1), out=together[_BIAS])
            return Evaluation(predictions, together)
        speed = {_READOUT: (weights * drawn).sum(-1).unsqueeze(1)}
        drawn *= beta
        if _BIAS in state:
            speed |= {_WEIGHT: drawn[..., :-1], _BIAS: drawn[..., -1]}
        else:
            speed[_WEIGHT] = drawn
        return Evaluation(predictions, {name: speed[name] for name in state})

    def _tile(
        self,
        part: slice,
        weights: Tensor,
        scaled: Tensor,
        mask: Tensor,
        predictions: Tensor,
        drawn: Tensor,
    ) -> None:
        """Write the predictions of some members and S = A (c x_a) where they belong."""
        everybody = part is EVERYBODY
        active = mask if everybody else mask[: len(weights)]  # the last tile may be smaller
        if self.inputs.ndim == 2:
            inputs = self.inputs
            torch.mm(weights.flatten(0, 1), inputs.mT, out=active.flatten(0, 1))
        else:
            inputs = self.inputs if everybody else self.inputs[part]
            torch.bmm(weights, inputs.mT, out=active)
        active.gt_(0)
        summed = torch.bmm(scaled.mT, active)  # (m, d+1, n)
        f = (summed * inputs.mT).sum(1).mul_(self.scale).unsqueeze(-1)
        predicted = self.objective.predictions(f, part)
        predictions[part] = predicted
        pull = self.objective.pull(predicted, part).mul_(self.scale)
        # the wide way round: a CPU takes three times as long for a product with few columns
        drawn.copy_(torch.bmm((pull * inputs).mT, active.mT).mT)

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """Norms in parameter space, for [Geiger 2020, eq. 9]."""
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
        and not ensemble.buffers  # no layer is frozen
        and (net.depth, net.out_dim) == (1, 1)
        and net.activation.function is torch.relu
        and not net.biases.output
    )


def shallow_field(
    ensemble: Ensemble,
    x: Tensor,
    objective: Objective,
    *,
    memory: int | str | None,
    copies: int = COPIES,
) -> tuple[ShallowField, str | None]:
    """The field of networks for which `is_shallow` holds, on inputs (n, d) or (m, n, d).

    Returns:
        The field, and a note when memory does not allow all members at once.
    """
    net = cast(FullyConnected, ensemble.template)
    first, readout = net.layers
    inputs = x * getattr(first, "weight_multiplier", 1.0)
    if net.biases.hidden:
        ones = torch.full_like(x[..., :1], getattr(first, "bias_multiplier", 1.0))
        inputs = torch.cat([inputs, ones], -1)
    scale = getattr(readout, "weight_multiplier", 1.0) * net.activation.factor
    points = inputs.shape[-2]
    mask = net.width * points * x.element_size()
    sums = inputs.shape[-1] * (3 * points + net.width) * x.element_size()
    tile, note = tile_of(ensemble, mask + sums, memory, x.device, predictions=points, copies=copies)
    if x.device.type == "cpu":
        tile = max(1, min(tile, _CPU_TILE_BYTES // mask))
    return ShallowField(inputs, scale, objective, tile), note
