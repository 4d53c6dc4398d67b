"""A network as a function of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_not
from typing import Any

import torch
from torch import Tensor, nn


def functional_call(
    module: nn.Module,
    tensors: Mapping[str, Tensor],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """The network's output with some parameters and buffers replaced, wherever they are used.

    `torch.func.functional_call` swaps at every name of a parameter, in and out in the same order. A
    module registered under two names is swapped twice, so that it keeps what was swapped in. Here
    every place where a tensor lies is swapped once.

    Args:
        module: the network; it is as before afterwards.
        tensors: name, as in `named_parameters` or `named_buffers`, -> replacement.
        args: positional inputs.
        kwargs: inputs by name.

    Raises:
        ValueError: a name that the network does not have.

    Example:
        >>> layer = nn.Linear(2, 2, bias=False)
        >>> twice = nn.Sequential(layer, layer)
        >>> functional_call(twice, {"0.weight": 3 * torch.eye(2)}, (torch.ones(1, 2),))
        tensor([[9., 9.]])
        >>> type(layer.weight).__name__
        'Parameter'
    """
    modules = [*module.named_modules()]
    slots = [
        (f"{prefix}.{name}" if prefix else name, tensor)
        for prefix, child in modules
        for own in (child._parameters, child._buffers)
        for name, tensor in own.items()
    ]
    unknown = tensors.keys() - {name for name, _ in slots}
    if unknown:
        names = ", ".join(sorted(unknown))
        raise ValueError(
            f"the network has no parameter or buffer {names}; use the names of "
            "named_parameters() and named_buffers()"
        )
    new = {id(tensor): tensors[name] for name, tensor in slots if name in tensors}
    places = {name: new[id(tensor)] for name, tensor in slots if id(tensor) in new}
    before = [(vars(child), dict(vars(child))) for _, child in modules]
    try:
        return torch.func.functional_call(module, places, args, kwargs, tie_weights=False)
    finally:
        for now, then in before:
            if len(now) != len(then) or any(map(is_not, now.values(), then.values())):
                _forget_tensors(now, then)


def _forget_tensors(now: dict[str, Any], then: dict[str, Any]) -> None:
    """Put back what a pass left in a module's attributes: activations, or a weight made by a hook.

    They belong to the replaced parameters, and under a transform they cannot be used after it.
    """
    for name, value in [*now.items()]:
        if isinstance(value, Tensor) and value is not then.get(name):
            if name in then:
                now[name] = then[name]
            else:
                del now[name]
