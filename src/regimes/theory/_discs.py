"""Soft discs in a periodic square: overlaps, energy, forces, and the two parts of the Hessian.

`U = (1/2) sum_contacts Delta_ij^2` with `Delta_ij = R_i + R_j - r_ij`, a contact where it is
positive: the square hinge of a network's constraints [Geiger 2019, sec. II]. The side is 1. All
tensors have a leading axis of samples S.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class DiscPackings:
    """Packings of n discs at rest."""

    positions: Tensor  # (S, n, 2), in [0, 1)
    radii: Tensor  # (S, n)
    density: Tensor  # (S,), covered share of the square, overlaps counted twice
    energy: Tensor  # (S,), U per disc
    force: Tensor  # (S,), largest unbalanced force over the mean force of a contact
    rattlers: Tensor  # (S, n), discs held by fewer than three others
    contacts: Tensor  # (S,), N_Delta: touching pairs, rattlers left out
    freedom: Tensor  # (S,), N = 2 (n - rattlers) - 2
    converged: Tensor  # (S,), truth values: the energy asked for was reached at rest


def overlaps(positions: Tensor, radii: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`Delta_ij`, (S, n, n), distances, and unit vectors from j to i, (S, n, n, 2).

    A disc does not meet itself: Delta_ii is minus infinity.
    """
    apart = positions.unsqueeze(2) - positions.unsqueeze(1)
    apart = apart - apart.round()  # to the nearest image
    length = apart.norm(dim=-1)
    own = torch.eye(positions.shape[1], dtype=torch.bool, device=positions.device)
    length = length.masked_fill(own, 1.0)
    delta = radii.unsqueeze(2) + radii.unsqueeze(1) - length
    return delta.masked_fill(own, -torch.inf), length, apart / length.unsqueeze(-1)


def energy_and_force(positions: Tensor, radii: Tensor) -> tuple[Tensor, Tensor]:
    """U, (S,), and minus its gradient, (S, n, 2)."""
    delta, _, unit = overlaps(positions, radii)
    pressed = delta.clamp_min(0)
    energy = pressed.square().sum((1, 2)) / 4  # every pair is there twice
    return energy, (pressed.unsqueeze(-1) * unit).sum(2)


def hessian_parts(positions: Tensor, radii: Tensor) -> tuple[Tensor, Tensor]:
    """H0 and Hp, (S, 2 n, 2 n); coordinates of a disc are neighbours."""
    delta, length, unit = overlaps(positions, radii)
    pressed = delta.clamp_min(0)
    along = unit.unsqueeze(-1) * unit.unsqueeze(-2)  # (S, n, n, 2, 2)
    across = torch.eye(2, dtype=unit.dtype, device=unit.device) - along
    stiff = along * (pressed > 0)[..., None, None]
    return _assembled(stiff), _assembled(-across * (pressed / length)[..., None, None])


def _assembled(pairs: Tensor) -> Tensor:
    """From the curvature of every pair in its difference to that in all positions."""
    samples, count = pairs.shape[:2]
    blocks = torch.diag_embed(pairs.sum(2).permute(0, 2, 3, 1)).permute(0, 3, 4, 1, 2) - pairs
    return blocks.permute(0, 1, 3, 2, 4).reshape(samples, 2 * count, 2 * count)


def find_rattlers(delta: Tensor) -> Tensor:
    """Discs held by fewer than three others that are no rattlers themselves, (S, n)."""
    touching = delta > 0
    loose = torch.zeros(delta.shape[:2], dtype=torch.bool, device=delta.device)
    while True:
        held = (touching & ~loose.unsqueeze(1) & ~loose.unsqueeze(2)).sum(2)
        now = held < 3
        if bool((now == loose).all()):
            return loose
        loose = now


def packing_hessian(packings: DiscPackings) -> tuple[Tensor, Tensor]:
    """`H0 = sum grad Delta grad Delta^T` and `Hp = sum Delta grad grad Delta`, (S, 2 n, 2 n) each.

    H0 is positive, of rank N_Delta or `N` at most; Hp is negative for discs
    [Geiger 2019, sec. II]. Rattlers add zeros to both.

    >>> from regimes import theory
    >>> H0, Hp = packing_hessian(theory.jammed_discs(8, seed=1))
    >>> bool(torch.linalg.eigvalsh(Hp).max() < 1e-12), H0.shape
    (True, torch.Size([1, 16, 16]))
    """
    return hessian_parts(packings.positions, packings.radii)


def packing_gaps(packings: DiscPackings) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Of each packing, without rattlers: overlaps over their mean, and gaps over `R_i + R_j`.

    >>> from regimes import theory
    >>> packings = theory.jammed_discs(8, seed=1)
    >>> forces, gaps = packing_gaps(packings)
    >>> len(forces[0]) == int(packings.contacts[0]), bool((gaps[0] >= 0).all())
    (True, True)
    """
    delta, _, _ = overlaps(packings.positions, packings.radii)
    kept = ~packings.rattlers
    upper = torch.ones_like(delta[0], dtype=torch.bool).triu(1)
    pairs = kept.unsqueeze(1) & kept.unsqueeze(2) & upper
    sums = packings.radii.unsqueeze(2) + packings.radii.unsqueeze(1)
    forces, gaps = [], []
    for own, counted, size in zip(delta, pairs, sums, strict=True):
        pressed = own[counted & (own > 0)]
        forces.append(pressed / pressed.mean() if len(pressed) else pressed)
        gaps.append((-own / size)[counted & (own <= 0)])
    return tuple(forces), tuple(gaps)
