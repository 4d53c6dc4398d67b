"""A private copy of the user's network, checked to be one whose samples do not interact."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from regimes._adapter import Pick, columns, one_tensor
from regimes.tangent.network import _batch
from regimes.tangent.network._batch import Batch


class Snapshot:
    """The network as it stood, with its trainable parameters by name.

    Args:
        module: the user's network; it is never changed.
        dtype: precision of a copy, None for the network's own.
        copy: whether to copy it. Without one the network itself is used, and `check` refuses to
            go on once it was changed. Another precision always takes a copy.
        output: from what the network returns to the tensor that is meant; None: the only one.
    """

    def __init__(
        self,
        module: nn.Module,
        dtype: torch.dtype | None = None,
        *,
        copy: bool = True,
        output: Pick | None = None,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise ValueError(f"expected a torch.nn.Module, got {type(module).__name__}")
        refuse_interacting(module)
        copied = copy or dtype is not None
        self.module = copy_of(module) if copied else module
        if dtype is not None:
            self.module = self.module.to(dtype)
        self.parameters: dict[str, nn.Parameter] = {
            name: p for name, p in self.module.named_parameters() if p.requires_grad
        }
        if not self.parameters:
            raise ValueError(
                "the network has no trainable parameter (requires_grad is False everywhere), so "
                "its tangent kernel is empty; set requires_grad=True on what should count"
            )
        devices = {p.device for p in self.module.parameters()}
        if len(devices) > 1:
            listing = sorted(map(str, devices))
            raise ValueError(f"parameters lie on several devices {listing}; use one")
        first = next(iter(self.parameters.values()))
        self.device, self.dtype = first.device, first.dtype
        self.output = output
        self._state = None if copied else _state_of(module)
        if copied:
            self.module.zero_grad(set_to_none=True)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of entries of each trainable parameter."""
        return {name: p.numel() for name, p in self.parameters.items()}

    def check(self, batch: Batch) -> None:
        """Refuse a network that was changed, and inputs of another device or floating type.

        Raises:
            ValueError: says which, and what to do.
        """
        if self._state is not None:
            refuse_interacting(self.module)
            now = _state_of(self.module)
            changed = [
                name for name in {**self._state, **now} if self._state.get(name) != now.get(name)
            ]
            if changed:
                raise ValueError(
                    f"{', '.join(changed)} changed since this kernel was made with copy=False; "
                    "make a new TangentKernel, or leave out copy=False to keep what it was made of"
                )
        for t in _batch.tensors(batch):
            if t.device != self.device:
                raise ValueError(
                    f"inputs are on {t.device} but the network is on {self.device}; move one of "
                    "them with .to(...)"
                )
            if t.is_floating_point() and t.dtype != self.dtype:
                raise ValueError(
                    f"inputs are {t.dtype} but the network is {self.dtype}; convert one of them, "
                    "or ask for precision='float64', which converts both"
                )

    def __call__(self, batch: Batch) -> Tensor:
        """Outputs (n, c), further axes flattened.

        Raises:
            ValueError: the network failed on the batch, or its output is not one finite tensor with
                a row for every sample.
        """
        n = _batch.tensors(batch)[0].shape[0]
        try:
            output = _batch.call(self.module, batch)
        except (RuntimeError, TypeError, IndexError) as error:
            given = [(tuple(t.shape), str(t.dtype)) for t in _batch.tensors(batch)]
            hint = (
                "; integer inputs must be converted to floating point unless the network looks "
                "them up in an embedding"
                if any(not t.is_floating_point() for t in _batch.tensors(batch))
                else ""
            )
            raise ValueError(f"the network failed on inputs {given}: {error}{hint}") from error
        return checked_output(output, n, self.output)


def _state_of(module: nn.Module) -> dict[str, tuple[int, int, bool]]:
    """What tells that a parameter or buffer was replaced, written to or frozen."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name: (id(t), t._version, t.requires_grad) for name, t in named}


def copy_of(module: nn.Module) -> nn.Module:
    """A copy that shares nothing."""
    # most attributes of a module are empty collections of hooks, which deepcopy is slow to copy
    empty = {
        id(value): OrderedDict[Any, Any]()
        for child in module.modules()
        for value in vars(child).values()
        if type(value) is OrderedDict and not value
    }
    return copy.deepcopy(module, empty)


def checked_output(returned: Any, n: int, output: Pick | None = None) -> Tensor:
    """The network's outputs as a finite (n, c) tensor, else a ValueError that says why not."""
    tensor = one_tensor(returned, output)
    if tensor.dim() == 0 or tensor.shape[0] != n:
        raise ValueError(
            f"the network must return (samples, outputs) = ({n}, c), or ({n},) or further axes; "
            f"got {tuple(tensor.shape)}; let its samples be the first axis"
        )
    if not torch.isfinite(tensor).all():
        raise ValueError("the network's output contains NaN or infinity")
    return columns(tensor)


def refuse_interacting(module: nn.Module) -> None:
    """Raise where samples of a batch would change each other's outputs, or chance would."""
    for name, child in module.named_modules():
        if isinstance(child, _BatchNorm) and (child.training or child.running_mean is None):
            raise ValueError(
                f"{_where(name, child)} uses the statistics of the batch, so samples interact and "
                "no tangent kernel exists; call network.eval() first (running statistics needed)"
            )
        if isinstance(child, _DropoutNd) and child.training and child.p > 0:
            raise ValueError(
                f"{_where(name, child)} is active, so the network is random; call network.eval() "
                "first"
            )
        if isinstance(child, nn.MultiheadAttention) and child.training and child.dropout > 0:
            raise ValueError(
                f"{_where(name, child)} drops attention at random; call network.eval() first"
            )


def _where(name: str, child: nn.Module) -> str:
    return f"{type(child).__name__} {name!r}"
