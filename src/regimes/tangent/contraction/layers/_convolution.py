"""Convolutions: a weight that multiplies the patch under every position."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regimes.tangent.contraction._factors import Dense, Factor, Outer
from regimes.tangent.contraction._matmul import product
from regimes.tangent.contraction._overlap import Overlap
from regimes.tangent.contraction._right import Right, position_gram
from regimes.tangent.contraction.layers._kind import LayerKind, Reached, Shapes, by_side
from regimes.tangent.structure import Node, Site


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

    def overlap(self, space: tuple[int, ...]) -> Overlap | None:
        """What positions on a map of this size share; None with three axes."""
        if len(space) > 2:
            return None

        def pair(sizes: tuple[int, ...], first: int) -> tuple[int, int]:
            return (first, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])

        moves = zip(space, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        sides = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in moves)
        return Overlap(
            positions=pair(sides, 1),
            pixels=pair(space, 1),
            kernel=pair(self.kernel, 1),
            stride=pair(self.stride, 1),
            padding=pair(self.padding, 0),
            dilation=pair(self.dilation, 1),
        )

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

    @property
    def stored(self) -> Tensor:
        """(n, frames, channels, *space)."""
        return self.x

    @property
    def overlap(self) -> Overlap:
        """Which pixels the positions share."""
        found = self.shape.overlap(tuple(self.x.shape[3:]))
        if found is None or self.x.shape[1] != 1:
            raise ValueError(
                f"pixels are paired on maps of one or two axes in one frame, got {self.x.shape[1:]}"
            )
        return found

    @property
    def pixels(self) -> Tensor:
        """(n, channels, *space)."""
        return self.x[:, 0]

    def restored(self, stored: Tensor, dtype: torch.dtype) -> Patches:
        """Other inputs."""
        return replace(self, x=stored)

    def rows(self, start: int, stop: int) -> Patches:
        """Some of the samples."""
        return replace(self, x=self.x[start:stop])

    def dense(self) -> Tensor:
        """(n, T, q), the patches as rows, each (*kernel, channels).

        Channels come last so that a patch is a few long runs of memory. Torch's own unfold copies
        number by number on a CPU and launches one kernel per sample on a GPU.
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
        """Numbers per sample that `parts` holds at a time."""
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
        return position_gram(self.dense(), other.dense())

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


def _factor(here: Reached) -> Factor:
    return _grouped(here) if here.site.node._saved_groups > 1 else _plain(here)


def _plain(here: Reached) -> Outer:
    # (m, n, frames, p, *space) -> (m, n, p, T)
    left = here.by_sample().flatten(4)
    left = left[:, :, 0] if left.shape[2] == 1 else left.transpose(2, 3).flatten(3)
    use = here.site.role("weight")
    if use is None:
        return here.outer(left, None)
    return here.outer(left, _patches(here, here.shapes[use.parameter], left.shape[3]))


def _grouped(here: Reached) -> Dense:
    """Groups are small, so their gradients are written out: (m, n, g, p/g, q/g)."""
    groups, n = here.site.node._saved_groups, here.samples
    left = here.by_sample().flatten(4)  # (m, n, frames, p, spots)
    m, _, frames, p, spots = left.shape
    left = left.transpose(2, 3).reshape(m, n, groups, p // groups, frames * spots)
    parts = []
    weight, bias = here.site.role("weight"), here.site.role("bias")
    if weight is not None:
        patches = _patches(here, here.shapes[weight.parameter], frames * spots)
        rows = patches.parameter_order(patches.dense())  # (n, T, channels * kernel)
        rows = rows.reshape(n, frames * spots, groups, -1)
        full = torch.einsum("mngpt,ntgq->mngpq", left, rows)
        parts.append(full.flatten(2) * weight.scale)
    if bias is not None:
        parts.append(left.sum(4).flatten(2) * bias.scale)
    return Dense(torch.cat(parts, 2) if len(parts) > 1 else parts[0])


def _patches(here: Reached, weight: torch.Size, positions: int) -> Patches:
    node = here.site.node
    x = here.layout.split(node._saved_input.detach(), here.samples)
    return Patches(x, _shape(node, weight), positions)


def _shape(node: Node, weight: torch.Size) -> ConvolutionShape:
    return ConvolutionShape(
        tuple(weight[2:]),
        tuple(node._saved_stride),
        tuple(node._saved_padding),
        tuple(node._saved_dilation),
    )


def _sides(site: Site, shapes: Shapes) -> tuple[int, int] | None:
    weight = shapes[site.uses[0].parameter]  # the weight comes first
    return (weight[0], weight[1:].numel()) if site.node._saved_groups == 1 else None


def _pairing(site: Site, shapes: Shapes, sides: tuple[int, int], positions: int) -> tuple[int, int]:
    weight = shapes[site.uses[0].parameter]
    shape = _shape(site.node, weight)
    pixels = site.node._saved_input.shape[2:].numel()
    if shape.by_pixels(pixels, positions):
        return weight[1], 2 * sum(shape.kernel)
    return by_side(site, shapes, sides, positions)


def _overlap(site: Site, shapes: Shapes) -> Overlap | None:
    node = site.node
    shape = _shape(node, shapes[site.uses[0].parameter])
    return shape.overlap(tuple(node._saved_input.shape[2:]))


CONVOLUTION = LayerKind(_factor, _sides, _pairing, _overlap)
