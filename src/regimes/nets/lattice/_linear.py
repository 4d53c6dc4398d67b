"""Linear maps of vectors that commute with any finite group."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regimes._check import instance, positive_int, shown
from regimes._groups import Representation, intertwining_maps
from regimes._random import generator


class EquivariantLinear(nn.Module):
    """The general linear map between two representations of a finite group.

    With induced representations (`theory.induced`) it maps fields on one homogeneous space to
    fields on another [Cohen 2019, section 3]. A weight for each map of an orthonormal basis and
    each pair of channels, drawn from N(0, 1) and scaled by `sqrt(d_out / (B number_in))`.

    Args:
        pi_in: the representation of the vectors that go in.
        pi_out: the one of those that come out; the same group.
        number_in: channels in.
        number_out: channels out.
        seed: the weights' seed.
        dtype: floating-point type.
        device: where the parameters are.

    Example:
        Numbers on the faces of a cube to numbers on its corners: near faces and far ones.

        >>> from regimes import theory
        >>> O = theory.polyhedral_group("cube")
        >>> at = [O.stabiliser([0, 0, 1]), O.stabiliser([1, 1, 1])]
        >>> faces, corners = (theory.induced(O, H, theory.representation(H, "trivial")) for H in at)
        >>> layer = EquivariantLinear(faces, corners)
        >>> layer
        EquivariantLinear(1 x 6 -> 1 x 8 numbers, 24 elements, 2 maps)
        >>> layer(torch.ones(1, 1, 6)).shape
        torch.Size([1, 1, 8])
    """

    basis: Tensor

    def __init__(
        self,
        pi_in: Representation,
        pi_out: Representation,
        number_in: int = 1,
        number_out: int = 1,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        for name, pi in (("pi_in", pi_in), ("pi_out", pi_out)):
            instance(name, pi, Representation, "a Representation")
        if pi_in.group is not pi_out.group:
            raise ValueError(
                f"pi_in and pi_out must represent one group, got {pi_in.group} and {pi_out.group}"
            )
        self.pi_in, self.pi_out = pi_in, pi_out
        shape = positive_int("number_out", number_out), positive_int("number_in", number_in)
        found = intertwining_maps(pi_out.on_generators(), pi_in.on_generators())
        scale = math.sqrt(pi_out.dim / (max(len(found), 1) * number_in))
        kept = torch.from_numpy(scale * found).to(device=device, dtype=dtype)
        self.register_buffer("basis", kept, persistent=False)
        draws = generator(seed, "nets/linear")
        drawn = torch.randn(*shape, len(found), generator=draws, dtype=torch.float64)
        self.weight = nn.Parameter(drawn.to(device=device, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (n, number_in, d_in) to (n, number_out, d_out)."""
        shape = (self.weight.shape[1], self.pi_in.dim)
        if tuple(x.shape[1:]) != shape:
            raise ValueError(f"x must have shape (n, {shape[0]}, {shape[1]}), got {shown(x)}")
        matrix = torch.einsum("oib,bde->oide", self.weight, self.basis)
        return torch.einsum("oide,nie->nod", matrix, x)

    def extra_repr(self) -> str:
        """What it maps."""
        out, given, maps = self.weight.shape
        return (
            f"{given} x {self.pi_in.dim} -> {out} x {self.pi_out.dim} numbers, "
            f"{len(self.pi_in.group)} elements, {maps} maps"
        )
