"""Right factors of a layer's gradient: what its weight is multiplied with at every position.

Inputs for a linear layer, patches for a convolution, one-hot tokens for an embedding. Grams have
the positions before the samples, (T, n, T', n'), so that sums over positions run along samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
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

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """`dense` itself: it is only a view."""
        yield self.x

    def held(self, thin: bool) -> int:
        """Numbers a sample that `parts` holds at a time."""
        return self.positions * self.size

    def gram(self, other: Right) -> Tensor:
        """(T, n, T', n')."""
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

    def by_pixels(self, pixels: int, positions: int) -> bool:
        """Whether patches are best paired pixel by pixel: then they overlap a lot."""
        return pixels <= positions and math.prod(self.kernel) > 1

    def summed(self, gram: Tensor, first: int, second: int) -> Tensor:
        """Sum a Gram of pixels over one axis of the kernel: out[h, g] = sum_k gram[h + k, g + k].

        Args:
            gram: any Gram with a spatial axis of the rows and the same one of the columns.
            first: this axis of the rows.
            second: this axis of the columns.
        """
        at = first  # the rows' spatial axes come first
        kernel, stride = self.kernel[at], self.stride[at]
        padding, dilation = self.padding[at], self.dilation[at]
        length = gram.shape[first]
        size = (length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        shape = list(gram.shape)
        shape[first] = shape[second] = size
        # as many positions as pixels: the middle of the kernel lies on the position itself
        centred = stride == 1 and size == length and padding % dilation == 0
        out = gram.clone() if centred else gram.new_zeros(shape)
        for index in range(kernel):
            if centred and index * dilation == padding:
                continue
            # positions h whose pixel h * stride + shift lies inside
            shift = index * dilation - padding
            low = max(0, -(shift // stride))
            high = min(size, (length - 1 - shift) // stride + 1)
            if low >= high:
                continue
            into, source = out, gram
            for axis in (first, second):
                into = into.narrow(axis, low, high - low)
                start = low * stride + shift
                part = source.narrow(axis, start, (high - low - 1) * stride + 1)
                source = part[(slice(None),) * axis + (slice(None, None, stride),)]
            into += source
        return out


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
        x = self._channels_last()
        if not self.shape.pointwise:
            x = self._windows(self._padded(x))
        return x.reshape(self.x.shape[0], self.positions, self.size)

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """The columns of `dense` in order, (n, T, width) each, to be multiplied by some rows.

        For few rows unfolding costs more than multiplying. Then only the other axes are unfolded
        and the first axis of the kernel is walked along: its next index is the same memory, one
        row of the image further on.
        """
        if not self._by_kernel_row(thin):
            yield self.dense()
            return
        wide = self._windows(self._padded(self._channels_last()), first=2).contiguous()
        kernel, stride, dilation = (
            size[0] for size in (self.shape.kernel, self.shape.stride, self.shape.dilation)
        )
        high = (wide.shape[1] - dilation * (kernel - 1) - 1) // stride + 1
        for start in range(0, dilation * kernel, dilation):
            part = wide[:, start : start + stride * (high - 1) + 1 : stride]
            yield part.reshape(self.x.shape[0], self.positions, -1)

    def held(self, thin: bool) -> int:
        """Numbers a sample that `parts` holds at a time."""
        full = self.positions * self.size
        return full // self.shape.kernel[0] if self._by_kernel_row(thin) else full

    def _by_kernel_row(self, thin: bool) -> bool:
        # a GPU is better off with fewer and larger products
        overlap = self.shape.kernel[0] > self.shape.stride[0] == 1
        return thin and overlap and self.x.device.type == "cpu"

    def _channels_last(self) -> Tensor:
        """(n frames, *space, c), a view."""
        return self.x.flatten(0, 1).movedim(1, -1)

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

    def _windows(self, x: Tensor, first: int = 1) -> Tensor:
        """(n, *positions, *kernel, c), a view of the padded (n, *space, c).

        Axes before `first` stay as they are.
        """
        kernels, positions = [], []
        for axis in range(first, x.dim() - 1):
            length, step = x.shape[axis], x.stride(axis)
            kernel, stride, dilation = (
                size[axis - 1]
                for size in (self.shape.kernel, self.shape.stride, self.shape.dilation)
            )
            kernels.append((kernel, step * dilation))
            positions.append(((length - dilation * (kernel - 1) - 1) // stride + 1, step * stride))
        moves = [*positions, *kernels, (x.shape[-1], x.stride(-1))]
        return x.as_strided(
            (*x.shape[:first], *(size for size, _ in moves)),
            (*x.stride()[:first], *(step for _, step in moves)),
        )

    def parameter_order(self, features: Tensor) -> Tensor:
        """Entries of a patch in the order (channels, *kernel) of the weight."""
        split = features.unflatten(-1, (math.prod(self.shape.kernel), self.x.shape[2]))
        return split.transpose(-1, -2).flatten(-2)

    def gram(self, other: Right) -> Tensor:
        """(T, n, T', n')."""
        if isinstance(other, Patches) and self._by_pixels() and other._by_pixels():
            return self._pixel_gram(other)
        return _position_gram(self.dense(), other.dense())

    def _by_pixels(self) -> bool:
        one_frame = self.x.shape[1] == 1
        return one_frame and self.shape.by_pixels(math.prod(self.x.shape[3:]), self.positions)

    def _pixel_gram(self, other: Patches) -> Tensor:
        """Gram of the patches from that of single pixels, summed along the kernel axis by axis.

        Two patches overlap pixel by pixel in the same order, so the Gram of the patches at t and s
        is the sum over kernel offsets k of the Gram of the pixels at t + k and s + k.
        """
        space = self.x.shape[3:]
        rows, columns = (
            p.x.flatten(3).permute(3, 0, 1, 2).flatten(0, 2) for p in (self, other)
        )  # (pixels n, c)
        n, k = self.x.shape[0], other.x.shape[0]
        gram = product(rows, columns).view(*space, n, *space, k)
        for axis in range(len(space)):
            gram = self.shape.summed(gram, axis, axis + len(space) + 1)
        return gram.reshape(self.positions, n, other.positions, k)

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

    def parts(self, thin: bool) -> Iterator[Tensor]:
        """`dense` in one piece."""
        yield self.dense()

    def held(self, thin: bool) -> int:
        """Numbers a sample that `parts` holds at a time."""
        return self.positions * self.size

    def gram(self, other: Right) -> Tensor:
        """(T, n, T', n'), 1 where the tokens agree."""
        if not isinstance(other, Tokens):
            raise TypeError(f"cannot pair tokens with {type(other).__name__}")
        mine, others = self.index.T[:, :, None, None], other.index.T
        return ((mine == others) & (mine != self.padding)).to(self.dtype)

    def gram_diagonal(self) -> Tensor:
        """Squared norms over all positions, (n,)."""
        return (self.index != self.padding).sum(1).to(self.dtype)

    def rows(self, start: int, stop: int) -> Tokens:
        """Some of the samples."""
        return replace(self, index=self.index[start:stop])


Right = Inputs | Patches | Tokens


def _position_gram(x: Tensor, y: Tensor) -> Tensor:
    """(T, n, T', n') for (n, T, q) and (n', T', q)."""
    gram = product(*(side.transpose(0, 1).flatten(0, 1) for side in (x, y)))
    return gram.view(x.shape[1], x.shape[0], y.shape[1], y.shape[0])
