"""How a gradient goes back through one operation, for all outputs at once.

Gradients are (n, m, *shape), as in `_backward.py`, which walks along these rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.tangent.structure import Node, scalar_of

_aten = torch.ops.aten

Pull = Callable[[Node, Tensor, int, torch.Size], Tensor]


@dataclass(frozen=True)
class Rule:
    """How a gradient goes through an operation, and for which of its inputs and settings."""

    pull: Pull
    slots: tuple[int, ...] = (0,)
    holds: Callable[[Node, int, torch.Size], bool] = lambda node, slot, shape: True
    fresh: bool = True  # whether what it returns is new, not a view of what it was given
    overwrite: Pull | None = None  # the same in the memory of what it was given


def shape_of(node: Node) -> torch.Size:
    """Shape of what an operation returns."""
    return torch.Size(node._input_metadata[0].shape)


def supported(node: Node, slot: int, child: Node) -> bool:
    """Whether there is a rule for the way through `node` to its input `slot`, made by `child`."""
    rule = RULES.get(node.name())
    return rule is not None and slot in rule.slots and rule.holds(node, slot, shape_of(child))


def _same_shape(node: Node, slot: int, shape: torch.Size) -> bool:
    return shape_of(node) == shape


def _through_matrix(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    alone = g[:1] if g.stride(0) == 0 else g  # the readout's gradient is the same for all samples
    pulled = alone.flatten(0, 1) @ node._saved_mat2.T
    alpha = getattr(node, "_saved_alpha", 1)
    pulled = pulled if alpha == 1 else pulled * alpha
    return pulled.view(*alone.shape[:2], -1).expand(*g.shape[:2], -1)


def _through_view(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    return g.reshape(*g.shape[:2], *shape[1:])


def _through_sum(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    factor = float(node._saved_alpha) if slot == 1 else 1.0
    factor = -factor if slot == 1 and node.name() == "SubBackward0" else factor
    return g if factor == 1.0 else g * factor


def _through_scalar(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    factor = scalar_of(node, slot)
    assert factor is not None  # `holds` saw to it
    return g * factor


def _is_scalar(node: Node, slot: int, shape: torch.Size) -> bool:
    return scalar_of(node, slot) is not None


def _mean_axes(node: Node, shape: torch.Size) -> list[int]:
    # autograd keeps negative axes as unsigned numbers
    return [((axis + 2**63) % 2**64 - 2**63) % len(shape) for axis in node._saved_dim]


def _through_mean(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    axes = _mean_axes(node, shape)
    g = g / math.prod(shape[axis] for axis in axes)
    if not node._saved_keepdim:
        for axis in sorted(axes):
            g = g.unsqueeze(axis + 1)
    return g.expand(*g.shape[:2], *shape[1:])


def _spares_samples(node: Node, slot: int, shape: torch.Size) -> bool:
    return 0 not in _mean_axes(node, shape)


def _through_convolution(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    batch = g.flatten(0, 1)
    like = node._saved_input  # only its shape counts, but a CPU copies one that has holes
    if len(batch) != len(like):
        cpu = g.device.type == "cpu"
        like = like.new_empty((len(batch), *shape[1:]) if cpu else 1).expand(len(batch), *shape[1:])
    pulled, _, _ = _aten.convolution_backward(
        batch,
        like,
        node._saved_weight,
        None,
        node._saved_stride,
        node._saved_padding,
        node._saved_dilation,
        False,
        [0] * len(node._saved_stride),
        node._saved_groups,
        [True, False, False],
    )
    return pulled.unflatten(0, g.shape[:2])


def _not_transposed(node: Node, slot: int, shape: torch.Size) -> bool:
    return not node._saved_transposed


def _through_average(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    """Windows side by side: every number is spread over its window."""
    high, wide = node._saved_kernel_size
    *lead, height, width = g.shape
    # along a row by a product with a matrix of blocks of ones, which a CPU does fastest
    spread = torch.eye(width, dtype=g.dtype, device=g.device).repeat_interleave(wide, 1)
    row = g.reshape(-1, width) @ (spread / (high * wide))
    row = row.view(*lead, height, 1, width * wide)
    return row.expand(*lead, height, high, width * wide).reshape(*g.shape[:2], *shape[1:])


def _side_by_side(node: Node, slot: int, shape: torch.Size) -> bool:
    kernel = tuple(node._saved_kernel_size)
    tiled = tuple(a * k for a, k in zip(shape_of(node)[-2:], kernel, strict=True))
    plain = tuple(node._saved_padding) == (0, 0) and node._saved_divisor_override is None
    return plain and tuple(node._saved_stride) in ((), kernel) and tiled == tuple(shape[-2:])


def _through_maximum(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    """Every number goes to where the largest of its window was."""
    n, m = g.shape[:2]
    where = node._saved_result1.flatten(2).unsqueeze(1).expand(n, m, -1, -1)
    spread = g.new_zeros(n, m, shape[1], shape[2] * shape[3])
    return spread.scatter_add_(3, where, g.flatten(3)).view(n, m, *shape[1:])


def _of_images(node: Node, slot: int, shape: torch.Size) -> bool:
    return len(shape) == 4


def _through_norm(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    """Batch norm in evaluation mode: a factor per channel."""
    scale = (node._saved_running_var + node._saved_eps).rsqrt()
    if node._saved_weight is not None:
        scale = scale * node._saved_weight
    return g * scale.view(-1, *(1,) * (len(shape) - 2))


def _evaluates(node: Node, slot: int, shape: torch.Size) -> bool:
    return not node._saved_training and node._saved_running_var is not None


def _activation(derivative: Callable[[Node], Tensor]) -> Rule:
    def pull(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
        return g * derivative(node).unsqueeze(1)

    def overwrite(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
        return g.mul_(derivative(node).unsqueeze(1))

    return Rule(pull, overwrite=overwrite)


def _relu_result(node: Node, g: Tensor) -> Tensor:
    """What a relu returned, in the order of the gradient's memory: mixed orders are slow."""
    result = node._saved_result
    if g.dim() == 5 and g.is_contiguous():
        result = result.contiguous()
    return result.unsqueeze(1)


