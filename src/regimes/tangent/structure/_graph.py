"""Where each parameter enters the network, read from the autograd graph of one forward pass.

Hooks see modules; the graph sees what autograd will differentiate. Reading it finds a weight that
a parent module uses without calling its owner, a bare `nn.Parameter`, a tied embedding, a bias
that a layer adds in two steps, and it survives in-place activations. Every edge into a parameter
is followed to the first operation whose weight gradient has a known form; a parameter with one
edge that ends anywhere else is left to the general engine as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

Node = Any  # torch.autograd.graph.Node; its saved tensors are attributes torch does not declare
Parents = Mapping[Node, list[tuple[Node, int]]]  # operation -> those that use its result, and where

# operations between a parameter and its use that only rename its entries
_TRANSPOSES = {"TBackward0", "TransposeBackward0"}
_RESHAPES = {"ViewBackward0", "UnsafeViewBackward0", "UnsqueezeBackward0", "SqueezeBackward1"}

# operation -> {input slot: role the parameter plays there}
KNOWN: Mapping[str, Mapping[int, str]] = {
    "AddmmBackward0": {0: "bias", 2: "weight"},
    "MmBackward0": {1: "weight"},
    "ConvolutionBackward0": {1: "weight", 2: "bias"},
    "NativeLayerNormBackward0": {1: "weight", 2: "bias"},
    "NativeGroupNormBackward0": {1: "weight", 2: "bias"},
    "NativeBatchNormBackward0": {1: "weight", 2: "bias"},
    "CudnnBatchNormBackward0": {1: "weight", 2: "bias"},
    "EmbeddingBackward0": {0: "weight"},
    "AddBackward0": {0: "shift", 1: "shift"},
    "SubBackward0": {0: "shift", 1: "shift"},
    "MulBackward0": {0: "factor", 1: "factor"},
    "ExpandBackward0": {0: "copy"},
}


@dataclass(frozen=True)
class Use:
    """One entry of one parameter into one operation of the graph."""

    parameter: str
    node: Node
    slot: int
    role: str
    scale: float = 1.0  # product of the scalars between the parameter and the operation
    transposed: bool = False
    reshaped: bool = False


@dataclass(frozen=True)
class Entries:
    """All uses of the trainable parameters, and why some parameters have none that are known."""

    uses: tuple[Use, ...]
    unknown: Mapping[str, str]  # parameter -> reason it needs the general engine
    parents: Parents  # of every operation of the graph


def read_graph(output: Tensor, parameters: Mapping[str, Tensor]) -> Entries:
    """Find every use of `parameters` in the graph behind `output`.

    Args:
        output: the network's output, still attached to its graph.
        parameters: trainable parameters by name.

    Returns:
        The uses in a fixed order (that of the walk), and the parameters without known structure.
        A parameter that the output does not depend on is in neither: it contributes nothing.
    """
    parents, order = _reversed_edges(output.grad_fn)
    names = {id(parameter): name for name, parameter in parameters.items()}
    leaves = {
        names[id(node.variable)]: node
        for node in parents
        if hasattr(node, "variable") and id(node.variable) in names
    }
    uses: list[Use] = []
    unknown: dict[str, str] = {}
    for name in parameters:
        if name not in leaves:
            continue
        found = list(_follow(Use(name, leaves[name], 0, "leaf"), parents))
        strange = [use for use in found if _reason_unknown(use)]
        if strange:
            unknown[name] = "; ".join(sorted({_reason_unknown(use) for use in strange}))
        else:
            uses.extend(found)
    uses.sort(key=lambda use: (order[use.node], use.slot))
    return Entries(tuple(uses), unknown, parents)


def kept_tensors(output: Tensor) -> Iterator[Tensor]:
    """What the operations behind `output` keep for the backward pass, as far as they show it."""
    for node in _reversed_edges(output.grad_fn)[0]:
        for name in dir(node):
            kept = getattr(node, name) if name.startswith("_saved_") else None
            each = kept if isinstance(kept, tuple | list) else (kept,)
            yield from (tensor for tensor in each if isinstance(tensor, Tensor))


def _reversed_edges(root: Node) -> tuple[dict[Node, list[tuple[Node, int]]], dict[Node, int]]:
    parents: dict[Node, list[tuple[Node, int]]] = {root: []}
    order = {root: 0}
    stack = [root]
    while stack:
        node = stack.pop()
        for slot, (child, _) in enumerate(node.next_functions):
            if child is None:
                continue
            if child not in order:
                order[child] = len(order)
                parents[child] = []
                stack.append(child)
            parents[child].append((node, slot))
    return parents, order


def _follow(use: Use, parents: Parents) -> Iterator[Use]:
    """From a parameter, through transposes, reshapes and scalars, to the operations that use it."""
    for node, slot in parents[use.node]:
        name = node.name()
        if name in _TRANSPOSES or (name == "PermuteBackward0" and _swaps_two(node)):
            passed = replace(use, node=node, slot=slot, transposed=not use.transposed)
        elif name in _RESHAPES:
            passed = replace(use, node=node, slot=slot, reshaped=True)
        elif (scalar := scalar_of(node, slot)) is not None:
            passed = replace(use, node=node, slot=slot, scale=use.scale * scalar)
        else:
            role = KNOWN.get(name, {}).get(slot, "unknown")
            yield replace(use, node=node, slot=slot, role=role)
            continue
        yield from _follow(passed, parents)


def _swaps_two(node: Node) -> bool:
    """Whether a permutation is the transpose of a matrix (`W.T`)."""
    return [int(d) % 2 for d in node._saved_dims] == [1, 0]


def scalar_of(node: Node, slot: int) -> float | None:
    """The number this operation multiplies its input by, if that is all it does."""
    name = node.name()
    if name not in ("MulBackward0", "DivBackward0"):
        return None
    if name == "MulBackward0":
        other_slot, other = 1 - slot, node._saved_other if slot == 0 else node._saved_self
    else:
        if slot == 1:
            return None
        other_slot, other = 1, node._saved_other
    edge = node.next_functions[other_slot][0] if other_slot < len(node.next_functions) else None
    if edge is not None or other is None or other.dim() > 0:
        return None
    return float(other) if name == "MulBackward0" else 1.0 / float(other)


def _reason_unknown(use: Use) -> str:
    """Why the gradient at this use has no form the structured engine knows; empty if it has."""
    name = use.node.name()
    matrix = name in ("AddmmBackward0", "MmBackward0", "ConvolutionBackward0", "EmbeddingBackward0")
    if use.role == "unknown":
        return f"enters {name.removesuffix('Backward0')} at input {use.slot}"
    if use.role == "weight" and matrix and use.reshaped:
        return f"reshaped before {name.removesuffix('Backward0')}"
    if use.role != "weight" and use.transposed:
        return f"transposed before {name.removesuffix('Backward0')}"
    if use.role == "weight" and use.transposed and name not in ("AddmmBackward0", "MmBackward0"):
        return f"transposed before {name.removesuffix('Backward0')}"
    if name == "ConvolutionBackward0" and use.node._saved_transposed:
        return "transposed convolution"
    if name.endswith("BatchNormBackward0") and use.node._saved_training:
        return "batch norm in training mode"
    if name == "EmbeddingBackward0" and use.node._saved_scale_grad_by_freq:
        return "embedding gradient scaled by frequency"
    return ""
