"""The gradient of each layer, kept as the small factors it is made of.

A weight used at T positions has the gradient sum_t left_t (x) right_t:
for a linear layer left is the output gradient and right the input, for a convolution right is the
patch under the position, for an embedding right is the one-hot token. The Gram of two samples
then needs only the Grams of the factors, or the products written out where that is cheaper.

Shapes: m outputs, n samples, T positions, p and q the sides of the weight. Outputs come first, as
autograd delivers them, so that every sum and product runs along samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regimes.tangent.contraction._cache_sizes import right_limit
from regimes.tangent.contraction._right import Right
from regimes.tangent.contraction._strategy import Strategy
from regimes.tangent.structure import Site


@dataclass(frozen=True)
class Outer:
    """Gradient of one layer's weight (and bias) as left and right factors.

    The weight's own multiplier is already in `left`; `bias` is the bias's, relative to it.
    """

    left: Tensor  # (m, n, p, T) output gradients
    right: Right
    weight: bool  # whether the weight is asked for
    bias: float  # relative multiplier of the bias, 0 where it is not asked for
    right_major: bool  # whether the parameter is stored (q, p) instead of (p, q)
    strategy: Strategy

    @property
    def samples(self) -> int:
        """Number of samples, n."""
        return self.left.shape[1]

    @property
    def left_is_shared(self) -> bool:
        """Whether all samples are known to have one left factor, kept once."""
        return self.left.shape[3] == 1 and self.left.stride(1) == 0

    def rows(self, start: int, stop: int) -> Outer:
        """Some of the samples."""
        return replace(self, left=self.left[:, start:stop], right=self.right.rows(start, stop))

    def expand(self, start: int, stop: int, limit: int) -> Tensor:
        """Weight gradients of left rows start:stop, written out: (m, n, (stop - start) q).

        Args:
            start: first left row.
            stop: last left row.
            limit: bytes that the right factor, written out, may take: samples go in parts.
        """
        m, n, _, positions = self.left.shape
        q, rows = self.right.size, stop - start
        thin = m == 1 and 4 * rows <= positions
        out = self.left.new_empty(m, n, rows, q)
        sample = self.right.held(thin) * self.left.element_size()
        step = max(1, min(n, limit // max(1, sample)))
        for first in range(0, n, step):
            last = min(first + step, n)
            left, column = self.left[:, first:last, start:stop], 0
            for right in self.right.rows(first, last).parts(thin):
                here = out[:, first:last, :, column : column + right.shape[2]]
                _expand_part(here, left, right)
                column += right.shape[2]
        return out.view(m, n, rows * q)

    def bias_features(self) -> Tensor:
        """Bias gradients, (m, n, p)."""
        return self.left.sum(3) * self.bias

    def left_rows(self) -> Tensor:
        """Output gradients, a row for every position and sample, (m, T n, p)."""
        return self.left.permute(0, 3, 1, 2).flatten(1, 2)

    def parameter_features(self, limit: int) -> Tensor:
        """Weight gradients in the parameter's own order, (m, n, p q)."""
        m, n, p, _ = self.left.shape
        full = self.expand(0, p, limit).view(m, n, p, self.right.size)
        full = self.right.parameter_order(full)
        if self.right_major:
            full = full.transpose(2, 3)
        return full.reshape(m, n, -1)


@dataclass(frozen=True)
class Dense:
    """Gradient of some parameters written out, (m, n, P)."""

    features: Tensor

    @property
    def samples(self) -> int:
        """Number of samples, n."""
        return self.features.shape[1]

    def rows(self, start: int, stop: int) -> Dense:
        """Some of the samples."""
        return Dense(self.features[:, start:stop])


Factor = Outer | Dense


def written_out(outer: Outer) -> Dense:
    """An outer factor as plain features in the parameters' own order, weight first, then bias."""
    parts = [outer.parameter_features(right_limit(outer.left.device))] if outer.weight else []
    if outer.bias:
        parts.append(outer.bias_features())
    return Dense(torch.cat(parts, 2) if len(parts) > 1 else parts[0])


def written_apart(site: Site, outer: Outer) -> Iterator[tuple[str, Tensor]]:
    """Features of the weight (entries in any fixed order, which a Gram may ignore) and the bias."""
    weight, bias = site.role("weight"), site.role("bias")
    if weight is not None and outer.weight:
        p = outer.left.shape[2]
        yield weight.parameter, outer.expand(0, p, right_limit(outer.left.device))
    if bias is not None and outer.bias:
        yield bias.parameter, outer.bias_features()


def allocate(like: Factor, samples: int) -> Factor:
    """An uninitialised factor of `like`'s structure for another number of samples."""

    def empty(tensor: Tensor, axis: int) -> Tensor:
        return tensor.new_empty((*tensor.shape[:axis], samples, *tensor.shape[axis + 1 :]))

    return _rebuilt(like, [empty(tensor, axis) for tensor, axis in _stored(like)])


def write_rows(target: Factor, start: int, part: Factor) -> None:
    """Copy `part`'s samples into `target` from sample `start` on."""
    for (into, axis), (source, _) in zip(_stored(target), _stored(part), strict=True):
        into.narrow(axis, start, source.shape[axis]).copy_(source)


def rounded(factor: Factor, dtype: torch.dtype) -> Factor:
    """The factor in another precision; indices stay as they are."""
    tensors = [tensor for tensor, _ in _stored(factor)]
    if all(not t.is_floating_point() or t.dtype == dtype for t in tensors):
        return factor
    return _rebuilt(factor, [t.to(dtype) if t.is_floating_point() else t for t in tensors])


def is_finite(factor: Factor) -> bool:
    """Whether no number of the factor is NaN or infinite."""
    return all(bool(torch.isfinite(tensor).all()) for tensor, _ in _stored(factor))


def _stored(factor: Factor) -> list[tuple[Tensor, int]]:
    """The tensors a factor keeps, each with the axis that counts samples."""
    if isinstance(factor, Dense):
        return [(factor.features, 1)]
    return [(factor.left, 1), (factor.right.stored, 0)]


def _rebuilt(factor: Factor, tensors: list[Tensor]) -> Factor:
    if isinstance(factor, Dense):
        return Dense(tensors[0])
    left, right = tensors
    return replace(factor, left=left, right=factor.right.restored(right, left.dtype))


def _expand_part(out: Tensor, left: Tensor, right: Tensor) -> None:
    """Write sum_t left_t (x) right_t to `out`, (m, n, p, width), a view."""
    m, n, rows, positions = left.shape
    width = right.shape[2]
    if m == 1 and out[0].is_contiguous():
        torch.bmm(left[0], right, out=out[0])
    elif m == 1:
        out[0].copy_(torch.bmm(left[0], right))
    else:  # all outputs share the right factor: one product of m-fold height
        high = left.transpose(0, 1).reshape(n, m * rows, positions)
        out.copy_(torch.bmm(high, right).view(n, m, rows, width).transpose(0, 1))
