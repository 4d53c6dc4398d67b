"""What a finite data set adds to the drift of aligned neurons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.theory._stripe_field import StripeDrift
from regimes.theory._stripes import Stripes, check_sign

# Entries of a block of pre-activations, to bound memory.
_BLOCK = 1 << 23


@dataclass(frozen=True)
class BoundaryNoise:
    """Realised noise of one data set at one place of the boundary [Paccolat 2021, app. C.3]."""

    drift: Tensor  # (d-1,), S_i = mean of x_i y over the data on the active side, else 0
    normal: Tensor  # (d-1,), N_i = sqrt(p) S_i/sqrt(D_perp), of variance one over data sets
    d_perp: float  # D_perp, the share of N(0, 1) on the active side
    p: int

    @property
    def vector(self) -> Tensor:
        """The noise of `neuron_trajectories`, (d+1,): none for w_1 and b, S_i for the others."""
        zero = self.drift.new_zeros(1)
        return torch.cat([zero, self.drift, zero])


def boundary_noise(x: Tensor, y: Tensor, z: float, sign_w: int) -> BoundaryNoise:
    """Noise that a data set gives to aligned neurons with their boundary at z.

    [Paccolat 2021, app. C.3]: `S_i = (1/p) sum_mu x_i y H(sign_w (x_1 - z))` for i > 1, whose
    average over data sets vanishes, and `N_i = sqrt(p) S_i/sqrt(D_perp)`.

    Args:
        x: training points (p, d), the informative coordinate first.
        y: labels +-1, (p,).
        z: place of the boundary, a fixed point's `z`.
        sign_w: +1 or -1, the sign of w_1.

    >>> x = torch.tensor([[1.0, 2.0], [-1.0, 5.0]])
    >>> boundary_noise(x, torch.tensor([-1.0, 1.0]), z=0.0, sign_w=1).drift
    tensor([-1.], dtype=torch.float64)
    """
    points, labels = _check_data(x, y)
    place, side = real("z", z), check_sign("sign_w", sign_w)
    active = (side * (points[:, 0] - place) > 0).double()
    drift = (active * labels) @ points[:, 1:] / len(points)
    share = float(torch.special.ndtr(torch.tensor(-side * place, dtype=torch.float64)))
    if share == 0:
        raise ValueError(f"z = {place:.3g} leaves no points on the side {side:+d} of the boundary")
    return BoundaryNoise(drift, (len(points) / share) ** 0.5 * drift, share, len(points))


def sample_drift(w: Tensor, b: Tensor, x: Tensor, y: Tensor) -> StripeDrift:
    """The averages of `stripe_drift` over a data set instead of the population.

    `mean_mu y x H(w.x/sqrt(d) + b)` and `sqrt(d) mean_mu y H(w.x/sqrt(d) + b)`: what drives each
    neuron of [Paccolat 2021, eq. 4] while every sample is unfitted.

    Args:
        w: weights (N, d).
        b: biases (N,).
        x: training points (p, d).
        y: labels (p,).

    Returns:
        The drift, float64.

    >>> x = torch.tensor([[1.0, 2.0], [-1.0, 5.0]])
    >>> sample_drift(torch.tensor([[1.0, 0.0]]), torch.zeros(1), x, torch.ones(2)).w
    tensor([[0.5000, 1.0000]], dtype=torch.float64)
    """
    points, labels = _check_data(x, y)
    p, d = points.shape
    if w.ndim != 2 or w.shape[1] != d or b.shape != w.shape[:1]:
        raise ValueError(
            f"w must have shape (N, {d}) and b (N,), got {tuple(w.shape)} and {tuple(b.shape)}"
        )
    if not len(w) or not bool(w.isfinite().all() and b.isfinite().all()):
        raise ValueError(f"w and b must be finite and of at least one neuron, got {len(w)} neurons")
    weights, biases = w.to(points), b.to(points)
    total = points.new_zeros(len(w), d + 1)
    block = max(1, _BLOCK // len(w))
    for start in range(0, p, block):
        part = points[start : start + block]
        active = (weights @ part.T / d**0.5 + biases[:, None] > 0).to(points)
        signed = labels[start : start + block, None]
        total += active @ torch.cat([signed * part, signed], dim=1)
    total /= p
    return StripeDrift(total[:, :-1], d**0.5 * total[:, -1])


class AxisNoise:
    """Realised noise of a data set for a boundary anywhere on the informative axis.

    For neurons `w`, `b` it returns the difference between the data set's averages and the
    population's over the half-space `sign(w_1) (x_1 - zeta_1) > 0` that an aligned neuron sees,
    `zeta_1 = -sqrt(d) b/w_1`: N of [Paccolat 2021, eq. 7] followed along the trajectory instead of
    frozen at z*. Between samples it is interpolated, which changes it by less than one sample does.
    Use it as `noise` of `neuron_trajectories`.

    Args:
        x: training points (p, d), the informative coordinate first.
        y: labels +-1, (p,).
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.
        everything: True adds noise to w_1 and b too; the paper leaves it out (app. C.3), though
            it shifts growth rates by `1/sqrt(p)`.
    """

    def __init__(
        self,
        x: Tensor,
        y: Tensor,
        *,
        interfaces: Sequence[float],
        first_sign: int = 1,
        everything: bool = False,
    ) -> None:
        points, labels = _check_data(x.detach().cpu(), y.detach().cpu())
        self._stripes = Stripes.checked(interfaces, first_sign)
        self._everything = everything
        p, d = points.shape
        order = points[:, 0].argsort()
        signed = labels[order, None] * torch.cat([points[order], torch.ones(p, 1).double()], 1)
        signed[:, -1] *= d**0.5
        self._places = points[order, 0].contiguous()
        self._below = torch.cat([signed.new_zeros(1, d + 1), signed.cumsum(0)]) / p
        self._d = d

    def __call__(self, w: Tensor, b: Tensor) -> Tensor:
        """Noise (n, d+1) for weights (n, d) and biases (n,)."""
        side = torch.where(w[:, 0] >= 0, 1.0, -1.0).double()
        # w_1 = 0 sends the boundary to infinity, where the interpolation stops at the last sample.
        zeta = (-(self._d**0.5) * b / w[:, 0]).double().nan_to_num(nan=0.0)
        below = self._lower(zeta)
        mean = torch.where(side[:, None] > 0, self._below[-1] - below, below)
        if not self._everything:
            mean[:, [0, -1]] = 0.0
            return mean
        for sign in (1, -1):
            chosen = side == sign
            place = zeta[chosen].numpy()
            c1, cb = self._stripes.c1(place, sign), self._stripes.cb(place, sign)
            mean[chosen, 0] -= torch.as_tensor(c1)
            mean[chosen, -1] -= self._d**0.5 * torch.as_tensor(cb)
        return mean

    def _lower(self, zeta: Tensor) -> Tensor:
        """Averages over the samples below zeta, linear between samples, (n, d+1)."""
        p = len(self._places)
        after = torch.searchsorted(self._places, zeta.contiguous())
        low = self._places[(after - 1).clamp(min=0)]
        high = self._places[after.clamp(max=p - 1)]
        gap = high - low
        share = torch.where(gap > 0, (zeta - low) / torch.where(gap > 0, gap, 1.0), 0.5)
        # The sum jumps at a sample; its half-way values there are joined by straight lines.
        middle = (self._below[:-1] + self._below[1:]) / 2
        left, right = middle[(after - 1).clamp(min=0)], middle[after.clamp(max=p - 1)]
        inner = left + share.clamp(0, 1)[:, None] * (right - left)
        outer = torch.where((after == 0)[:, None], self._below[0], self._below[-1])
        return torch.where(((after == 0) | (after == p))[:, None], outer, inner)


def _check_data(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    if x.ndim != 2 or x.shape[1] < 2 or y.shape != x.shape[:1] or len(x) == 0:
        raise ValueError(
            f"x must have shape (p, d) with d >= 2 and y (p,), got {tuple(x.shape)} and "
            f"{tuple(y.shape)}"
        )
    for name, value in (("x", x), ("y", y)):
        if not bool(value.isfinite().all()):
            raise ValueError(f"{name} holds NaN or infinite entries")
    return x.detach().double(), y.detach().to(x.device).double()
