"""What follows a correlation: integrals, maxima, and functions applied on a finer grid."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from regimes._check import positive_int, shown
from regimes.nets.sphere._grid import weights_like
from regimes.nets.sphere._real import s2_backward, s2_forward, so3_backward, so3_forward


def s2_integrate(f: Tensor) -> Tensor:
    """Integral over the sphere, of total measure 1, of signals (..., 2b, 2b): shape (...)."""
    return f.mean(-1) @ weights_like(f, f.shape[-2])


def so3_integrate(f: Tensor) -> Tensor:
    """Integral over SO(3) with Haar's measure, of signals (..., 2b, 2b, 2b): shape (...).

    Invariant to rotations up to what the signal has above the bandlimit.
    """
    return f.mean((-2, -1)) @ weights_like(f, f.shape[-3])


def so3_max(f: Tensor) -> Tensor:
    """Maximum over the grid of signals (..., 2b, 2b, 2b), nearly invariant: shape (...)."""
    return f.amax((-3, -2, -1))


class Oversampled(nn.Module):
    """A pointwise function applied on a finer grid, its result cut back to the bandlimit.

    ReLU makes orders above the bandlimit, which fold back into those below; on a grid finer by
    `factor` most of them fall outside. Takes signals (n, c, 2b, 2b) or (n, c, 2b, 2b, 2b).

    Example:
        >>> import torch
        >>> Oversampled(torch.relu, 2)(torch.ones(1, 1, 4, 4, 4)).shape
        torch.Size([1, 1, 4, 4, 4])
    """

    def __init__(self, act: Callable[[Tensor], Tensor], factor: int = 2):
        super().__init__()
        if not callable(act):
            raise ValueError(f"act must be a function, such as torch.relu, got {shown(act)}")
        self.act, self.factor = act, positive_int("factor", factor)

    def forward(self, x: Tensor) -> Tensor:
        """Signals of the same shape."""
        b = x.shape[-1] // 2
        on_sphere = x.ndim == 4
        there = s2_forward if on_sphere else so3_forward
        back = s2_backward if on_sphere else so3_backward
        fine = self.act(back(there(x, b), self.factor * b))
        return back(there(fine, b), b)

    def __repr__(self) -> str:
        name = getattr(self.act, "__name__", repr(self.act))
        return f"Oversampled({name}, x{self.factor})"
