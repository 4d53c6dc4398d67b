"""Bases of steerable kernels on voxels [Weiler 2018, secs. 4.2 and 4.4.1]."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from regimes._check import choose, positive_int, real
from regimes.nets.voxels._harmonics import spherical_harmonics, three_j

SIGMA = 0.6  # width of the Gaussian shells, in voxels
UNBOUNDED = 10**6

# highest angular frequency J of the shell of radius m
CUTOFFS = {
    "default": lambda m: 2 * m + 1 if m else 0,
    "conservative": lambda m: 2 * m,
    "sfcnn": lambda m: 2 * m + 2 if m else 0,
    "none": lambda m: UNBOUNDED,
}
FAMILIES = ("shells", "smooth")


def cutoff_orders(cutoff: str, size: int) -> list[int]:
    """The highest angular frequency of every shell of a kernel.

    A shell of radius m has few voxels, on which high frequencies alias; without a limit they are
    no longer equivariant. "default" is the one that the published numbers of parameters follow
    from (docs/themes/equivariance.md, "Steerable kernels").

    Args:
        cutoff: "default" (0, 3, 5, 7, ...), "conservative" (0, 2, 4, 6, ...), "sfcnn" (0, 4, 6,
            8, ...) or "none".
        size: voxels of a side.

    Returns:
        One J for every radius m = 0, 1, ..., size // 2.

    Example:
        >>> cutoff_orders("default", 7)
        [0, 3, 5, 7]
    """
    rule = choose(cutoff, CUTOFFS, "cutoff")
    return [rule(m) for m in range(odd(size) // 2 + 1)]


def odd(size: object) -> int:
    """A side of a kernel: an odd number, so that it has a middle."""
    number = positive_int("size", size)
    if number % 2 == 0:
        raise ValueError(f"a steerable kernel has an odd number of voxels a side, got {number}")
    return number


@functools.cache
def kernel_basis(
    j: int,
    l: int,
    size: int,
    cutoff: str = "default",
    *,
    parity: int = 0,
    family: str = "shells",
    sigma: float = SIGMA,
) -> Tensor:
    """Kernels that take fields of order l to fields of order j, each of norm 1.

    `k(x) = phi_m(|x|) Q_J Y^J(x/|x|)` for |j-l| <= J <= min(j+l, J_max(m)), with shells
    `phi_m(r) = exp(-(r-m)^2/(2 sigma^2))` on the cube of this side. At x = 0 only J = 0 counts.
    They satisfy `k(Rx) = D^j(R) k(x) D^l(R)^T` [Weiler 2018, eqs. 11 and 16].

    Args:
        j: order of the fields that come out.
        l: order of the fields that go in.
        size: voxels of a side, odd.
        cutoff: see `cutoff_orders`.
        parity: product of the two parities; 0 where mirrors are not asked for. A parity p keeps
            (-1)^J = p.
        family: "shells", or "smooth": e3nn's radial functions of finite support with the centre by
            itself, and no cutoff.
        sigma: width of the shells.

    Returns:
        (B, 2j+1, 2l+1, size, size, size) in float64; do not write to it, it is kept.

    Raises:
        ValueError: for unknown names or an even side.

    Example:
        >>> kernel_basis(1, 1, 5).shape
        torch.Size([7, 3, 3, 5, 5, 5])
    """
    limits, radius = cutoff_orders(cutoff, size), odd(size) // 2
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}; use one of: {', '.join(FAMILIES)}")
    real("sigma", sigma, above=0)
    axis = torch.arange(-radius, radius + 1, dtype=torch.float64)
    points = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1)
    shells = _shells(points.norm(dim=-1), radius, sigma) if family == "shells" else _bumps(points)
    kernels = []
    for m, shell in enumerate(shells):
        for J in range(abs(j - l), j + l + 1):
            if (family == "shells" and limits[m] < J) or parity * (-1) ** J < 0:
                continue
            angular = torch.einsum(
                "ijm,xyzm->ijxyz", three_j(j, l, J), spherical_harmonics(J, points)
            )
            kernel = shell * angular
            if bool(kernel.norm() > 1e-12):  # frequencies above 0 vanish at the centre
                kernels.append(kernel / kernel.norm())
    shape = (0, 2 * j + 1, 2 * l + 1, size, size, size)
    return torch.stack(kernels) if kernels else torch.zeros(shape, dtype=torch.float64)


def _shells(r: Tensor, radius: int, sigma: float) -> list[Tensor]:
    return [torch.exp(-((r - m) ** 2) / (2 * sigma**2)) for m in range(radius + 1)]


def _bumps(points: Tensor) -> list[Tensor]:
    """The centre by itself, then e3nn's smooth functions of finite support.

    `exp(2 - 2/(1-t^2))` in the distance t from each of `size` radii, evenly spread from the centre
    to the middle of a face, in units of their spacing: what `e3nn.math.soft_one_hot_linspace`
    takes for voxels. Those that no voxel feels are left out.
    """
    size, r = len(points), points.norm(dim=-1)
    found = [(r == 0).double()]
    step = (size // 2) / (size + 1)
    for k in range(1, size + 1 if step else 1):
        square = (r / step - k).square()
        near = square < 1
        found.append(torch.exp(2 - 2 / (1 - square.where(near, 0))).where(near, 0))
    return [bump for bump in found if bool((bump > 1e-12).any())]
