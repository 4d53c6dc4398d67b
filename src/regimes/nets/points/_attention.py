"""Attention among points that commutes with rotations [Geiger 2020c]."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regimes._check import positive_int, real
from regimes._e3nn import e3nn
from regimes.nets.points._building import building
from regimes.nets.points._convolution import _fields
from regimes.nets.points._graph import Edges, clouds_of, edges_of, gather_sum


class EquivariantAttention(nn.Module):
    """`f_i' = sum_j softmax_j(<q_i, k_ij>) v_ij`, with values and keys from tensor products.

    Queries are linear in the fields of a point, keys and values tensor products of a neighbour's
    fields with the harmonics of the edge, weighted by networks of its length. The product of query
    and key is invariant, so the weights are scalars and the messages turn with the fields. A
    point without neighbours gets zeros.

    Args:
        irreps_in: fields that go in.
        irreps_out: fields that come out.
        irreps_key: fields of queries and keys.
        radius: how far a point attends.
        lmax: highest order of the harmonics.
        basis: functions of the distance.
        hidden: width of the networks of the distance.
        seed: the parameters' seed.
        dtype: floating-point type.
    """

    def __init__(
        self,
        irreps_in: Any,
        irreps_out: Any,
        *,
        irreps_key: Any = "4x0e + 4x1o",
        radius: float,
        lmax: int = 2,
        basis: int = 10,
        hidden: int = 32,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        library = e3nn()
        o3 = library.o3
        self.irreps_in, self.irreps_out = o3.Irreps(irreps_in), o3.Irreps(irreps_out)
        keys, harmonics = o3.Irreps(irreps_key), o3.Irreps.spherical_harmonics(lmax)
        self.radius, self.lmax = real("radius", radius, above=0), lmax
        self.basis = positive_int("basis", basis)
        with building(seed, dtype):
            self.query = o3.Linear(self.irreps_in, keys)
            self.key = o3.FullyConnectedTensorProduct(
                self.irreps_in, harmonics, keys, shared_weights=False
            )
            self.value = o3.FullyConnectedTensorProduct(
                self.irreps_in, harmonics, self.irreps_out, shared_weights=False
            )
            self.product = o3.FullyConnectedTensorProduct(keys, keys, "0e")
            silu = nn.functional.silu
            self.key_weights, self.value_weights = (
                library.nn.FullyConnectedNet([basis, hidden, each.weight_numel], silu)
                for each in (self.key, self.value)
            )

    def weights(self, flat: Tensor, edges: Edges) -> Tensor:
        """The share of every edge in what arrives at its target, (edges, 1)."""
        queries = self.query(flat)[edges.target]
        keys = self.key(flat[edges.source], edges.harmonics, self.key_weights(edges.lengths))
        scores = self.product(queries, keys)
        most = scores.new_full((len(flat), 1), -torch.inf)
        index = edges.target[:, None]
        most = most.scatter_reduce(0, index, scores.detach(), "amax")
        grown = torch.exp(scores - most[edges.target])
        return grown / gather_sum(grown, edges.target, len(flat))[edges.target]

    def edges(self, positions: Tensor) -> Edges:
        """The graph it attends along."""
        return edges_of(positions, self.radius, self.lmax, self.basis)

    def forward(self, fields: Tensor, positions: Tensor) -> Tensor:
        """Fields (clouds, points, dim in) at positions (clouds, points, 3) to (..., dim out)."""
        clouds, points = clouds_of(positions)
        flat, edges = _fields(fields, clouds, points, self.irreps_in), self.edges(positions)
        values = self.value(flat[edges.source], edges.harmonics, self.value_weights(edges.lengths))
        found = gather_sum(self.weights(flat, edges) * values, edges.target, len(flat))
        return found.view(clouds, points, -1)

    def extra_repr(self) -> str:
        """What it maps."""
        return f"{self.irreps_in} -> {self.irreps_out}, radius={self.radius:g}"
