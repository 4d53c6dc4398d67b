"""Right factors of a layer's gradient: what its weight is multiplied with at every position.

`Right` is the contract, and `Inputs` the plain implementation. A kind of layer that knows a short
cut has its own: patches of a convolution, one-hot tokens of an embedding (in `layers/`). Grams have
the positions before the samples, (T, n, T', n'), so that sums over positions run along samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from regimes.tangent.contraction._matmul import product


class Right(Protocol):
    """What the contraction asks of right factors: q numbers at each of T positions of n samples."""

    @property
    def size(self) -> int:
        """Side of the weight, q."""

    @property
    def positions(self) -> int:
        """Positions per sample, T."""

    @property
    def stored(self) -> Tensor:
        """The one tensor that is kept, (n, ...)."""

    def restored(self, stored: Tensor, dtype: torch.dtype) -> Right:
        """The same with another tensor kept, for left factors of `dtype`."""

    def rows(self, start: int, stop: int) -> Right:
        """Some of the samples."""

    def dense(self) -> Tensor:
        """All of it written out, (n, T, q)."""

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """The columns of `dense` in order, (n, T, width) each, to be multiplied by some rows.

        Args:
            thin: whether the rows are few, so that multiplying costs less than writing out.
        """

    def held(self, thin: bool) -> int:
        """Numbers per sample that `parts` holds at a time."""

    def parameter_order(self, features: Tensor) -> Tensor:
        """Entries along the last axis, q, from the order of `dense` to that of the parameter."""

    def gram(self, other: Right) -> Tensor:
        """Products of all positions with those of another of its kind, (T, n, T', n')."""

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""


@dataclass(frozen=True)
class Inputs:
    """Inputs of a linear layer, (n, T, q)."""

    x: Tensor

    @property
    def size(self) -> int:
        """Side of the weight, q."""
        return self.x.shape[2]

    @property
    def positions(self) -> int:
        """Positions per sample, T."""
        return self.x.shape[1]

    @property
    def stored(self) -> Tensor:
        """(n, T, q)."""
        return self.x

    def restored(self, stored: Tensor, dtype: torch.dtype) -> Inputs:
        """Other inputs."""
        return Inputs(stored)

    def rows(self, start: int, stop: int) -> Inputs:
        """Some of the samples."""
        return Inputs(self.x[start:stop])

    def dense(self) -> Tensor:
        """(n, T, q)."""
        return self.x

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """`dense` itself: it is only a view."""
        yield self.x

    def held(self, thin: bool) -> int:
        """Numbers per sample that `parts` holds at a time."""
        return self.positions * self.size

    def parameter_order(self, features: Tensor) -> Tensor:
        """As they are: the weight has the order of the inputs."""
        return features

    def gram(self, other: Right) -> Tensor:
        """(T, n, T', n')."""
        return position_gram(self.x, other.dense())

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return self.x.square().sum((1, 2))


def position_gram(x: Tensor, y: Tensor) -> Tensor:
    """(T, n, T', n') for (n, T, q) and (n', T', q)."""
    gram = product(*(side.transpose(0, 1).flatten(0, 1) for side in (x, y)))
    return gram.view(x.shape[1], x.shape[0], y.shape[1], y.shape[0])
