"""Convolution of points and a network of them, on e3nn [Geiger 2020c]."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regimes._check import positive_int, real
from regimes._e3nn import e3nn
from regimes.nets.points._building import building
from regimes.nets.points._graph import clouds_of, edges_of


def _reference() -> Any:
    """The modules of e3nn whose layers these are."""
    e3nn()
    from e3nn.nn.models.v2106 import gate_points_message_passing, points_convolution

    return gate_points_message_passing, points_convolution


class PointConvolution(nn.Module):
    """Every point hears its neighbours: `f_i' = n^-1/2 sum_j f_j x_w(|r_ij|) Y(r_ij)`, and itself.

    The weights of the tensor product are a network of the distance. It is e3nn's convolution of
    points, for clouds of equally many points.

    Args:
        irreps_in: fields of a point that go in, as e3nn writes them ("8x0e + 4x1o").
        irreps_out: fields that come out.
        radius: how far a point hears.
        lmax: highest order of the harmonics of an edge.
        neighbours: typical number of them, n.
        basis: functions of the distance.
        hidden: width of the network of the distance.
        seed: the parameters' seed.
        dtype: floating-point type.

    Raises:
        ImportError: without e3nn.
        ValueError: for sizes that do not fit.
    """

    def __init__(
        self,
        irreps_in: Any,
        irreps_out: Any,
        *,
        radius: float,
        lmax: int = 2,
        neighbours: float = 4.0,
        basis: int = 10,
        hidden: int = 100,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        library, (_, layers) = e3nn(), _reference()
        self.irreps_in, self.irreps_out = (
            library.o3.Irreps(irreps_in),
            library.o3.Irreps(irreps_out),
        )
        self.radius, self.lmax = real("radius", radius, above=0), positive_int("lmax", lmax, 0)
        self.basis = positive_int("basis", basis)
        with building(seed, dtype):
            self.layer = layers.Convolution(
                self.irreps_in,
                "0e",
                library.o3.Irreps.spherical_harmonics(lmax),
                self.irreps_out,
                [basis, hidden],
                real("neighbours", neighbours, above=0),
            )
            with torch.no_grad():  # e3nn starts without neighbours; a single layer starts with them
                self.layer.alpha.weight.normal_()

    def forward(self, fields: Tensor, positions: Tensor) -> Tensor:
        """Fields (clouds, points, dim in) at positions (clouds, points, 3) to (..., dim out)."""
        clouds, points = clouds_of(positions)
        flat = _fields(fields, clouds, points, self.irreps_in)
        edges = edges_of(positions, self.radius, self.lmax, self.basis)
        found = self.layer(flat, flat.new_ones(len(flat), 1), *edges)
        return found.view(clouds, points, -1)

    def extra_repr(self) -> str:
        """What it maps."""
        return f"{self.irreps_in} -> {self.irreps_out}, radius={self.radius:g}"


class PointNetwork(nn.Module):
    """Layers of point convolutions and gates, equivariant under rotations, mirrors and shifts.

    Args:
        irreps_out: what comes out for every point, or for every cloud.
        irreps_in: fields of the points that go in; a point without any carries one scalar 1.
        radius: how far a point hears.
        mul: fields of every order and parity in the hidden layers.
        lmax: highest order.
        layers: gated layers before the last one.
        neighbours: typical number of neighbours.
        pool: "sum" over points divided by the root of their number, or "none".
        order_parameter: irreps of a learned input that all points share, "" for none. It starts
            with its scalars at one and the rest at zero, which breaks no symmetry.
        seed: the parameters' seed.
        dtype: floating-point type.

    Example:
        >>> PointNetwork("0o + 6x0e", radius=1.6, mul=4)
        PointNetwork(1x0e -> 1x0o+6x0e, radius=1.6, pool=sum, ... parameters)
    """

    def __init__(
        self,
        irreps_out: Any,
        *,
        irreps_in: Any = "0e",
        radius: float,
        mul: int = 8,
        lmax: int = 2,
        layers: int = 2,
        neighbours: float = 3.0,
        pool: str = "sum",
        order_parameter: str = "",
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if pool not in ("sum", "none"):
            raise ValueError(f"pool must be 'sum' or 'none', got {pool!r}")
        library, (passing, _) = e3nn(), _reference()
        o3 = library.o3
        self.irreps_in, self.irreps_out = o3.Irreps(irreps_in), o3.Irreps(irreps_out)
        self.radius, self.lmax, self.pool = real("radius", radius, above=0), lmax, pool
        self.basis = 10
        self.order_irreps = o3.Irreps(order_parameter)
        start = [float(ir.l == 0) for n, ir in self.order_irreps for _ in range(n * ir.dim)]
        self.order = nn.Parameter(torch.tensor(start, dtype=dtype)) if start else None
        count = positive_int("mul", mul)
        hidden = o3.Irreps([(count, (l, p)) for l in range(lmax + 1) for p in (-1, 1)])
        first = self.irreps_in + self.order_irreps
        with building(seed, dtype):
            self.passing = passing.MessagePassing(
                [first, *[hidden] * positive_int("layers", layers), self.irreps_out],
                "0e",
                o3.Irreps.spherical_harmonics(lmax),
                [self.basis, 100],
                real("neighbours", neighbours, above=0),
            )

    @property
    def n_params(self) -> int:
        """Number of parameters."""
        return sum(each.numel() for each in self.parameters())

    def forward(self, positions: Tensor, fields: Tensor | None = None) -> Tensor:
        """Outputs of clouds at positions (clouds, points, 3), with fields where there are any."""
        clouds, points = clouds_of(positions)
        if fields is None:
            fields = positions.new_ones(clouds, points, self.irreps_in.dim)
        flat = _fields(fields, clouds, points, self.irreps_in)
        if self.order is not None:
            flat = torch.cat([flat, self.order.expand(len(flat), -1)], 1)
        edges = edges_of(positions, self.radius, self.lmax, self.basis)
        found = self.passing(flat, flat.new_ones(len(flat), 1), *edges).view(clouds, points, -1)
        return found.sum(1) / points**0.5 if self.pool == "sum" else found

    def extra_repr(self) -> str:
        """What it maps."""
        return f"{self.irreps_in} -> {self.irreps_out}, radius={self.radius:g}, pool={self.pool}"

    def __repr__(self) -> str:
        return f"PointNetwork({self.extra_repr()}, {self.n_params} parameters)"


def _fields(fields: Tensor, clouds: int, points: int, irreps: Any) -> Tensor:
    if fields.shape != (clouds, points, irreps.dim):
        raise ValueError(
            f"fields of type {irreps} at {clouds} clouds of {points} points have shape "
            f"({clouds}, {points}, {irreps.dim}), got {tuple(fields.shape)}"
        )
    return fields.flatten(0, 1)
