"""The gradient of each layer, kept as the small factors it is made of.

A weight used at T positions has the gradient sum_t left_t (x) right_t (spec `alignment.md` 1.3):
for a linear layer left is the output gradient and right the input, for a convolution right is the
patch under the position, for an embedding right is the one-hot token. The Gram of two samples
then needs only the Grams of the factors, or the products written out where that is cheaper.

Shapes: m outputs, n samples, T positions, p and q the sides of the weight. Outputs come first, as
autograd delivers them, so that every sum and product runs along samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from regimes.tangent._matmul import product


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
        """Positions a sample, T."""
        return self.x.shape[1]

    def dense(self) -> Tensor:
        """(n, T, q)."""
        return self.x

    def gram(self, other: Right) -> Tensor:
        """(n, T, n', T')."""
        return _position_gram(self.x, other.dense())

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return self.x.square().sum((1, 2))

    def rows(self, start: int, stop: int) -> Inputs:
        """Some of the samples."""
        return Inputs(self.x[start:stop])


@dataclass(frozen=True)
class ConvolutionShape:
    """Geometry of a convolution, one number for every spatial axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def pointwise(self) -> bool:
        """Whether each patch is one pixel of the input, in order."""
        ones = (1,) * len(self.kernel)
        return self.kernel == ones and self.stride == ones and not any(self.padding)


