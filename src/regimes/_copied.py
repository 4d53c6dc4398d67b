"""Copies of networks, of those too that `copy.deepcopy` refuses or changes."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


def inside(module: nn.Module) -> nn.Module:
    """The module that `torch.compile` wrapped, or the module itself."""
    wrapped = getattr(module, "_orig_mod", None)
    return wrapped if isinstance(wrapped, nn.Module) else module


def copied(module: nn.Module) -> tuple[nn.Module, list[Tensor]]:
    """A copy of the network, and those of its tensors whose history a copy cannot keep.

    Weight norm and pruning leave a weight beside its parameters that the last pass computed, and
    some networks keep activations. `copy.deepcopy` refuses such tensors; here their numbers are
    copied. They require a gradient as they did, so that a graph shows where one is used.
    """
    # most attributes of a module are empty collections of hooks, which deepcopy is slow to copy
    empty = {
        id(value): OrderedDict[Any, Any]()
        for child in module.modules()
        for value in vars(child).values()
        if type(value) is OrderedDict and not value
    }
    with _CutOff() as found:
        made = copy.deepcopy(module, empty)
    for parameter in made.parameters():  # TorchScript's copies remember what they are copies of
        if not parameter.is_leaf:
            parameter.detach_().requires_grad_()
    return made, found.cut


class _CutOff(TorchFunctionMode):
    """Copies tensors that operations made without those operations."""

    def __init__(self) -> None:
        super().__init__()
        self.cut: list[Tensor] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is Tensor.__deepcopy__ and not args[0].is_leaf:
            tensor, memo = args
            memo[id(tensor)] = tensor.detach().clone().requires_grad_()
            self.cut.append(memo[id(tensor)])
            return self.cut[-1]
        return func(*args, **(kwargs or {}))
