"""Slopes of losses: found by automatic differentiation, or checked against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regimes._random import generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from regimes.flow._losses import Loss

_APART = 1e-4  # beside 1 or the slope: more than rounding


def slope_of(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor | None:
    """Derivative of a function of each entry (or row) alone; None where autograd has no way back.

    >>> slope_of(lambda m: m.square(), torch.tensor([1.0, 3.0]))
    tensor([2., 6.])
    """
    with torch.enable_grad():
        leaf = at.detach().requires_grad_()
        values = function(leaf)
        if not values.requires_grad:
            return None
        (found,) = torch.autograd.grad(values.sum(), leaf, allow_unused=True)
    return found


def check_slope(loss: Loss, y: Tensor, shape: tuple[int, ...]) -> None:
    """Refuse a loss whose derivative is not that of its values.

    Args:
        loss: the loss.
        y: labels as a field gives them, (m or 1, n).
        shape: of the predictions, (m, n, c).
    """
    draws = torch.randn(shape[1:], generator=generator(0, "slopes"), dtype=torch.float64)
    F = (2 * draws).to(y.device).expand(shape)
    labels = y.double() if y.is_floating_point() else y
    true, given = slope_of(lambda at: loss.value(at, labels), F), loss.derivative(F, labels)
    if true is None:
        return  # the values leave torch on the way: what is given is all there is
    apart = (given - true).abs() / (1 + true.abs())
    worst = int(apart.nan_to_num(0.0).argmax())
    if float(apart.flatten()[worst]) > _APART:
        at, wrong, right = (float(each.flatten()[worst]) for each in (F, given, true))
        raise ValueError(
            f"the derivative of the loss {loss.name!r} is not that of its values: at F={at:.4g} it "
            f"gives {wrong:.4g}, automatic differentiation {right:.4g}; mend it, or leave it out "
            "and give the function alone"
        )