@dataclass(frozen=True)
class Patches:
    """Inputs of a convolution, (n, frames, channels, *space); unfolded only when needed."""

    x: Tensor
    shape: ConvolutionShape
    positions: int

    @property
    def size(self) -> int:
        """Entries of a patch, q."""
        return self.x.shape[2] * math.prod(self.shape.kernel)

    def dense(self) -> Tensor:
        """(n, T, q), the patches as rows, each (*kernel, channels).

        Channels come last so that a patch is a few long runs of memory. Torch's own unfold copies
        number by number on a CPU and launches one kernel a sample on a GPU.
        """
        x = self.x.flatten(0, 1).movedim(1, -1)
        if not self.shape.pointwise:
            x = self._windows(self._padded(x))
        return x.reshape(self.x.shape[0], self.positions, self.size)

    def _padded(self, x: Tensor) -> Tensor:
        """Zeros around the spatial axes of (n, *space, c); contiguous."""
        padding = self.shape.padding
        space = [size + 2 * pad for size, pad in zip(x.shape[1:-1], padding, strict=True)]
        padded = x.new_zeros(x.shape[0], *space, x.shape[-1])
        inside = padded
        for axis, pad in enumerate(padding, start=1):
            inside = inside.narrow(axis, pad, x.shape[axis])
        inside.copy_(x)
        return padded

    def _windows(self, x: Tensor) -> Tensor:
        """(n, *positions, *kernel, c), a view of the padded (n, *space, c)."""
        kernels, positions = [], []
        for axis, kernel in enumerate(self.shape.kernel, start=1):
            length, step = x.shape[axis], x.stride(axis)
            stride, dilation = self.shape.stride[axis - 1], self.shape.dilation[axis - 1]
            kernels.append((kernel, step * dilation))
            positions.append(((length - dilation * (kernel - 1) - 1) // stride + 1, step * stride))
        moves = [*positions, *kernels, (x.shape[-1], x.stride(-1))]
        return x.as_strided(
            (x.shape[0], *(size for size, _ in moves)),
            (x.stride(0), *(step for _, step in moves)),
        )

    def parameter_order(self, features: Tensor) -> Tensor:
        """Entries of a patch in the order (channels, *kernel) of the weight."""
        split = features.unflatten(-1, (math.prod(self.shape.kernel), self.x.shape[2]))
        return split.transpose(-1, -2).flatten(-2)

    def gram(self, other: Right) -> Tensor:
        """(n, T, n', T')."""
        return _position_gram(self.dense(), other.dense())

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return self.dense().square().sum((1, 2))

    def rows(self, start: int, stop: int) -> Patches:
        """Some of the samples."""
        return replace(self, x=self.x[start:stop])


@dataclass(frozen=True)
class Tokens:
    """Indices into an embedding, (n, T): one-hot rows that are never written out for a Gram."""

    index: Tensor
    size: int
    padding: int  # a token without gradient, or -1
    dtype: torch.dtype

    @property
    def positions(self) -> int:
        """Positions a sample, T."""
        return self.index.shape[1]

    def dense(self) -> Tensor:
        """(n, T, q) one-hot."""
        hot = F.one_hot(self.index, self.size).to(self.dtype)
        return hot * (self.index != self.padding).unsqueeze(-1)

    def gram(self, other: Right) -> Tensor:
        """(n, T, n', T'), 1 where the tokens agree."""
        if not isinstance(other, Tokens):
            raise TypeError(f"cannot pair tokens with {type(other).__name__}")
        same = self.index[:, :, None, None] == other.index[None, None]
        return (same & (self.index != self.padding)[:, :, None, None]).to(self.dtype)

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return (self.index != self.padding).sum(1).to(self.dtype)

    def rows(self, start: int, stop: int) -> Tokens:
        """Some of the samples."""
        return replace(self, index=self.index[start:stop])


Right = Inputs | Patches | Tokens


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
    strategy: str  # "pairs" or "expand"

    @property
    def samples(self) -> int:
        """Number of samples, n."""
        return self.left.shape[1]

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
        q = self.right.size
        out = self.left.new_empty(m, n, stop - start, q)
        sample = positions * q * self.left.element_size()
        step = max(1, min(n, limit // max(1, sample)))
        for first in range(0, n, step):
            last = min(first + step, n)
            right = self.right.rows(first, last).dense()
            left = self.left[:, first:last, start:stop]
            if m == 1:
                torch.bmm(left[0], right, out=out[0, first:last])
            else:  # all outputs share the right factor: one product of m-fold height
                high = left.transpose(0, 1).reshape(last - first, -1, positions)
                wide = torch.bmm(high, right).view(last - first, m, stop - start, q)
                out[:, first:last] = wide.transpose(0, 1)
        return out.view(m, n, (stop - start) * q)

    def bias_features(self) -> Tensor:
        """Bias gradients, (m, n, p)."""
        return self.left.sum(3) * self.bias

    def left_rows(self) -> Tensor:
        """Output gradients, a row for every position, (m, n T, p)."""
        return self.left.transpose(2, 3).flatten(1, 2)

    def parameter_features(self, limit: int) -> Tensor:
        """Weight gradients in the parameter's own order, (m, n, p q)."""
        m, n, p, _ = self.left.shape
        full = self.expand(0, p, limit).view(m, n, p, self.right.size)
        if isinstance(self.right, Patches):
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


def allocate(like: Factor, samples: int) -> Factor:
    """An uninitialised factor of `like`'s structure for another number of samples."""

    def empty(tensor: Tensor, axis: int) -> Tensor:
        return tensor.new_empty((*tensor.shape[:axis], samples, *tensor.shape[axis + 1 :]))

    return _rebuilt(like, [empty(tensor, axis) for tensor, axis in _stored(like)])


def write_rows(target: Factor, start: int, part: Factor) -> None:
    """Copy `part`'s samples into `target` from sample `start` on."""
    for (into, axis), (source, _) in zip(_stored(target), _stored(part), strict=True):
        into.narrow(axis, start, source.shape[axis]).copy_(source)


def map_tensors(factor: Factor, function: Callable[[Tensor], Tensor]) -> Factor:
    """Apply `function` to every tensor the factor keeps."""
    return _rebuilt(factor, [function(tensor) for tensor, _ in _stored(factor)])


def _stored(factor: Factor) -> list[tuple[Tensor, int]]:
    """The tensors a factor keeps, each with the axis that counts samples."""
    if isinstance(factor, Dense):
        return [(factor.features, 1)]
    right = factor.right
    return [(factor.left, 1), (right.index if isinstance(right, Tokens) else right.x, 0)]


def _rebuilt(factor: Factor, tensors: list[Tensor]) -> Factor:
    if isinstance(factor, Dense):
        return Dense(tensors[0])
    left, kept = tensors
    right = factor.right
    if isinstance(right, Tokens):
        return replace(factor, left=left, right=replace(right, index=kept, dtype=left.dtype))
    return replace(factor, left=left, right=replace(right, x=kept))


def _position_gram(x: Tensor, y: Tensor) -> Tensor:
    gram = product(x.flatten(0, 1), y.flatten(0, 1))
    return gram.view(x.shape[0], x.shape[1], y.shape[0], y.shape[1])
