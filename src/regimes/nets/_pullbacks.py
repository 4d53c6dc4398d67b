"""Activations with their derivatives, in as few passes over memory as each allows.

For engines that write the backward pass themselves. An activation is taken apart as
`sigma(u) = unit * value(gain * u)` with `unit * gain = 1`: the two numbers ride in the matrix
products before and after, so that a sharpness or a sign costs no pass of its own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor

from regimes.nets._activations import (
    _SOFTPLUS_THRESHOLD,
    Activation,
    Function,
    _softplus,
    _swish,
)

Apply = Callable[[Tensor], tuple[Tensor, Tensor]]
Pull = Callable[[Tensor, Tensor], Tensor]


@final
@dataclass(frozen=True)
class Pullback:
    """`sigma(u) = value(gain u) / gain` and what is needed to go back.

    Attributes:
        gain: factor of the argument.
        apply: z -> (value(z), kept); may overwrite z.
        pull: (g, kept) -> g * value'(z); g may be an expanded view and is not changed.
    """

    gain: float
    apply: Apply
    pull: Pull


def pullback(activation: Activation, dtype: torch.dtype, device: torch.device) -> Pullback | None:
    """The pullback of an activation, without its factor; None where its derivative is not known."""
    function, gain = activation.function, activation.beta or 1.0
    named = function.func if isinstance(function, functools.partial) else None
    if named is _softplus:
        if dtype == torch.float64 and device.type == "cpu":
            return Pullback(-gain, _log_sigmoid, _log_sigmoid_pull)
        return Pullback(gain, _soft, _soft_pull)
    if named is _swish:
        return Pullback(gain, _silu, torch.ops.aten.silu_backward)
    found = _PLAIN.get(function)
    return None if found is None else Pullback(1.0, *found)


def _log_sigmoid(z: Tensor) -> tuple[Tensor, Tensor]:
    """softplus(u) = -log sigmoid(-u): half the time of the library's softplus in float64 on a CPU.

    Exact to rounding of the larger of 1 and |u|. Where sigmoid underflows, log sigmoid(z) is z.
    """
    kept = torch.sigmoid(z)
    value = torch.log(kept)
    # not "== -inf": a NaN of one member must not hide the underflow of another
    if value.numel() and not float(value.amin()) > -math.inf:
        value = torch.where(kept == 0.0, z, value)
    return value, kept


def _log_sigmoid_pull(g: Tensor, kept: Tensor) -> Tensor:
    return torch.addcmul(g, g, kept, value=-1.0)


def _soft(z: Tensor) -> tuple[Tensor, Tensor]:
    return F.softplus(z, threshold=_SOFTPLUS_THRESHOLD), z


def _soft_pull(g: Tensor, kept: Tensor) -> Tensor:
    made: Tensor = torch.ops.aten.softplus_backward(g, kept, 1.0, _SOFTPLUS_THRESHOLD)
    return made


def _silu(z: Tensor) -> tuple[Tensor, Tensor]:
    return F.silu(z), z


def _relu(z: Tensor) -> tuple[Tensor, Tensor]:
    value = torch.relu_(z)
    return value, value


def _relu_pull(g: Tensor, kept: Tensor) -> Tensor:
    made: Tensor = torch.ops.aten.threshold_backward(g, kept, 0.0)
    return made


def _tanh(z: Tensor) -> tuple[Tensor, Tensor]:
    value = torch.tanh(z, out=z)
    return value, value


def _erf_pull(g: Tensor, kept: Tensor) -> Tensor:
    return kept.square().neg_().exp_().mul_(2.0 / math.sqrt(math.pi)).mul_(g)


_PLAIN: dict[Function, tuple[Apply, Pull]] = {
    torch.relu: (_relu, _relu_pull),
    torch.tanh: (_tanh, torch.ops.aten.tanh_backward),
    torch.erf: (lambda z: (torch.erf(z), z), _erf_pull),
    F.gelu: (lambda z: (F.gelu(z), z), torch.ops.aten.gelu_backward),
}
