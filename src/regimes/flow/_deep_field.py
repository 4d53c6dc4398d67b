"""The gradient of stacked fully connected networks, the backward pass written out.

Against automatic differentiation: an activation and its derivative share their transcendental
function, multipliers and sharpness ride in the products, and on a CPU so few members are done at a
time that what passes between forward and backward stays near the cores, each by a thread of its
own where that pays.

With v_0 = x, z_l = a_l W_l v_{l-1} + c_l b_l and v_l = value(z_l) (the activation as `Pullback` has
it), and p_l the derivative of minus the objective by z_l (by f for the readout):

    dW_l = a_l p_l v_{l-1}^T,  db_l = c_l p_l 1,  p_{l-1} = a_l W_l^T p_l * value'(z_{l-1})
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import cast, final

import torch
from torch import Tensor

from regimes._threads import CALL, is_small, one_thread, share, slices, workers_for
from regimes.flow._field import Evaluation, GradientChange, State
from regimes.flow._joined import Joined, members_of
from regimes.flow._network_field import parameter_change
from regimes.flow._objective import EVERYBODY, Objective
from regimes.flow._tiles import COPIES, tile_of
from regimes.nets import Ensemble, FullyConnected, Pullback, pullback

_LEAST_POINTS = 128  # below it a backward pass costs its calls
_PULLING = 0.6  # share of points that pull up to which packing them pays
# seconds of one core for a neuron at a point, its activation and derivative, and for a factor of
# its products: round figures that say whether threads are worth their calls
_NEURON, _PRODUCT = 4e-9, 1.2e-10
_CPU_TILE_BYTES = 2**20  # of one layer: what a tile keeps fits a core's cache, calls stay few


@final
@dataclass(frozen=True, eq=False)
class DeepField:
    """Speeds of networks for which `is_deep` holds; the same numbers as `NetworkField`.

    Attributes:
        inputs: (d, n) shared or (m, d, n): points are columns.
        weights: a_1, ..., a_{L+1}, what multiplies the weights.
        biases: c_1, ..., c_{L+1}, what multiplies the biases; None for layers without.
        curve: the activation and its derivative.
        objective: what is descended.
        tile: members per pass.
        width: neurons of a hidden layer.
    """

    inputs: Tensor
    weights: tuple[float, ...]
    biases: tuple[float | None, ...]
    curve: Pullback
    objective: Objective
    tile: int
    width: int

    def evaluate(self, state: State) -> Evaluation:
        """Predictions and speeds of all members, a tile at a time."""
        size = members_of(state)
        # contiguous whatever the state is: products are written into views of it
        speed: State = (
            state.empty()
            if isinstance(state, Joined)
            else {name: value.new_empty(value.shape) for name, value in state.items()}
        )
        seconds, calls = self._cost(size)
        workers = workers_for(seconds, calls, size) if self.inputs.device.type == "cpu" else 1
        if workers > 1:
            points, outputs = self.inputs.shape[-1], state[self._readout].shape[-2]
            predictions = self.inputs.new_empty(size, points, outputs)

            def do(part: slice) -> None:
                predictions[part] = self._tile(state, part, speed)

            share([partial(do, part) for part in slices(size, self.tile, workers)], workers)
            return Evaluation(predictions, speed)
        with one_thread(is_small(seconds)):
            if size <= self.tile:
                return Evaluation(self._tile(state, EVERYBODY, speed), speed)
            parts = [self._tile(state, part, speed) for part in slices(size, self.tile, 1)]
        return Evaluation(torch.cat(parts), speed)

    @property
    def _readout(self) -> str:
        return f"layers.{len(self.weights) - 1}.weight"

    def _cost(self, size: int) -> tuple[float, float]:
        """Seconds of one core for all members, and in Python for one tile."""
        width, layers = self.width, len(self.weights) - 1
        each = _NEURON + _PRODUCT * width
        return size * self.inputs.shape[-1] * layers * width * each, (5 + 15 * layers) * CALL

    def _tile(self, state: State, part: slice, speed: State) -> Tensor:
        """Predictions of some members; their speeds are written where they belong."""
        last = len(self.weights) - 1
        everybody = part is EVERYBODY
        own = state if everybody else {name: value[part] for name, value in state.items()}
        speed = speed if everybody else {name: value[part] for name, value in speed.items()}
        weights = [own[f"layers.{i}.weight"] for i in range(last + 1)]
        shared = everybody or self.inputs.ndim == 2
        values = [self.inputs if shared else self.inputs[part]]
        kept: list[Tensor] = []
        for i, weight in enumerate(weights):
            scale = self.biases[i]
            bias = None if scale is None else own[f"layers.{i}.bias"].unsqueeze(-1)
            z = _times(weight, values[i], self.weights[i], bias, scale or 0.0)
            if i < last:
                value, needed = self.curve.apply(z)
                values.append(value)
                kept.append(needed)
        predictions = self.objective.predictions(z.mT.contiguous(), part)
        pull = self.objective.pull(predictions, part).mT  # (m, c, n)
        if _worth_packing(self.inputs, pull):
            pull, values, kept = _pulled(pull, values, kept)
        rows: Tensor | None = None  # a factor of every row of `pull` that is still to be multiplied
        for i in range(last, -1, -1):
            made = speed[f"layers.{i}.weight"]
            _gradient(pull, values[i], self.weights[i], made)
            weight = weights[i]
            if rows is not None:
                made.mul_(rows)
                weight = weight * rows
            scale = self.biases[i]
            if scale is not None:
                summed = pull.sum(-1).mul_(scale)
                into = speed[f"layers.{i}.bias"]
                into.copy_(summed if rows is None else summed * rows[..., 0])
            if i == 0:
                break
            if pull.shape[1] == 1:  # W^T p is an outer product: its factor W waits
                rows, back = weight.mT * self.weights[i], pull.expand(-1, weight.shape[-1], -1)
            else:
                rows, back = None, _times(weight.mT, pull, self.weights[i])
            pull = self.curve.pull(back, kept[i - 1])
        return predictions

    def gradient_change(self, before: Evaluation, after: Evaluation) -> GradientChange:
        """Norms in parameter space, for [Geiger 2020, eq. 9]."""
        return parameter_change(before, after)

    def on(self, x: Tensor, objective: Objective) -> DeepField:
        """The field on other points, (m, n, ...), no more of them than the memory was asked for."""
        return dataclasses.replace(self, inputs=x.flatten(2).mT, objective=objective)

    def select(self, kept: Tensor) -> DeepField:
        """The field of some of the members."""
        return dataclasses.replace(
            self,
            inputs=self.inputs if self.inputs.ndim == 2 else self.inputs[kept],
            objective=self.objective.select(kept),
        )


def _worth_packing(inputs: Tensor, pull: Tensor) -> bool:
    """Whether points without a pull may be few enough, and so many that it pays to look."""
    return inputs.device.type == "cpu" and pull.shape[1] == 1 and pull.shape[2] >= _LEAST_POINTS


def _pulled(
    pull: Tensor, values: list[Tensor], kept: list[Tensor]
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """The same backward pass on the points that pull: of a hinge, those short of their margin.

    Members have different numbers of them: all take as many as the one with most, the others some
    points without a pull, which add zeros.
    """
    alive = pull[:, 0] != 0
    most = max(1, int(alive.sum(1).amax()))
    if most > _PULLING * alive.shape[1]:
        return pull, values, kept
    points = alive.to(torch.uint8).topk(most, sorted=False).indices.unsqueeze(1)  # (m, 1, k)

    def packed(z: Tensor) -> Tensor:
        z = z.expand(len(points), *z.shape[-2:])
        return z.gather(2, points.expand(-1, z.shape[1], -1))

    made = [packed(z) for z in values]
    same = {id(z): own for z, own in zip(values, made, strict=True)}  # relu keeps its values
    return packed(pull), made, [same[id(z)] if id(z) in same else packed(z) for z in kept]


def _times(
    weight: Tensor, z: Tensor, scale: float, bias: Tensor | None = None, shift: float = 0.0
) -> Tensor:
    """`scale * weight @ z + shift * bias`, (m, o, n).

    Of weight (m, o, i), z (m, i, n) or (i, n) and bias (m, o, 1), which rides in the product.
    """
    if bias is None:
        bias, shift = weight.new_zeros(()), 0.0  # a beta of 0 makes the products ignore it
    if z.ndim == 2:
        start = bias.flatten(0, 1) if bias.ndim else bias
        rows = torch.addmm(start, weight.flatten(0, 1), z, beta=shift, alpha=scale)
        return rows.view(*weight.shape[:2], -1)
    return torch.baddbmm(bias, weight, z, beta=shift, alpha=scale)


def _gradient(pull: Tensor, value: Tensor, scale: float, out: Tensor) -> None:
    """Write `scale * pull @ value^T`, (m, o, i), of pull (m, o, n), value (m, i, n) or (i, n)."""
    if value.ndim == 2:
        flat = pull.flatten(0, 1)
        torch.addmm(out.flatten(0, 1), flat, value.mT, beta=0, alpha=scale, out=out.flatten(0, 1))
    else:
        torch.baddbmm(out, pull, value.mT, beta=0, alpha=scale, out=out)


def is_deep(ensemble: Ensemble) -> bool:
    """Whether the networks are fully connected with an activation whose derivative is known."""
    whole = isinstance(ensemble.template, FullyConnected) and not ensemble.buffers
    return whole and _curve(ensemble) is not None  # no layer is frozen


def deep_field(
    ensemble: Ensemble,
    x: Tensor,
    objective: Objective,
    *,
    own: bool,
    memory: int | str | None,
    copies: int = COPIES,
) -> tuple[DeepField, str | None]:
    """The field of networks for which `is_deep` holds, on inputs (n, ...), or (m, n, ...) if `own`.

    Returns:
        The field, and a note when memory does not allow all members at once.
    """
    net = cast(FullyConnected, ensemble.template)
    curve = _curve(ensemble)
    assert curve is not None
    inputs = x.flatten(2 if own else 1).mT
    # a layer's argument is multiplied by the gain and its input by what is left of sigma
    after = net.activation.factor / curve.gain
    weights, biases = [], []
    for i, layer in enumerate(net.layers):
        gain = curve.gain if i < net.depth else 1.0
        scale = gain * getattr(layer, "weight_multiplier", 1.0)
        weights.append(scale if i == 0 else scale * after)
        shift = gain * getattr(layer, "bias_multiplier", 1.0)
        biases.append(None if layer.bias is None else shift)
    row_bytes = inputs.shape[-1] * x.element_size()
    layer_bytes = row_bytes * max(net.width, net.out_dim)
    # values and what is kept, two on the way back, and what the objective makes of the outputs
    each = row_bytes * ((2 * net.depth + 2) * net.width + 4 * net.out_dim)
    predictions = inputs.shape[-1] * net.out_dim
    tile, note = tile_of(ensemble, each, memory, x.device, predictions=predictions, copies=copies)
    if x.device.type == "cpu":
        tile = min(tile, max(1, _CPU_TILE_BYTES // layer_bytes))
    field = DeepField(inputs, tuple(weights), tuple(biases), curve, objective, tile, net.width)
    return field, note


def _curve(ensemble: Ensemble) -> Pullback | None:
    net = cast(FullyConnected, ensemble.template)
    weight = ensemble.parameters["layers.0.weight"]
    return pullback(net.activation, weight.dtype, weight.device)
