"""Forces on atoms, by an energy or directly."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regimes._check import choose
from regimes.nets.points._convolution import PointNetwork

_OUTPUTS = {"energy": ("0e", "sum"), "direct": ("1o", "none")}


class ForceField(nn.Module):
    """Forces (clouds, points, 3) of positions (clouds, points, 3).

    Attributes:
        kind: "energy": minus the gradient of an invariant energy, so that no work is done around a
            closed path; "direct": a vector of the network for every atom, cheaper.
        network: what makes the energy or the vectors.
    """

    def __init__(self, kind: str, network: nn.Module) -> None:
        super().__init__()
        choose(kind, _OUTPUTS, "kind of force field")
        self.kind, self.network = kind, network

    def energy(self, positions: Tensor) -> Tensor:
        """The energy of every cloud, (clouds,)."""
        if self.kind != "energy":
            raise ValueError("a direct force field has no energy; make one with kind='energy'")
        return self.network(positions).sum(-1)

    def forward(self, positions: Tensor) -> Tensor:
        """The forces."""
        if self.kind == "direct":
            return self.network(positions)
        learning = torch.is_grad_enabled()
        with torch.enable_grad():
            at = positions if positions.requires_grad else positions.detach().requires_grad_()
            (slope,) = torch.autograd.grad(self.energy(at).sum(), at, create_graph=learning)
        return -slope


def force_field(kind: str = "energy", **options: Any) -> ForceField:
    """A `ForceField` on a `PointNetwork`.

    Args:
        kind: "energy" or "direct".
        **options: of `PointNetwork`: radius, mul, lmax, layers, neighbours, seed, dtype.

    Raises:
        ValueError: for another kind.
    """
    irreps, pool = choose(kind, _OUTPUTS, "kind of force field")
    return ForceField(kind, PointNetwork(irreps, pool=pool, **options))
