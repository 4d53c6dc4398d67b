"""Convolutions on pixels that commute with rotations of the plane, by any angle."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from regimes._check import instance, positive_int, shown
from regimes._grids import move_grid
from regimes._groups import (
    FiniteGroup,
    cyclic_group,
    dihedral_group,
    kernel_space_compact,
    planar_frequency,
    representation,
)
from regimes._random import generator

SIGMA = 0.6  # width of the rings, in pixels, as that of the shells on voxels

_NAME = re.compile(r"(C|D)(\d+)")
_MIRROR = np.diag([1.0, -1.0])


def _turn(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


_TURNS = (_turn(1.0), _turn(2.3))  # their products come near every rotation


@dataclass(frozen=True)
class PlanarFields:
    """`number` fields of one representation on the pixels of a plane.

    Attributes:
        group: "SO(2)", "O(2)", or "C8", "D8" and the like.
        kind: a frequency, or several as a tuple (a sum of irreducible ones; 0 are numbers), or
            "regular" for C_n and D_n.
        number: how many.

    Example:
        >>> PlanarFields("SO(2)", (0, 1, 2), 4).dim
        20
        >>> PlanarFields("C8", "regular").dim
        8
    """

    group: str
    kind: int | tuple[int, ...] | str = 0
    number: int = 1

    def __post_init__(self) -> None:
        positive_int("number", self.number)
        known = isinstance(self.group, str) and (
            self.group in ("SO(2)", "O(2)") or _NAME.fullmatch(self.group)
        )
        if not known:
            raise ValueError(
                f"group must be 'SO(2)', 'O(2)', or 'C' or 'D' with a number, got "
                f"{shown(self.group)}"
            )
        if isinstance(self.kind, str):
            if self.kind != "regular" or self.finite is None:
                raise ValueError(
                    "kind must be frequencies, or 'regular' for C_n and D_n, got "
                    f"{self.kind!r} for {self.group}"
                )
        else:
            for k in self._frequencies:
                positive_int("a frequency", k, least=0)

    @property
    def _frequencies(self) -> tuple[int, ...]:
        assert not isinstance(self.kind, str)
        return self.kind if isinstance(self.kind, tuple) else (self.kind,)

    @property
    def finite(self) -> FiniteGroup | None:
        """C_n or D_n; None for SO(2) and O(2)."""
        found = _NAME.fullmatch(self.group)
        return None if found is None else _finite(found[1], int(found[2]))

    @property
    def generators(self) -> np.ndarray:
        """Elements whose products are, or come near, all of the group, (m, 2, 2)."""
        group = self.finite
        if group is not None:
            return group.matrices[list(group.generators) or [0]]
        return np.stack([*_TURNS, _MIRROR] if self.group == "O(2)" else _TURNS)

    @property
    def width(self) -> int:
        """Components of one field."""
        return len(self.rho(np.eye(2)))

    @property
    def dim(self) -> int:
        """Channels in all."""
        return self.number * self.width

    def rho(self, R: np.ndarray) -> np.ndarray:
        """What an element (2, 2) does to a field's components, (width, width).

        Raises:
            ValueError: if it is not in the group.
        """
        group = self.finite
        if group is not None:
            number = group.number(R)
            if self.kind == "regular":
                return representation(group, "regular").matrices[number]
        elif self.group == "SO(2)" and np.linalg.det(R) < 0:
            raise ValueError("SO(2) has no mirrors; fields that know them are those of 'O(2)'")
        return _sum_of_frequencies(R, self._frequencies)

    def act(self, field: Tensor, R: np.ndarray, *, spline: int = 3) -> Tensor:
        """The field carried along about the middle, `rho(R) f(R^-1 x)`.

        Args:
            field: (n, dim, s, s).
            R: (2, 2), an element of the group. Quarter turns and mirrors along the axes only
                permute pixels; other rotations read between them.
            spline: order of the splines for those.

        Returns:
            The field afterwards.
        """
        self.check(field)
        given = np.asarray(R, dtype=float)
        if given.shape != (2, 2) or np.abs(given @ given.T - np.eye(2)).max() > 1e-6:
            raise ValueError(f"R must be an orthogonal 2x2 matrix, got {shown(R)}")
        whole = torch.eye(3, dtype=torch.float64)
        whole[:2, :2] = torch.from_numpy(given)
        moved = move_grid(field[..., None], whole, spline=spline)[..., 0]
        rho = torch.from_numpy(np.ascontiguousarray(self.rho(given))).to(moved)
        parts = moved.unflatten(1, (self.number, self.width))
        return torch.einsum("ij,nkjxy->nkixy", rho, parts).flatten(1, 2)

    def check(self, field: Tensor) -> None:
        """Raise a ValueError unless a tensor has the channels of these fields."""
        if getattr(field, "ndim", 0) != 4 or field.shape[1] != self.dim:
            raise ValueError(
                f"fields of {self} have shape (n, {self.dim}, s, s), got {shown(field)}"
            )

    def __str__(self) -> str:
        kind = self.kind if isinstance(self.kind, str) else ",".join(map(str, self._frequencies))
        return f"{self.number} x {kind}"


class PlanarConv(nn.Module):
    """A convolution on pixels with kernels of rings and waves around them [Cohen 2019, eq. 9].

    `k(x) = sum_m phi_m(|x|) sum_a b_a(angle of x) C_a`, with Gaussian rings phi_m of radius m
    and waves b up to frequency 2m + 1 (on the ring of radius 0 the constant alone), as on voxels
    (docs/themes/equivariance.md, "Steerable kernels"). The C_a are all that commute with the
    group: `k(Rx) = rho_out(R) k(x) rho_in(R)^-1` holds on the plane, and on pixels for those
    elements that permute them. Each kernel has norm 1; scale and draws are those of `LatticeConv`.

    Args:
        fields_in: what the input channels are.
        fields_out: what the output channels are; the same group.
        size: pixels of a side of the kernel, odd.
        seed: the weights' seed.
        dtype: floating-point type.
        device: where the parameters are.

    Attributes:
        weight: (number_out, number_in, B).

    Example:
        >>> vectors = PlanarFields("SO(2)", 1)
        >>> PlanarConv(PlanarFields("SO(2)"), vectors, 5)
        PlanarConv(1 x 0 -> 1 x 1 of SO(2), size=5, kernels=4)
    """

    basis: Tensor

    def __init__(
        self,
        fields_in: PlanarFields,
        fields_out: PlanarFields,
        size: int = 5,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        for name, fields in (("fields_in", fields_in), ("fields_out", fields_out)):
            instance(name, fields, PlanarFields, "PlanarFields")
        if fields_in.group != fields_out.group:
            raise ValueError(
                f"fields must have one group, got {fields_in.group} and {fields_out.group}"
            )
        if positive_int("size", size) % 2 == 0:
            raise ValueError(f"size must be odd, got {size}")
        self.fields_in, self.fields_out, self.size = fields_in, fields_out, size
        found = _kernels(fields_in, fields_out, size)
        scale = math.sqrt(fields_out.width / (max(len(found), 1) * fields_in.number))
        kept = torch.from_numpy(scale * found).to(device=device, dtype=dtype)
        self.register_buffer("basis", kept, persistent=False)
        drawn = torch.randn(
            fields_out.number,
            fields_in.number,
            len(found),
            generator=generator(seed, "nets/planar"),
            dtype=torch.float64,
        )
        self.weight = nn.Parameter(drawn.to(device=device, dtype=dtype))

    def kernel(self) -> Tensor:
        """The kernel of the plain convolution, (channels out, channels in, size, size)."""
        made = torch.einsum("oib,bdexy->odiexy", self.weight, self.basis)
        return made.flatten(2, 3).flatten(0, 1)

    def forward(self, field: Tensor) -> Tensor:
        """A field (n, channels in, s, s) to (n, channels out, s, s), with zeros around."""
        self.fields_in.check(field)
        return nn.functional.conv2d(field, self.kernel(), padding=self.size // 2)

    def extra_repr(self) -> str:
        """What it maps, and how."""
        return (
            f"{self.fields_in} -> {self.fields_out} of {self.fields_in.group}, size={self.size}, "
            f"kernels={self.weight.shape[2]}"
        )


@functools.cache
def _finite(letter: str, n: int) -> FiniteGroup:
    return cyclic_group(n) if letter == "C" else dihedral_group(n)


def _sum_of_frequencies(R: np.ndarray, frequencies: tuple[int, ...]) -> np.ndarray:
    """A block-diagonal matrix of turns so many times as fast; 0 is the number 1."""
    blocks = [planar_frequency(R, k) if k else np.ones((1, 1)) for k in frequencies]
    sizes = [len(block) for block in blocks]
    out, start = np.zeros((sum(sizes), sum(sizes))), 0
    for block in blocks:
        out[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return out


def _kernels(given: PlanarFields, out: PlanarFields, size: int) -> np.ndarray:
    """Kernels of norm 1, (B, width out, width in, size, size)."""
    radius = size // 2
    x, y = np.meshgrid(*[np.arange(-radius, radius + 1.0)] * 2, indexing="ij")
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    found = [np.zeros((0, out.width, given.width, size, size))]
    for m in range(radius + 1):
        waves = tuple(range(2 * m + 2)) if m else (0,)
        ring = np.exp(-((r - m) ** 2) / (2 * SIGMA**2))
        b = [ring]  # waves have no value at the middle
        for k in waves[1:]:
            b += [ring * np.cos(k * angle) * (r > 0), ring * np.sin(k * angle) * (r > 0)]
        C = _coefficients(given, out, waves)
        found.append(np.einsum("kdea,axy->kdexy", C, np.stack(b)))
    kernels = np.concatenate(found)
    return (
        kernels
        / np.linalg.norm(kernels.reshape(len(kernels), -1), axis=1)[:, None, None, None, None]
    )


def _coefficients(given: PlanarFields, out: PlanarFields, waves: tuple[int, ...]) -> np.ndarray:
    """Maps of a field and the waves around a ring to a field, (k, width out, width in, waves)."""

    def joint(R: np.ndarray) -> np.ndarray:
        return np.kron(given.rho(R), _sum_of_frequencies(R, waves))

    maps = kernel_space_compact(out.generators, joint, out.rho)
    number = sum(2 if k else 1 for k in waves)
    return maps.reshape(len(maps), out.width, given.width, number)
