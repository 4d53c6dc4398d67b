"""Gaussian second moments by quadrature: what an activation's normalising factor is made of."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

_NODES = 16  # exact for polynomials of degree 31 on each panel
_REACH = 40.0  # the Gaussian density at 40 underflows: nothing is cut off
_ROUNDS = 48  # halvings of a unit panel: a kink ends up in a panel of width 2^-48
_TOLERANCE = 1e-14


def gaussian_second_moment(function: Callable[[Tensor], Tensor]) -> float:
    """E[function(g)^2] for g ~ N(0, 1), to about 12 digits.

    Composite Gauss-Legendre quadrature in float64 over unit panels of [-40, 40] (so 0, where relu
    bends, is a panel border). A panel whose two halves disagree with the whole is halved again;
    kinks anywhere and steep functions such as softplus with a large beta are resolved this way.

    Args:
        function: elementwise function of a float64 tensor, piecewise smooth.

    Raises:
        ValueError: the function changes the shape, or its second moment is not a finite number.

    Example:
        >>> round(gaussian_second_moment(torch.relu), 12)
        0.5
    """
    nodes, weights = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(_NODES))

    def panel_integrals(left: Tensor, right: Tensor) -> Tensor:
        half = (right - left) / 2
        u = (left + right)[:, None] / 2 + half[:, None] * nodes
        value = function(u)
        if not isinstance(value, Tensor) or value.shape != u.shape:
            got = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(
                f"an activation must act on each entry: given a tensor of shape {tuple(u.shape)}, "
                f"it returned {got}"
            )
        density = torch.exp(-u.square() / 2) / math.sqrt(2 * math.pi)
        # density first, so that a steep function times a vanishing density is 0, not inf * 0
        return half * ((value * density.sqrt()).square() @ weights)

    with torch.no_grad():
        edges = torch.arange(-_REACH, _REACH + 1, dtype=torch.float64)
        left, right = edges[:-1], edges[1:]
        total, coarse = 0.0, panel_integrals(left, right)
        for _ in range(_ROUNDS):
            middle = (left + right) / 2
            first, second = panel_integrals(left, middle), panel_integrals(middle, right)
            scale = total + float((first + second).sum())
            good = (first + second - coarse).abs() <= _TOLERANCE * scale
            total += float((first + second)[good].sum())
            bad = ~good
            left, right = (
                torch.cat([left[bad], middle[bad]]),
                torch.cat([middle[bad], right[bad]]),
            )
            coarse = torch.cat([first[bad], second[bad]])
            if not len(left) or not math.isfinite(scale):
                break
        total += float(coarse.sum())
    if not math.isfinite(total):
        raise ValueError(f"E[sigma(g)^2] under a standard Gaussian must be finite, got {total}")
    return total
