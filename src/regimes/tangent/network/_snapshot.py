"""A private copy of the user's network, checked to be one whose samples do not interact."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from regimes._adapter import Pick, columns, one_tensor
from regimes._copied import copied, inside
from regimes._functional import functional_call
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
        module = inside(module)
        refuse_interacting(module)
        own = copy or dtype is not None
        self.module, self.cut = _own(module) if own else (module, [])
        if dtype is not None:
            self.module._apply(partial(_in_precision, dtype))
        self.parameters: dict[str, nn.Parameter] = {
            name: p for name, p in self.module.named_parameters() if p.requires_grad
        }
        if not self.parameters:
            raise ValueError(
                "the network has no trainable parameter (requires_grad is False everywhere), so "
                "there is nothing to differentiate by; set requires_grad=True on what should count"
            )
        devices = {p.device for p in self.module.parameters()}
        if len(devices) > 1:
            listing = sorted(map(str, devices))
            raise ValueError(f"parameters lie on several devices {listing}; use one")
        first = next(iter(self.parameters.values()))
        self.device, self.dtype = first.device, first.dtype.to_real()
        self.output = output
        self._state = None if own else _state_of(module)
        self._written: set[str] | None = None  # buffers that every pass writes
        if own:
            self.module.zero_grad(set_to_none=True)

    @property
    def shapes(self) -> dict[str, torch.Size]:
        """Shape of each trainable parameter; a complex number is two real ones, on a last axis."""
        return {name: real(p).shape for name, p in self.parameters.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """Number of real entries of each trainable parameter."""
        return {name: shape.numel() for name, shape in self.shapes.items()}

    def check(self, batch: Batch) -> None:
        """Refuse a network that was changed, and inputs of another device or floating type.

        Raises:
            ValueError: says which, and what to do.
        """
        if self._state is not None:
            refuse_interacting(self.module)
            now = _state_of(self.module)
            changed = _differing(self._state, now) - (self._written or set())
            if changed:
                names = ", ".join(sorted(changed))
                raise ValueError(
                    f"{names} changed since this kernel was made with copy=False; "
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

    def run(self, batch: Batch, parameters: Mapping[str, Tensor]) -> Tensor:
        """Outputs (n, c) with some parameters replaced; their values are not looked at."""
        return columns(self._returned(batch, parameters), self.output)

    def _returned(self, batch: Batch, parameters: Mapping[str, Tensor] | None = None) -> Any:
        """What the network returns, with some parameters replaced where any are given."""
        watched = self._state is not None and self._written is None
        before = _state_of(self.module) if watched else {}
        args, kwargs = _batch.arguments(batch)
        if parameters is None:
            output = self.module(*args, **kwargs)
        else:
            output = functional_call(self.module, parameters, args, kwargs)
        if watched:
            changed = _differing(before, _state_of(self.module))
            self._written = changed & {name for name, _ in self.module.named_buffers()}
        return output

    def __call__(self, batch: Batch) -> Tensor:
        """Outputs (n, c), further axes flattened.

        Raises:
            ValueError: the network failed on the batch, or its output is not one finite tensor with
                a row for every sample.
        """
        n = _batch.tensors(batch)[0].shape[0]
        try:
            output = self._returned(batch)
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


def real(tensor: Tensor) -> Tensor:
    """The tensor, or (..., 2) real and imaginary parts."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _in_precision(dtype: torch.dtype, tensor: Tensor) -> Tensor:
    """Floating-point and complex numbers of a precision; `Module.to` drops imaginary parts."""
    if tensor.is_complex():
        return tensor.to(dtype.to_complex())
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in {**before, **after} if before.get(name) != after.get(name)}


def _own(module: nn.Module) -> tuple[nn.Module, list[Tensor]]:
    try:
        return copied(module)
    except (RuntimeError, TypeError, NotImplementedError, AttributeError) as error:
        raise ValueError(
            f"the network cannot be copied ({str(error).splitlines()[0]}); use copy=False, which "
            "works on the network itself, in its own precision"
        ) from error


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
                "none has gradients of its own; call network.eval() first (running statistics "
                "needed)"
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
