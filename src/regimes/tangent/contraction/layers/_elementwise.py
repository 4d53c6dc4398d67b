"""Norms, shifts, factors and copies: the gradient is a sum of products entry by entry."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.tangent.contraction._factors import Dense
from regimes.tangent.contraction.layers._kind import LayerKind, Reached
from regimes.tangent.structure import Layout, Node, Use

_BATCH_NORMS = ("NativeBatchNormBackward0", "CudnnBatchNormBackward0")
_NORMS = ("NativeLayerNormBackward0", "NativeGroupNormBackward0", *_BATCH_NORMS)


def _factor(here: Reached) -> Dense | None:
    node, gradient = here.site.node, here.gradient
    parts = []
    for use in here.site.uses:
        terms, scale = _terms(node, use, gradient)
        axes = _kept_axes(node, use, gradient.shape[1:], here.shapes[use.parameter])
        if axes is None or here.layout.axis in axes:
            return None
        parts.append(_sum_to(terms, here.layout, here.samples, axes) * scale)
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


ELEMENTWISE = LayerKind(_factor)
