"""How far and how fast training moves weights, pre-activations and outputs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class LayerChange:
    """How far one layer moved; each of shape (), or (R,) for a stack of networks."""

    rms: Tensor  # root mean square entry of W - W0
    norm: Tensor  # |W|
    change: Tensor  # |W - W0|


def layer_change(W: Tensor, W0: Tensor, *, stacked: bool = False) -> LayerChange:
    """Change of one layer's weights since initialisation (docs/themes/regimes.md, "Observables").

    Args:
        W: weights now, any shape.
        W0: weights at the start, same shape.
        stacked: the first axis runs over networks, each measured by itself.

    >>> found = layer_change(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2))
    >>> found.change, found.rms
    (tensor(5.), tensor(3.5355))
    """
    W, step = check_tensor("W", W), _difference("W", W, "W0", W0)
    if stacked and W.ndim < 2:
        raise ValueError(f"a stack of weights has shape (R, ...), got {tuple(W.shape)}")
    rows = step.flatten(1) if stacked else step.flatten()
    now = W.flatten(1) if stacked else W.flatten()
    change = torch.linalg.vector_norm(rows, dim=-1)
    return LayerChange(
        change / rows.shape[-1] ** 0.5, torch.linalg.vector_norm(now, dim=-1), change
    )


def preact_change(zt: Tensor, zt0: Tensor) -> Tensor:
    """Root mean square of `zt - zt0` over patterns and neurons.

    Args:
        zt: pre-activations of one layer now, (..., P, h).
        zt0: those at the start, same shape.

    Returns:
        Shape (...), one value for each member of a stack.

    >>> preact_change(torch.full((3, 2), 1.5), torch.ones(3, 2))
    tensor(0.5000)
    """
    if check_tensor("zt", zt).ndim < 2:
        raise ValueError(f"pre-activations have shape (..., P, h), got {tuple(zt.shape)}")
    return (_difference("zt", zt, "zt0", zt0) ** 2).mean((-2, -1)).sqrt()


def mask_flips(zt: Tensor, zt0: Tensor) -> Tensor:
    """Number of (pattern, neuron) pairs that were switched on or off [Geiger 2020, app. F].

    A neuron is on where its pre-activation is positive, as relu has it.

    Args:
        zt: pre-activations of one layer now, (..., P, h).
        zt0: those at the start, same shape.

    Returns:
        Shape (...), one number for each member of a stack.

    >>> mask_flips(torch.tensor([[0.5, -1.0]]), torch.tensor([[-0.5, -2.0]]))
    tensor(1)
    """
    _difference("zt", zt, "zt0", zt0)
    return ((zt > 0) != (zt0 > 0)).sum((-2, -1))


def preact_speed(zt: Tensor, zt0: Tensor, step: Tensor | float) -> Tensor:
    """Root mean square of `d zt/dt` from one small step [Geiger 2020, fig. 11].

    Args:
        zt: pre-activations of one layer after the step, (..., P, h).
        zt0: those before it, same shape.
        step: its length in time, () or (...).

    Returns:
        Shape (...).

    >>> preact_speed(torch.full((3, 2), 1.5), torch.ones(3, 2), step=0.25)
    tensor(2.)
    """
    change = preact_change(zt, zt0)
    if not isinstance(step, Tensor):
        return change / real("step", step, above=0)
    if step.shape not in ((), change.shape) or not bool((step > 0).all()):
        raise ValueError(
            f"step must be positive of shape () or {tuple(change.shape)}, got {tuple(step.shape)}"
        )
    return change / step.to(change)


def output_norm(f: Tensor, f0: Tensor | None = None) -> Tensor:
    """`sqrt(mean over samples of f^2)`, or of `f - f0` [Geiger 2020, eq. 31].

    Args:
        f: outputs (..., P).
        f0: outputs at the start, same shape; None for zero.

    Returns:
        Shape (...).

    >>> output_norm(torch.tensor([3.0, -3.0])), output_norm(torch.ones(2), torch.ones(2))
    (tensor(3.), tensor(0.))
    """
    change = check_tensor("f", f) if f0 is None else _difference("f", f, "f0", f0)
    return (change**2).mean(-1).sqrt()


def relative_change(f: Tensor, f0: Tensor) -> Tensor:
    """`|f - f0| / |f0|` over samples (or weights), for each member of a stack.

    Args:
        f: outputs (..., P) of one predictor.
        f0: those of another, which sets the scale, same shape.

    Returns:
        Shape (...); infinite or NaN where f0 is zero.

    >>> relative_change(torch.tensor([[3.0, 0.0], [1.0, 1.0]]), torch.tensor([[2.0, 0.0]] * 2))
    tensor([0.5000, 0.7071])
    """
    size = torch.linalg.vector_norm(check_tensor("f0", f0), dim=-1)
    return torch.linalg.vector_norm(_difference("f", f, "f0", f0), dim=-1) / size


def t_half(times: Tensor, losses: Tensor) -> Tensor:
    """First time with loss below half of its initial value [Geiger 2020, eq. 19].

    In the feature regime this is t_1. Between two records the loss is taken to be linear in time,
    so that sparse records do not delay the answer.

    Args:
        times: increasing times of the records, (T,), or (..., T) for members with their own; a
            member that ended before the others may repeat its last record, as in `flow.Run`.
        losses: losses (..., T), the first being the initial one; NaN where nothing was recorded.

    Returns:
        Shape (...); NaN for a member whose loss never fell that far, such as a constant one.

    >>> t_half(torch.tensor([0.0, 1.0, 2.0, 3.0]), torch.tensor([4.0, 3.0, 1.0, 0.5]))
    tensor(1.5000)
    """
    if losses.ndim == 0 or times.shape not in (losses.shape[-1:], losses.shape):
        raise ValueError(
            f"times must have shape (T,) or that of losses (..., T), got {tuple(times.shape)} and "
            f"{tuple(losses.shape)}"
        )
    if not bool(((losses[..., 0] > 0) & losses[..., 0].isfinite()).all()):
        raise ValueError("the initial loss must be positive and finite")
    times = times.expand(losses.shape)
    waits, before, after = times.diff(dim=-1), losses[..., :-1], losses[..., 1:]
    repeated = (before == after) | (before.isnan() & after.isnan())
    if not bool(((waits > 0) | ((waits == 0) & repeated)).all()):
        raise ValueError(
            "times must be increasing; only a record that is repeated as it is may have the time "
            "of the one before"
        )
    times = times.to(losses)
    level = losses[..., :1] / 2
    below = losses < level
    first = below.to(torch.uint8).argmax(-1, keepdim=True)
    earlier = (first - 1).clamp(min=0)
    high, low = losses.gather(-1, earlier), losses.gather(-1, first)
    share = (high - level) / (high - low)
    start, end = times.gather(-1, earlier), times.gather(-1, first)
    found = start + share * (end - start)
    return torch.where(below.any(-1, keepdim=True), found, torch.nan)[..., 0]


def weight_amplification(w: Tensor, w0: Tensor, w1: Tensor) -> Tensor:
    """`|w(t) - w(0)| / |w(t_1) - w(0)|`, t_1 as `t_half` gives it [Geiger 2020, sec. 6].

    Args:
        w: all parameters as one vector at one time or several, (..., P).
        w0: parameters at the start, (P,) or (..., P).
        w1: parameters at t_1, (P,) or (..., P).

    Returns:
        Shape (...).

    >>> w0, w1 = torch.zeros(2), torch.tensor([0.0, 1.0])
    >>> weight_amplification(torch.tensor([[0.0, 2.0], [3.0, 4.0]]), w0, w1)
    tensor([2., 5.])
    """
    w, w0, w1 = check_tensor("w", w), check_tensor("w0", w0), check_tensor("w1", w1)
    if not w.shape[-1] == w0.shape[-1] == w1.shape[-1]:
        raise ValueError(
            f"the parameters must be vectors of one length, got {w.shape[-1]}, {w0.shape[-1]} and "
            f"{w1.shape[-1]}"
        )
    reference = torch.linalg.vector_norm(w1 - w0, dim=-1)
    if not bool((reference > 0).all()):
        raise ValueError("the weights had not moved by t_1, so no amplification is defined")
    return torch.linalg.vector_norm(w - w0, dim=-1) / reference


def _difference(name: str, after: Tensor, start: str, before: Tensor) -> Tensor:
    after, before = check_tensor(name, after), check_tensor(start, before)
    if after.shape != before.shape:
        raise ValueError(
            f"{name} and {start} must have one shape, got {tuple(after.shape)} and "
            f"{tuple(before.shape)}"
        )
    return after - before