def _through_relu(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    return _aten.threshold_backward(g, _relu_result(node, g), 0)


def _over_relu(node: Node, g: Tensor, slot: int, shape: torch.Size) -> Tensor:
    return _aten.threshold_backward.grad_input(g, _relu_result(node, g), 0, grad_input=g)


def _of_input(backward: Callable[..., Tensor], *settings: str) -> Callable[[Node], Tensor]:
    """Derivative of an activation that kept its input, from its backward operation."""

    def derivative(node: Node) -> Tensor:
        x = node._saved_self
        return backward(torch.ones_like(x), x, *(getattr(node, f"_saved_{s}") for s in settings))

    return derivative


RULES: Mapping[str, Rule] = {
    "AddmmBackward0": Rule(_through_matrix, (1,)),
    "MmBackward0": Rule(_through_matrix),
    "ViewBackward0": Rule(_through_view, fresh=False),
    "UnsafeViewBackward0": Rule(_through_view, fresh=False),
    "CloneBackward0": Rule(lambda node, g, slot, shape: g, fresh=False),
    "AddBackward0": Rule(_through_sum, (0, 1), _same_shape, fresh=False),
    "SubBackward0": Rule(_through_sum, (0, 1), _same_shape, fresh=False),
    "MulBackward0": Rule(_through_scalar, (0, 1), _is_scalar),
    "DivBackward0": Rule(_through_scalar, (0,), _is_scalar),
    "MeanBackward1": Rule(_through_mean, (0,), _spares_samples, fresh=False),
    "ConvolutionBackward0": Rule(_through_convolution, (0,), _not_transposed),
    "AvgPool2DBackward0": Rule(_through_average, (0,), _side_by_side),
    "MaxPool2DWithIndicesBackward0": Rule(_through_maximum, (0,), _of_images),
    "NativeBatchNormBackward0": Rule(_through_norm, (0,), _evaluates),
    "ReluBackward0": Rule(_through_relu, overwrite=_over_relu),
    "TanhBackward0": _activation(lambda node: 1 - node._saved_result.square()),
    "SigmoidBackward0": _activation(lambda node: node._saved_result * (1 - node._saved_result)),
    "SoftplusBackward0": _activation(_of_input(_aten.softplus_backward, "beta", "threshold")),
    "SiluBackward0": _activation(_of_input(_aten.silu_backward)),
    "GeluBackward0": _activation(
        lambda node: _aten.gelu_backward(
            torch.ones_like(node._saved_self),
            node._saved_self,
            approximate=node._saved_approximate,
        )
    ),
    "ErfBackward0": _activation(
        lambda node: node._saved_self.square().neg().exp() * (2 / math.sqrt(math.pi))
    ),
}
FIRST_OF_SEVERAL = ("NativeBatchNormBackward0", "MaxPool2DWithIndicesBackward0")
