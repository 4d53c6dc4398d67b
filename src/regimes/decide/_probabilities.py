"""Checks of what must be probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from regimes._check import shown

if TYPE_CHECKING:
    from torch import Tensor


def tensor(name: str, values: Any) -> Tensor:
    """`values` as a finite tensor of floats: float64 unless it is a tensor of another float."""
    try:
        x = (
            values
            if isinstance(values, torch.Tensor)
            else torch.tensor(values, dtype=torch.float64)
        )
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} must be an array of numbers, got {shown(values)}") from None
    if not x.is_floating_point():
        if x.is_complex():
            raise ValueError(f"{name} must be real, got {x.dtype}")
        x = x.double()
    if not bool(x.isfinite().all()):
        raise ValueError(f"{name} holds NaN or infinity; give finite numbers")
    return x


def probabilities(
    name: str, values: Any, shape: tuple[int, ...], dim: int, words: str, over: str = ""
) -> Tensor:
    """`values` as probabilities of shape (..., *shape) that sum to one along `dim`.

    Args:
        name: how the error calls them.
        values: a tensor, or numbers nested in lists.
        shape: of the last axes; -1 is free.
        dim: the axis that sums to one, -1 or -2.
        words: what the axes mean, for the error.
        over: what the sums are over, where the axis says it badly.

    >>> probabilities("start", [0.5, 0.6], (2,), -1, "of each state")
    Traceback (most recent call last):
    ...
    ValueError: start must sum to one along axis -1 (of each state), but a sum is 1.1; divide ...
    """
    x = tensor(name, values)
    given = tuple(x.shape)
    fits = len(given) >= len(shape) and all(
        n in (-1, own) for n, own in zip(shape, given[-len(shape) :], strict=True)
    )
    if not fits or x.numel() == 0:
        wanted = ", ".join("n" if n == -1 else str(n) for n in shape)
        raise ValueError(f"{name} must have shape (..., {wanted}) ({words}), got {given}")
    if bool((x < 0).any()):
        raise ValueError(
            f"{name} must not be negative ({words}), but an entry is {x.min().item():g}"
        )
    along = f"over {over}" if over else f"along axis {dim}"
    close = 1e-9 if x.dtype == torch.float64 else 1e-5
    sums = x.detach().sum(dim)
    off = (sums - 1).abs()
    if bool((off > close).any()):
        worst = sums.flatten()[off.argmax()].item()
        other = "divide by the sums, or take a softmax"
        if dim == -2 and bool(((x.detach().sum(-1) - 1).abs() <= close).all()):
            other = "over the other index they do, so exchange the two"
        raise ValueError(
            f"{name} must sum to one {along} ({words}), but a sum is {worst:.12g}; {other}"
        )
    return x


def same_kind(name: str, x: Tensor, other: Tensor, other_name: str) -> None:
    """Raise unless two tensors have one dtype and one device."""
    if x.dtype != other.dtype or x.device != other.device:
        raise ValueError(
            f"{name} is {x.dtype} on {x.device} and {other_name} {other.dtype} on "
            f"{other.device}; convert one with .to(...)"
        )


def members(**leading: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of the members of several arguments, or a ValueError that names them.

    >>> members(policy=(3,), reset=(2,))
    Traceback (most recent call last):
    ...
    ValueError: members do not fit together: policy has (3,), reset has (2,)
    """
    try:
        return tuple(torch.broadcast_shapes(*leading.values()))
    except RuntimeError:
        told = ", ".join(f"{name} has {tuple(shape)}" for name, shape in leading.items() if shape)
        raise ValueError(f"members do not fit together: {told}") from None
