"""From a use of a parameter in the graph to the factors of its gradient.

A site is one operation with the trainable parameters that enter it. `factor_of` turns the saved
tensors of the operation and the gradient at its output into a factor (`_factors.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.tangent._factors import Dense, Factor, Outer
from regimes.tangent._graph import Node, Use
from regimes.tangent._grouping import GroupOf
from regimes.tangent._layout import Layout
from regimes.tangent._memory import right_limit
from regimes.tangent._rights import ConvolutionShape, Inputs, Patches, Right, Tokens

_MATRIX = ("AddmmBackward0", "MmBackward0")
_BATCH_NORMS = ("NativeBatchNormBackward0", "CudnnBatchNormBackward0")
_NORMS = ("NativeLayerNormBackward0", "NativeGroupNormBackward0", *_BATCH_NORMS)


@dataclass(frozen=True)
class Site:
    """One operation of the graph and the parameters to differentiate there."""

    uses: tuple[Use, ...]

    @property
    def node(self) -> Node:
        """The operation."""
        return self.uses[0].node

    @property
    def kind(self) -> str:
        """Name of the operation, as autograd calls it, without the suffix."""
        return str(self.node.name()).removesuffix("Backward0")

    def role(self, role: str) -> Use | None:
        """The use with this role, if any."""
        return next((use for use in self.uses if use.role == role), None)

    def signature(self) -> tuple[str, ...]:
        """What identifies the site from one pass to the next."""
        return (self.kind, *(f"{use.parameter}:{use.role}" for use in self.uses))

    def sides(self, shapes: Mapping[str, torch.Size]) -> tuple[int, int] | None:
        """(p, q) where the weight gradient is a sum of outer products worth keeping as factors."""
        use = self.role("weight")
        name = self.node.name()
        if use is None or name in _NORMS:
            return None
        shape = shapes[use.parameter]
        if name == "ConvolutionBackward0":
            return (shape[0], shape[1:].numel()) if self.node._saved_groups == 1 else None
        if name == "EmbeddingBackward0" or not use.transposed:
            return shape[1], shape[0]
        return shape[0], shape[1]

    def pairing(self, shapes: Mapping[str, torch.Size], positions: int) -> tuple[int, int]:
        """Cost of the right factors for a pair of positions: (multiply-adds, passes over it)."""
        sides = self.sides(shapes)
        if sides is None or self.node.name() == "EmbeddingBackward0":
            return 1, 0
        if self.node.name() == "ConvolutionBackward0":
            weight = shapes[self.uses[0].parameter]  # the weight comes first
            shape = _convolution_shape(self.node, weight)
            pixels = self.node._saved_input.shape[2:].numel()
            if shape.by_pixels(pixels, positions):
                return weight[1], 2 * sum(shape.kernel)
        return sides[1], 0


def group_sites(uses: tuple[Use, ...], tied: frozenset[str], group_of: GroupOf) -> list[Site]:
    """Join the uses at one operation that belong to one group of parameters.

    Tied parameters get sites of their own: their gradients are summed over sites before any Gram.
    """
    sites: list[Site] = []
    together: dict[tuple[Node, str], int] = {}
    for use in uses:
        key = (use.node, group_of(use.parameter))
        if use.parameter in tied or use.role in ("shift", "factor", "copy"):
            sites.append(Site((use,)))
        elif key in together:
            at = together[key]
            # the weight first, as its gradient is written out first
            joined = sorted((*sites[at].uses, use), key=lambda u: u.role != "weight")
            sites[at] = Site(tuple(joined))
        else:
            together[key] = len(sites)
            sites.append(Site((use,)))
    return sites


def factor_of(
    site: Site,
    gradient: Tensor,
    layout: Layout,
    n: int,
    shapes: Mapping[str, torch.Size],
    store: str,
) -> Factor | None:
    """The factor of the site's parameters.

    Args:
        site: the operation.
        gradient: (m, *shape of its output), for m outputs of the network.
        layout: where the samples are in its output.
        n: number of samples.
        shapes: shapes of the parameters.
        store: "pairs", "expand", "dense" (factors, to be contracted or written out so), or
            "ordered" (written out here, in the parameters' own order).

    Returns:
        The factor, or None if the operation pairs a parameter with the samples themselves, which
        only the general engine can treat.
    """
    name = site.node.name()
    if name in _MATRIX:
        outer = _linear(site, gradient, layout, n, store)
    elif name == "ConvolutionBackward0":
        grouped = site.node._saved_groups > 1
        if grouped:
            return _grouped_convolution(site, gradient, layout, n, shapes)
        outer = _convolution(site, gradient, layout, n, shapes, store)
    elif name == "EmbeddingBackward0":
        outer = _embedding(site, gradient, layout, n, store)
    else:
        return _elementwise(site, gradient, layout, n, shapes)
    return written_out(outer) if store == "ordered" else outer


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


def _outer(site: Site, left: Tensor, right: Right | None, right_major: bool, store: str) -> Outer:
    """Assemble a factor from left (m, n, p, T), folding the weight's multiplier into it."""
    weight, bias = site.role("weight"), site.role("bias")
    alpha, beta = 1.0, 1.0
    if site.node.name() == "AddmmBackward0":
        alpha, beta = float(site.node._saved_alpha), float(site.node._saved_beta)
    weight_scale = weight.scale * alpha if weight else 1.0
    bias_scale = bias.scale * beta if bias else 0.0
    if right is None or weight_scale == 0.0:  # the bias alone: inputs do not matter
        right = Inputs(left.new_zeros(left.shape[1], left.shape[3], 1))
        return Outer(left, right, False, bias_scale, False, store)
    if weight_scale != 1.0:
        left = left * weight_scale
    return Outer(left, right, True, bias_scale / weight_scale, right_major, store)


def _linear(site: Site, gradient: Tensor, layout: Layout, n: int, store: str) -> Outer:
    node = site.node
    left = _by_sample(gradient, layout, n).transpose(2, 3)  # (m, n, p, T)
    if left.shape[3] == 1 and left.stride(1) != 0:
        left = left.contiguous()  # whatever order the backward pass left it in
    use = site.role("weight")
    if use is None:
        return _outer(site, left, None, False, store)
    saved = node._saved_mat1 if node.name() == "AddmmBackward0" else node._saved_self
    return _outer(site, left, Inputs(layout.split(saved.detach(), n)), not use.transposed, store)


def _convolution(
    site: Site,
    gradient: Tensor,
    layout: Layout,
    n: int,
    shapes: Mapping[str, torch.Size],
    store: str,
) -> Outer:
    # (m, n, frames, p, *space) -> (m, n, p, T)
    left = _by_sample(gradient, layout, n).flatten(4)
    left = left[:, :, 0] if left.shape[2] == 1 else left.transpose(2, 3).flatten(3)
    use = site.role("weight")
    if use is None:
        return _outer(site, left, None, False, store)
    x = layout.split(site.node._saved_input.detach(), n)
    right = Patches(x, _convolution_shape(site.node, shapes[use.parameter]), left.shape[3])
    return _outer(site, left, right, False, store)


def _convolution_shape(node: Node, weight: torch.Size) -> ConvolutionShape:
    return ConvolutionShape(
        tuple(weight[2:]),
        tuple(node._saved_stride),
        tuple(node._saved_padding),
        tuple(node._saved_dilation),
    )


def _grouped_convolution(
    site: Site, gradient: Tensor, layout: Layout, n: int, shapes: Mapping[str, torch.Size]
) -> Dense:
    """Groups are small, so their gradients are written out: (m, n, g, p/g, q/g)."""
    groups = site.node._saved_groups
    left = _by_sample(gradient, layout, n).flatten(4)  # (m, n, frames, p, spots)
    m, _, frames, p, spots = left.shape
    left = left.transpose(2, 3).reshape(m, n, groups, p // groups, frames * spots)
    parts = []
    weight, bias = site.role("weight"), site.role("bias")
    if weight is not None:
        x = layout.split(site.node._saved_input.detach(), n)
        shape = _convolution_shape(site.node, shapes[weight.parameter])
        patches = Patches(x, shape, frames * spots)
        rows = patches.parameter_order(patches.dense())  # (n, T, channels * kernel)
        rows = rows.reshape(n, frames * spots, groups, -1)
        full = torch.einsum("mngpt,ntgq->mngpq", left, rows)
        parts.append(full.flatten(2) * weight.scale)
    if bias is not None:
        parts.append(left.sum(4).flatten(2) * bias.scale)
    return Dense(torch.cat(parts, 2) if len(parts) > 1 else parts[0])


def _embedding(site: Site, gradient: Tensor, layout: Layout, n: int, store: str) -> Outer:
    node = site.node
    left = _by_sample(gradient, layout, n)  # (m, n, inner, *rest, d)
    left = left.flatten(2, left.dim() - 2).transpose(2, 3)
    index = layout.split(node._saved_indices, n).flatten(1)
    vocabulary = int(node._saved_weight_sym_argsize_0)
    padding = int(node._saved_padding_idx)
    padding = padding if 0 <= padding < vocabulary else -1
    return _outer(site, left, Tokens(index, vocabulary, padding, left.dtype), True, store)


def _elementwise(
    site: Site, gradient: Tensor, layout: Layout, n: int, shapes: Mapping[str, torch.Size]
) -> Dense | None:
    """Norms, shifts, factors and copies: the gradient is a sum of products entry by entry."""
    parts = []
    for use in site.uses:
        shape = shapes[use.parameter]
        terms, scale = _terms(site.node, use, gradient)
        axes = _kept_axes(site.node, use, gradient.shape[1:], shape)
        if axes is None or layout.axis in axes:
            return None
        parts.append(_sum_to(terms, layout, n, axes) * scale)
    return Dense(torch.cat(parts, 2) if len(parts) > 1 else parts[0])


def _terms(node: Node, use: Use, gradient: Tensor) -> tuple[Tensor, float]:
    """Entry-wise products whose sum over samples' entries is the parameter's gradient."""
    name = node.name()
    if name in _NORMS and use.role == "weight":
        return gradient * _normalised(node).detach(), use.scale
    if use.role == "factor":
        other = node._saved_other if use.slot == 0 else node._saved_self
        return gradient * other.detach(), use.scale
    alpha = float(node._saved_alpha) if use.role == "shift" and use.slot == 1 else 1.0
    return gradient, use.scale * (-alpha if name == "SubBackward0" and use.slot == 1 else alpha)


def _normalised(node: Node) -> Tensor:
    """What a norm layer multiplies by its weight."""
    x = node._saved_input
    name = node.name()
    if name == "NativeLayerNormBackward0":
        return (x - node._saved_result1) * node._saved_result2
    if name == "NativeGroupNormBackward0":
        n, channels, groups = int(node._saved_N), int(node._saved_C), int(node._saved_group)
        grouped = x.reshape(n, groups, -1)
        mean, rstd = node._saved_result1.view(n, groups, 1), node._saved_result2.view(n, groups, 1)
        return ((grouped - mean) * rstd).view(n, channels, *x.shape[2:])
    shape = (1, -1, *(1,) * (x.dim() - 2))
    eps = node._saved_epsilon if name == "CudnnBatchNormBackward0" else node._saved_eps
    variance = node._saved_running_var.view(shape) + eps
    return (x - node._saved_running_mean.view(shape)) * variance.rsqrt()


def _kept_axes(node: Node, use: Use, output: torch.Size, shape: torch.Size) -> list[int] | None:
    """Axes of the operation's output that the parameter runs along, in its own order."""
    name = node.name()
    if name in ("NativeGroupNormBackward0", *_BATCH_NORMS):
        return [1]
    if use.reshaped:  # its shape at this operation is not the stored one: match by size
        wide = [i for i, size in enumerate(shape) if size > 1]
        sizes = [shape[i] for i in wide]
        matches = [axis for axis, size in enumerate(output) if size in sizes]
        return matches if [output[axis] for axis in matches] == sizes else None
    offset = len(output) - len(shape)
    if offset < 0:
        return None
    return [offset + i for i, size in enumerate(shape) if size > 1]


def _sum_to(terms: Tensor, layout: Layout, n: int, axes: list[int]) -> Tensor:
    """Sum (m, *shape) over every axis but the samples and `axes`: (m, n, entries)."""
    split = Layout(layout.axis + 1, layout.inner, layout.sample_major).split(terms, n)
    # split is (n, inner, m, *shape without the sample axis)
    rest = [axis for axis in range(terms.dim() - 1) if axis != layout.axis]
    summed = [3 + i for i, axis in enumerate(rest) if axis not in axes]
    return split.sum([1, *summed]).flatten(2).transpose(0, 1)


def _by_sample(gradient: Tensor, layout: Layout, n: int) -> Tensor:
    """(m, *shape) -> (m, n, inner, *rest)."""
    if layout.axis == 0 and layout.inner == 1:  # the usual case: nothing moves
        return gradient.unsqueeze(2)
    split = Layout(layout.axis + 1, layout.inner, layout.sample_major).split(gradient, n)
    return split.movedim(2, 0)
