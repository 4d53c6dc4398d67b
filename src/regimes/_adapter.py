"""The one place where a network and data, as people have them, become what the rooms compute with.

A network may return one value a sample, several axes, or a structure that holds its tensor; inputs
may be arrays, any mapping, or a loader. The rooms know batches of tensors and outputs (n, c).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regimes._stream import joined

Pick = Callable[[Any], Any]  # from what a network returns to the tensor that is meant


def check_pick(output: object) -> Pick | None:
    """The argument `output=` of everything that takes a network.

    Raises:
        ValueError: it is not a function.
    """
    if output is None or callable(output):
        return output
    raise ValueError(
        "output must be a function from what the network returns to one tensor, such as "
        f"lambda o: o.logits; got {output!r}"
    )


def one_tensor(returned: Any, output: Pick | None = None) -> Tensor:
    """The tensor that `output` picks, or else the only floating-point one with axes.

    A loss beside the logits has no axes and does not count; nor do integers, nor what objects that
    are neither mappings, tuples, lists nor dataclasses hold.

    Raises:
        ValueError: there is none, or several and nothing says which.

    >>> one_tensor({"loss": torch.tensor(0.5), "logits": torch.ones(2, 1)}).shape
    torch.Size([2, 1])
    """
    if output is not None:
        try:
            returned = output(returned)
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise ValueError(
                f"output= does not suit what the network returns, {type(returned).__name__}: "
                f"{error!r}"
            ) from error
    if isinstance(returned, Tensor):
        return returned
    found = list(_floats(returned, "o"))
    if len(found) == 1:
        return found[0][1]
    kind = type(returned).__name__
    if not found:
        raise ValueError(
            f"the network must return one tensor (n, ...), got {kind} without a floating-point "
            "tensor; say what is meant with output=lambda o: ..."
        )
    listed = ", ".join(f"{path} {tuple(tensor.shape)}" for path, tensor in found)
    raise ValueError(
        f"the network must return one tensor, got {kind} with {len(found)}: {listed}; say which is "
        f"meant, as with output=lambda o: {found[0][0]}"
    )


def columns(returned: Any, output: Pick | None = None) -> Tensor:
    """The outputs as (n, c): one value a sample is one output, further axes are flattened.

    >>> columns(torch.ones(5)).shape, columns((torch.ones(5, 3, 2),)).shape
    (torch.Size([5, 1]), torch.Size([5, 6]))
    """
    tensor = one_tensor(returned, output)
    if tensor.dim() < 2:
        return tensor.unsqueeze(-1)
    return tensor if tensor.dim() == 2 else tensor.flatten(1)


def as_batch(
    x: Any,
    dtype: torch.dtype,
    device: torch.device,
    memory: Callable[[], int],
    each: Callable[[Any], Any] = lambda batch: batch,
) -> Any:
    """Inputs as a tensor, or tensors in tuples, lists and dicts.

    Arrays become tensors, their floats in `dtype`: numpy's own float64 is a default, no statement
    about precision. Any mapping becomes a dict. What is none of these but can be iterated, as a
    DataLoader, gives batches: they are joined, beyond a twentieth of the memory in a temporary file
    (on a CPU). Of a batch that is a tuple or list the first entry is the inputs, the rest labels.

    Args:
        x: the inputs.
        dtype: of the network.
        device: of the network.
        memory: the budget in bytes, asked for when a loader comes.
        each: what is done to a loader's batches before they are joined.
    """
    if is_stream(x):
        limit = memory() // 20 if device.type == "cpu" else math.inf
        return joined(
            (each(as_batch(_inputs_of(part), dtype, device, memory)) for part in x), limit
        )
    if isinstance(x, Mapping):
        return {key: as_batch(value, dtype, device, memory) for key, value in x.items()}
    if type(x) in (tuple, list):
        return type(x)(as_batch(value, dtype, device, memory) for value in x)
    return as_tensor(x, dtype, device) if isinstance(x, np.ndarray) else x


def as_tensor(x: Any, dtype: torch.dtype, device: torch.device) -> Tensor:
    """An array as a tensor of the network's precision and device; a tensor as it is.

    Raises:
        ValueError: the array does not hold numbers.
    """
    if not isinstance(x, np.ndarray):
        return x
    try:
        tensor = torch.from_numpy(x if x.flags.writeable and x.flags.c_contiguous else x.copy())
    except TypeError as error:
        raise ValueError(f"an array of {x.dtype} holds no numbers that torch knows") from error
    return tensor.to(device, dtype if tensor.is_floating_point() else None)


def is_stream(x: Any) -> bool:
    """Whether x is something to iterate over for batches, such as a DataLoader."""
    return isinstance(x, Iterable) and not isinstance(
        x, (Tensor, np.ndarray, Mapping, tuple, list, str, bytes)
    )


def _inputs_of(batch: Any) -> Any:
    return batch[0] if isinstance(batch, (tuple, list)) and batch else batch


def _floats(returned: Any, path: str) -> Iterator[tuple[str, Tensor]]:
    """Every floating-point tensor with axes, with the expression that leads to it."""
    if isinstance(returned, Tensor):
        if returned.is_floating_point() and returned.dim() > 0:
            yield path, returned
    elif isinstance(returned, Mapping):
        for key, value in returned.items():
            yield from _floats(value, f"{path}[{key!r}]")
    elif isinstance(returned, (tuple, list)):
        for number, value in enumerate(returned):
            yield from _floats(value, f"{path}[{number}]")
    elif dataclasses.is_dataclass(returned):
        for field in dataclasses.fields(returned):
            yield from _floats(getattr(returned, field.name), f"{path}.{field.name}")
