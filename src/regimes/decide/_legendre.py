"""A step of many stages for stiff flows: explicit, and stable far beyond Euler's longest step."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.decide._policy_field import PolicyField


def leap(
    field: PolicyField, logits: Tensor, slope: Tensor, lengths: Tensor, stages: int, out: Tensor
) -> Tensor:
    """Logits after a step of Runge, Kutta and Legendre of first order, (m, P).

    With s stages `y_j = ((2j-1) y_{j-1} - (j-1) y_{j-2} + (2j-1) w dt f(y_{j-1})) / j`, where
    `w = 2/(s^2+s)`: an error that decays with rate x is multiplied by the Legendre polynomial
    P_s(1 - w dt x), so that steps are stable up to (s^2+s)/2 times Euler's. One stage is Euler.

    Args:
        field: the slopes.
        logits: where the step begins.
        slope: the slope there.
        lengths: of the members' steps, (m,).
        stages: s; s-1 looks at the field.
        out: where the end is written.
    """
    part = 2.0 / (stages * stages + stages) * lengths[:, None]
    torch.addcmul(logits, slope, part, out=out)
    if stages == 1:
        return out
    before, there = logits.clone(), torch.empty_like(slope)
    for j in range(2, stages + 1):
        field.slopes(out, out=there)
        # the newest takes the place of the one before the last
        before.mul_((1 - j) / j).add_(out, alpha=(2 * j - 1) / j)
        before.addcmul_(there, part, value=(2 * j - 1) / j)
        before, out = out, before
    return out
