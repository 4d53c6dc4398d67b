"""Pre-activations that sit on the kink of relu, and what they allow at a jammed minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.measure._kernel import check_tensor

_TAUS = tuple(10.0 ** (-k / 2) for k in range(4, 13))  # 1e-2 to 1e-6


@dataclass(frozen=True, eq=False)
class CuspCount:
    """(neuron, point) pairs in the peak of the pre-activations at zero, of R networks."""

    taus: tuple[float, ...]  # decreasing
    counts: Tensor  # (layers, R, taus), |a| < tau less the smooth background; below 0 by noise
    background: Tensor  # (layers, R, taus), what was taken off
    plateau: Tensor  # (layers, R), the count where it depends least on tau
    spread: Tensor  # (layers, R), half its change over the neighbouring taus
    tau: Tensor  # (R,), where that is, by all layers together

    @property
    def total(self) -> Tensor:
        """N_c of each network, (R,), all layers together."""
        return self.plateau.sum(0)

    @property
    def total_spread(self) -> Tensor:
        """Of N_c, (R,), as if all layers erred alike."""
        return self.spread.sum(0)


@dataclass(frozen=True)
class StabilityBounds:
    """What second-order stability demands of a jammed minimum."""

    least_share: float  # N_Delta/N is at least this
    most_parameters: float  # N* is at most this; inf where nothing is demanded


def cusp_count(
    hidden: Sequence[Tensor], *, taus: Sequence[float] = _TAUS, scale: float | None = None
) -> CuspCount:
    """N_c: pre-activations at zero beyond a smooth density [Geiger 2019, app. C].

    For each tau, `#{|a| < tau}` less the background: the density in `tau < |a| < 3 tau`, just
    outside of the peak, times 2 tau. A tau below the jitter that training leaves cuts the peak, one
    of the size of the bulk holds no peak; between them the count does not change. The plateau is
    where it changes least, as a share, between the next smaller and the next larger tau.

    Args:
        hidden: pre-activations of each hidden layer on the training points, (R, P, h).
        taus: half-widths of the peak, at least three.
        scale: what taus are multiplied by; None for the root mean square of all pre-activations.

    >>> bulk = torch.linspace(-2, 2, 20_001).double()  # as many points anywhere
    >>> peak = torch.linspace(-1e-4, 1e-4, 300).double()
    >>> found = cusp_count([torch.cat([bulk, peak]).view(1, -1, 1)], scale=1.0)
    >>> round(float(found.total[0]), -1), bool(3e-4 <= found.tau[0] <= 4e-3)
    (300.0, True)
    """
    layers = [check_tensor(f"hidden[{i}]", z).detach() for i, z in enumerate(hidden)]
    if not layers or any(z.ndim != 3 or z.shape[:2] != layers[0].shape[:2] for z in layers):
        raise ValueError(
            "hidden must be a list of pre-activations (R, P, h), one for each hidden layer, got "
            f"shapes {[tuple(z.shape) for z in layers]}"
        )
    widths = sorted((real("taus", tau, above=0.0) for tau in taus), reverse=True)
    if len(set(widths)) < 3 or len(set(widths)) < len(widths):
        raise ValueError(f"taus must be at least three different numbers, got {list(taus)}")
    if scale is None:
        square = sum(z.double().square().sum((1, 2)) for z in layers)
        count = sum(z[0].numel() for z in layers)
        size = torch.as_tensor(square).div(count).sqrt()[:, None]
    else:
        size = layers[0].new_full((len(layers[0]), 1), real("scale", scale, above=0.0)).double()
    edges = size * torch.tensor(widths, dtype=torch.float64, device=size.device)  # (R, taus)
    inside, outside = (
        torch.stack([_below(z, factor * edges) for z in layers]).double() for factor in (1.0, 3.0)
    )
    background = (outside - inside) / 2  # a shell twice as wide as the peak
    counts = inside - background
    whole = counts.sum(0)
    change = (whole[:, 2:] - whole[:, :-2]).abs() / whole[:, 1:-1].clamp_min(1.0)
    place = change.argmin(1) + 1  # (R,)
    rows = place.expand(len(layers), -1).unsqueeze(-1)
    before, at, after = (counts.gather(2, rows + k)[..., 0] for k in (-1, 0, 1))
    chosen = torch.tensor(widths, dtype=torch.float64, device=size.device)[place]
    return CuspCount(tuple(widths), counts, background, at, (after - before).abs() / 2, chosen)


def _below(z: Tensor, edges: Tensor) -> Tensor:
    """How many entries of each z[i] are below each of edges[i] in modulus, (R, taus)."""
    ordered = z.double().abs().flatten(1).sort(1).values
    return torch.searchsorted(ordered, edges)


def stability_bounds(
    negative_share: float, cusp_share: float = 0.0, *, points: int
) -> StabilityBounds:
    """`N_Delta >= (C0 - beta) N` and `N* <= P/(C0 - beta)` [Geiger 2019, eqs. 5 and 13].

    A minimum is stable if H0, of rank N_Delta at most, lifts every negative direction of Hp that no
    kink does.

    Args:
        negative_share: C0, negative eigenvalues of Hp over N.
        cusp_share: beta, `N_c/N`; 0 where the activation is smooth.
        points: P.

    >>> stability_bounds(0.5, 0.25, points=1000)
    StabilityBounds(least_share=0.25, most_parameters=4000.0)
    """
    c0, beta = real("negative_share", negative_share), real("cusp_share", cusp_share)
    if not 0.0 <= c0 <= 1.0 or beta < 0.0:
        raise ValueError(
            f"negative_share must lie in [0, 1] and cusp_share not be negative, got "
            f"{negative_share!r} and {cusp_share!r}"
        )
    least = max(0.0, c0 - beta)
    most = positive_int("points", points) / least if least else float("inf")
    return StabilityBounds(least, most)
