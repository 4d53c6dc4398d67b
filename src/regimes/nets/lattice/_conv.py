"""Convolutions on lattices that commute with rotations and mirrors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from regimes._check import choose, instance
from regimes._groups import fixed_vectors, orbit_kernels
from regimes._random import generator
from regimes.nets.lattice._fields import LatticeFields

_PADDINGS = {"zeros": "constant", "wrap": "circular", "none": None}
_CONVOLVE = {2: nn.functional.conv2d, 3: nn.functional.conv3d}


class LatticeConv(nn.Module):
    """A convolution whose kernel is a learned combination of all those that commute with a group.

    `k(hx) = rho_out(h) k(x) rho_in(h)^-1` [Cohen 2019, eq. 9] for a basis of B kernels of norm 1
    (`theory.kernel_space_grid`), times `sqrt(d_out / (B number_in))`; weights are drawn from
    N(0, 1). With the regular representation it is the group convolution. The bias, of which there
    is one for each invariant of rho_out, starts at zero.

    Args:
        fields_in: what the input channels are.
        fields_out: what the output channels are; the same group and lattice.
        size: points of a side of the kernel, odd; on the hexagonal lattice a hexagon so wide.
        padding: "zeros" or "wrap" (a torus), both of which keep the size, or "none".
        bias: whether there is one.
        seed: the weights' seed.
        dtype: floating-point type.
        device: where the parameters are.

    Attributes:
        weight: (number_out, number_in, B).
        bias: (number_out, invariants), or None.

    Raises:
        ValueError: for fields of different groups, an even size, unknown names.

    Example:
        Of 3 x 3 x 8 x 8 weights between functions of eight symmetries 72 are free.

        >>> regular = LatticeFields.of("p4m", "regular")
        >>> LatticeConv(regular, regular).weight.shape
        torch.Size([1, 1, 72])
        >>> hexagons = LatticeFields.of("p6", "regular", 4)
        >>> LatticeConv(hexagons, hexagons, padding="wrap").kernel().shape
        torch.Size([24, 24, 3, 3])
    """

    rows: Tensor
    places: Tensor
    values: Tensor
    invariants: Tensor

    def __init__(
        self,
        fields_in: LatticeFields,
        fields_out: LatticeFields,
        size: int = 3,
        *,
        padding: str = "zeros",
        bias: bool = True,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        for name, fields in (("fields_in", fields_in), ("fields_out", fields_out)):
            instance(name, fields, LatticeFields, "LatticeFields")
        rho_in, rho_out = fields_in.representation, fields_out.representation
        if rho_in.group is not rho_out.group or fields_in.basis != fields_out.basis:
            raise ValueError(
                f"fields_in and fields_out must have one group and lattice, got {fields_in!r} and "
                f"{fields_out!r}"
            )
        choose(padding, _PADDINGS, "padding")
        self.fields_in, self.fields_out = fields_in, fields_out
        self.size, self.padding = size, padding
        offsets = fields_in.offsets(size)
        corner = np.ravel_multi_index(tuple((offsets + size // 2).T), (size,) * fields_in.axes)
        rows, places, values, count = [], [], [], 0
        area = size**fields_in.axes
        for points, kernels in orbit_kernels(
            rho_in.group, rho_in, rho_out, offsets, fields_in.basis
        ):
            k, at, out, given = np.nonzero(kernels)  # few of them: a kernel lives on one orbit
            rows.append(count + k)
            places.append((out * rho_in.dim + given) * area + corner[points[at]])
            values.append(kernels[k, at, out, given])
            count += len(kernels)
        scale = np.sqrt(rho_out.dim / (max(count, 1) * fields_in.number))
        self.register_buffer("rows", _indices(rows, device), persistent=False)
        self.register_buffer("places", _indices(places, device), persistent=False)
        kept = torch.from_numpy(scale * np.concatenate(values)).to(device=device, dtype=dtype)
        self.register_buffer("values", kept, persistent=False)
        shape = fields_out.number, fields_in.number, count
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.draw_parameters(generator(seed, "nets/lattice"))
        kept_as_is = fixed_vectors(list(rho_out.on_generators()), rho_out.dim)
        self.register_buffer(
            "invariants",
            torch.from_numpy(kept_as_is).to(device=device, dtype=dtype),
            persistent=False,
        )
        zeros = torch.zeros(fields_out.number, len(kept_as_is), device=device, dtype=dtype)
        self.bias = nn.Parameter(zeros) if bias else None

    def draw_parameters(self, source: torch.Generator) -> None:
        """Weights from N(0, 1)."""
        with torch.no_grad():
            self.weight.copy_(torch.randn(self.weight.shape, generator=source, dtype=torch.float64))

    def kernel(self) -> Tensor:
        """The kernel of the plain convolution, (channels out, channels in, size, size, ...)."""
        out, given = self.fields_out, self.fields_in
        d_out, d_in = out.representation.dim, given.representation.dim
        sides = (self.size,) * given.axes
        flat = self.weight.new_zeros(
            out.number, given.number, d_out * d_in * self.size**given.axes
        ).index_add(2, self.places, self.weight[:, :, self.rows] * self.values)
        shaped = flat.view(out.number, given.number, d_out, d_in, -1).transpose(1, 2)
        return shaped.reshape(out.dim, given.dim, *sides)

    def forward(self, field: Tensor) -> Tensor:
        """A field (n, channels in, *sides) to (n, channels out, *sides)."""
        self.fields_in.check(field)
        mode, axes = _PADDINGS[self.padding], self.fields_in.axes
        if mode is not None:
            field = nn.functional.pad(field, [self.size // 2] * (2 * axes), mode=mode)
        bias = None if self.bias is None else (self.bias @ self.invariants).flatten()
        return _CONVOLVE[axes](field, self.kernel(), bias)

    def extra_repr(self) -> str:
        """What it maps, and how."""
        n = len(self.fields_in.representation.group)
        return (
            f"{self.fields_in} -> {self.fields_out} of {n} elements, size={self.size}, "
            f"padding={self.padding}"
        )


def _indices(parts: list[np.ndarray], device: torch.device | str | None) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(np.int64)).to(device=device)
