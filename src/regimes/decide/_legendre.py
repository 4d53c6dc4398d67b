"""Steps of many stages for stiff flows: explicit, and stable far beyond Euler's longest step.

How many stages a member takes, and how long its step may be, follow from the fastest rate of its
flow, the largest eigenvalue of the slope's derivative. One step of the power method along with each
step keeps up with it, for a single look at the field.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regimes.decide._policy_field import PolicyField

_SAFETY = 1.25  # the power method finds rates from below
_PROBE = 1e-3  # length of the step in logits that slopes are differentiated by


def leap(
    field: PolicyField,
    logits: Tensor,
    slope: Tensor,
    lengths: Tensor,
    stages: np.ndarray,
    out: Tensor,
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
        stages: their s, (m,); the largest of them, less one, are looks at the field.
        out: a buffer; the end is written to it or returned in its place.
    """
    part = (lengths * torch.from_numpy(2.0 / (stages * stages + stages)).to(lengths))[:, None]
    torch.addcmul(logits, slope, part, out=out)
    if (last := int(stages.max())) == 1:
        return out
    before, there = logits.clone(), torch.empty_like(slope)
    needed = torch.from_numpy(stages).to(out.device)[:, None]
    for j in range(2, last + 1):
        field.slopes(out, out=there)
        # the newest takes the place of the one before the last
        before.mul_((1 - j) / j).add_(out, alpha=(2 * j - 1) / j)
        before.addcmul_(there, part, value=(2 * j - 1) / j)
        if (stages < j).any():
            torch.where(needed >= j, before, out, out=before)
        before, out = out, before
    return out


def fastest_rate(
    field: PolicyField, logits: Tensor, slope: Tensor, direction: Tensor
) -> np.ndarray:
    """The fastest rate of each member as one more step of the power method finds it, (m,).

    `direction`, (m, P), is the eigenvector that was found so far and is turned towards it.
    """
    direction.mul_(_PROBE / torch.linalg.vector_norm(direction, dim=1, keepdim=True))
    changed = torch.empty_like(slope)
    field.slopes(logits + direction, out=changed)
    torch.sub(changed, slope, out=direction)
    return (torch.linalg.vector_norm(direction, dim=1) / _PROBE).double().cpu().numpy()


def longest_step(rate: np.ndarray, most: int) -> np.ndarray:
    """The longest steps that are stable with so many stages."""
    with np.errstate(divide="ignore"):
        return most * (most + 1) / (_SAFETY * rate)


def stages_of(rate: np.ndarray, step: np.ndarray, most: int) -> np.ndarray:
    """The fewest stages with which these steps are stable: s(s+1) is at least rate times step."""
    needed = np.ceil((np.sqrt(1 + 4 * _SAFETY * rate * step) - 1) / 2 - 1e-9)
    return np.clip(needed, 1, most).astype(np.int64)
