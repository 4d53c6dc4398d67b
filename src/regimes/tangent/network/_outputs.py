"""Which outputs of the network a Gram is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Outputs:
    """How outputs are differentiated, and how the Gram arranges them.

    Attributes:
        cotangents: (m, c), each row the weights of one differentiated output.
        kept: outputs along each side of a Gram.
        grams: number of separate Grams.
        fold: whether a Gram sums over the outputs.
        scale: factor of the result.
        separate: whether each output gets a Gram of its own.
    """

    cotangents: Tensor
    kept: int
    grams: int
    fold: bool
    scale: float
    separate: bool = False

    @property
    def rows(self) -> int:
        """Outputs differentiated, m."""
        return self.cotangents.shape[0]

    @property
    def pairs(self) -> int:
        """Pairs of outputs that a pair of samples is contracted for."""
        return self.rows**2 if self.kept > 1 else self.rows

    def shape(self, n: int, n2: int) -> tuple[int, ...]:
        """The shape users see."""
        if self.separate:
            return self.grams, n, n2
        return (n, n2) if self.kept == 1 else (n, self.kept, n2, self.kept)

    def shaped(self, result: Tensor) -> Tensor:
        """(grams, kept, n, kept, n2) -> the shape users see; a view."""
        if self.separate:
            return result[:, 0, :, 0]
        return result[0, 0, :, 0] if self.kept == 1 else result[0].permute(1, 0, 3, 2)

    def from_full(self, full: Tensor, n: int, n2: int) -> Tensor:
        """The same result taken from a complete (n, c, n2, c) Gram."""
        v = self.cotangents.to(full)
        chosen = torch.einsum("ma,iajb,kb->imjk", v, full, v)
        if self.fold:
            return chosen.diagonal(dim1=1, dim2=3).sum(-1) * self.scale
        if self.separate:
            return chosen.diagonal(dim1=1, dim2=3).permute(2, 0, 1)
        return chosen.reshape(self.shape(n, n2))


def output_index(output: int, c: int) -> int:
    """The number of one of c outputs, those below zero counted from the last.

    >>> output_index(-1, 10)
    9
    """
    if not -c <= output < c:
        raise ValueError(f"output {output} does not exist; the network has {c} output(s)")
    return output % c


def parse_outputs(outputs: str | int | Sequence[float] | Tensor, c: int) -> Outputs:
    """Turn the user's choice into one for a network of c outputs.

    Raises:
        ValueError: an unknown word, an index out of range, or weights of the wrong length.
    """
    eye = torch.eye(c, dtype=torch.float64)
    if isinstance(outputs, str):
        if outputs == "full":
            return Outputs(eye, c, 1, False, 1.0)
        if outputs == "trace":
            return Outputs(eye, 1, 1, c > 1, 1.0 / c)
        if outputs == "diagonal":
            return Outputs(eye, 1, c, False, 1.0, separate=True)
        raise ValueError(
            f"unknown outputs {outputs!r}; use 'full', 'trace', 'diagonal', an index below {c}, or "
            f"{c} weights"
        )
    if isinstance(outputs, int) and not isinstance(outputs, bool):
        return Outputs(eye[[output_index(outputs, c)]], 1, 1, False, 1.0)
    weights = torch.as_tensor(outputs, dtype=torch.float64).cpu()
    if weights.shape != (c,):
        raise ValueError(
            f"weights must have shape ({c},), one per output; got {tuple(weights.shape)}"
        )
    return Outputs(weights[None], 1, 1, False, 1.0)
