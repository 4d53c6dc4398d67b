"""Embeddings: a weight whose rows are looked up, as if multiplied by one-hot tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from regimes.tangent.contraction._factors import Outer
from regimes.tangent.contraction._right import Right
from regimes.tangent.contraction.layers._kind import LayerKind, Reached, Shapes
from regimes.tangent.structure import Site


@dataclass(frozen=True)
class Tokens:
    """Indices into an embedding, (n, T): one-hot rows that are never written out for a Gram."""

    index: Tensor
    size: int
    padding: int  # a token without gradient, or -1
    dtype: torch.dtype

    @property
    def positions(self) -> int:
        """Positions per sample, T."""
        return self.index.shape[1]

    @property
    def stored(self) -> Tensor:
        """(n, T)."""
        return self.index

    def restored(self, stored: Tensor, dtype: torch.dtype) -> Tokens:
        """Other tokens."""
        return replace(self, index=stored, dtype=dtype)

    def rows(self, start: int, stop: int) -> Tokens:
        """Some of the samples."""
        return replace(self, index=self.index[start:stop])

    def dense(self) -> Tensor:
        """(n, T, q) one-hot."""
        hot = F.one_hot(self.index, self.size).to(self.dtype)
        return hot * (self.index != self.padding).unsqueeze(-1)

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """`dense` in one piece."""
        yield self.dense()

    def held(self, thin: bool) -> int:
        """Numbers per sample that `parts` holds at a time."""
        return self.positions * self.size

    def parameter_order(self, features: Tensor) -> Tensor:
        """As they are: tokens number the rows of the weight."""
        return features

    def gram(self, other: Right) -> Tensor:
        """(T, n, T', n'), 1 where the tokens agree."""
        if not isinstance(other, Tokens):
            raise TypeError(f"cannot pair tokens with {type(other).__name__}")
        mine, others = self.index.T[:, :, None, None], other.index.T
        return ((mine == others) & (mine != self.padding)).to(self.dtype)

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return (self.index != self.padding).sum(1).to(self.dtype)


def _factor(here: Reached) -> Outer:
    node = here.site.node
    left = here.by_sample()  # (m, n, inner, *rest, d)
    left = left.flatten(2, left.dim() - 2).transpose(2, 3)
    index = here.layout.split(node._saved_indices, here.samples).flatten(1)
    vocabulary = int(node._saved_weight_sym_argsize_0)
    padding = int(node._saved_padding_idx)
    padding = padding if 0 <= padding < vocabulary else -1
    right = Tokens(index, vocabulary, padding, left.dtype)
    return here.outer(left, right, right_major=True)


def _sides(site: Site, shapes: Shapes) -> tuple[int, int]:
    vocabulary, width = shapes[site.uses[0].parameter]  # it has a weight only
    return width, vocabulary


def _pairing(site: Site, shapes: Shapes, sides: tuple[int, int], positions: int) -> tuple[int, int]:
    return 1, 0  # tokens are compared, not multiplied


EMBEDDING = LayerKind(_factor, _sides, _pairing)
