"""Networks that are a chain: affine layers with functions of single entries between them.

Their second derivatives have closed formulas (`_chain_blocks.py`). A module is followed through its
own `forward` with the tracer of torch.fx; what is no chain, or cannot be followed, takes the
general way (`_columns.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

from regimes.nets import FullyConnected
from regimes.nets._activations import Activation
from regimes.nets._layers import ScaledLinear

Function = Callable[[Tensor], Tensor]

_ENTRYWISE = (
    nn.CELU, nn.ELU, nn.GELU, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.Identity, nn.LeakyReLU,
    nn.LogSigmoid, nn.Mish, nn.ReLU, nn.ReLU6, nn.SELU, nn.Sigmoid, nn.SiLU, nn.Softplus,
    nn.Softsign, nn.Tanh, nn.Tanhshrink, Activation,
)  # fmt: skip
_FUNCTIONS = (
    torch.relu, torch.tanh, torch.sigmoid, torch.sin, torch.cos, torch.erf, torch.exp, torch.square,
    torch.selu, F.relu, F.tanh, F.sigmoid, F.gelu, F.silu, F.softplus, F.elu, F.celu, F.selu,
    F.leaky_relu, F.mish, F.logsigmoid, F.softsign, F.hardtanh, F.relu6, F.hardswish,
)  # fmt: skip
_METHODS = ("relu", "tanh", "sigmoid", "sin", "cos", "erf", "exp", "square")


@final
@dataclass(frozen=True)
class Affine:
    """u = weight_multiplier W z + bias_multiplier b."""

    weight: str
    bias: str | None
    weight_multiplier: float = 1.0
    bias_multiplier: float = 1.0


@final
@dataclass(frozen=True)
class Chain:
    """u_1 = A_1 x, z_k = sigma_k(u_k), u_(k+1) = A_(k+1) z_k; the last u are the outputs.

    Attributes:
        layers: A_1, ..., A_D.
        functions: sigma_1, ..., sigma_(D-1).
    """

    layers: tuple[Affine, ...]
    functions: tuple[Function, ...]


def find_chain(module: nn.Module) -> Chain | None:
    """The chain that a module is, or None.

    >>> find_chain(nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))).layers
    (Affine(weight='0.weight', bias='0.bias', weight_multiplier=1.0, bias_multiplier=1.0),
     Affine(weight='2.weight', bias='2.bias', weight_multiplier=1.0, bias_multiplier=1.0))
    >>> find_chain(nn.Sequential(nn.Conv2d(1, 1, 3), nn.Flatten()))
    """
    if any(_is_hooked(child) for child in module.modules()):
        return None
    if type(module) is FullyConnected:
        layers = [_affine(f"layers.{i}", layer) for i, layer in enumerate(module.layers)]
        return _checked(layers, [module.activation] * module.depth)
    if isinstance(module, torch.jit.ScriptModule):
        return None
    try:
        graph = _Tracer().trace(module)
    except Exception:  # whatever the user's code does with a stand-in for its input
        return None
    return _follow(module, graph)


class _Tracer(fx.Tracer):
    """Layers and activations of ours are single steps, as those of torch are."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, (ScaledLinear, Activation)) or super().is_leaf_module(
            m, module_qualified_name
        )


def _follow(module: nn.Module, graph: fx.Graph) -> Chain | None:
    """The steps of a graph in which each value goes to the next step alone."""
    nodes = list(graph.nodes)
    layers: list[Affine] = []
    functions: list[Function] = []
    between: list[Function] = []
    if not nodes or nodes[0].op != "placeholder" or nodes[-1].op != "output":
        return None
    for before, node in itertools.pairwise(nodes):
        if len(before.users) != 1 or node.all_input_nodes != [before]:
            return None
        if node.op == "output":
            break
        step = _step(module, node)
        if isinstance(step, Affine):
            if layers:
                functions.append(_composed(between))
            elif between:
                return None  # a function of the inputs
            layers.append(step)
            between = []
        elif step is not None:
            between.append(step)
        elif not _is_flattening(module, node):
            return None
    return _checked(layers, functions) if layers and not between else None


def _step(module: nn.Module, node: fx.Node) -> Affine | Function | None:
    """A layer, a function of single entries, or neither."""
    if node.op == "call_module":
        child = module.get_submodule(str(node.target))
        if type(child) in (nn.Linear, ScaledLinear):
            return _affine(str(node.target), child)
        if type(child) in _ENTRYWISE:
            return child
        return _same if isinstance(child, nn.Dropout) and not child.training else None
    if not node.args or node.args[0] is not node.all_input_nodes[0]:
        return None
    rest = {key: value for key, value in node.kwargs.items() if key != "inplace"}
    if node.op == "call_function" and node.target in _FUNCTIONS:
        return partial(_called, node.target, node.args[1:], rest)
    if node.op == "call_method" and node.target in _METHODS:
        return partial(_called, getattr(Tensor, str(node.target)), node.args[1:], rest)
    return None


def _is_flattening(module: nn.Module, node: fx.Node) -> bool:
    """Whether a step may only rearrange the entries of a sample; the outputs are compared later."""
    if node.op == "call_module":
        return isinstance(module.get_submodule(str(node.target)), nn.Flatten)
    if node.op == "call_function":
        return node.target in (torch.flatten, torch.squeeze)
    return node.op == "call_method" and node.target in ("flatten", "squeeze")


def _affine(name: str, layer: nn.Module) -> Affine:
    bias = f"{name}.bias" if layer.bias is not None else None
    multipliers = (
        getattr(layer, f"{kind}_multiplier", 1.0) for kind in ("weight", "bias")
    )  # a plain layer has none
    return Affine(f"{name}.weight", bias, *multipliers)


def _checked(layers: list[Affine], functions: list[Function]) -> Chain | None:
    """The chain, unless a layer comes in it twice."""
    if len({layer.weight for layer in layers}) < len(layers):
        return None
    return Chain(tuple(layers), tuple(functions))


def _is_hooked(module: nn.Module) -> bool:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, kind, None) for kind in kinds)


def _composed(functions: list[Function]) -> Function:
    return partial(_in_turn, tuple(functions))


def _in_turn(functions: tuple[Function, ...], u: Tensor) -> Tensor:
    for function in functions:
        u = function(u)
    return u


def _called(function: Callable[..., Tensor], args: Any, kwargs: Any, u: Tensor) -> Tensor:
    return function(u, *args, **kwargs)


def _same(u: Tensor) -> Tensor:
    return u
