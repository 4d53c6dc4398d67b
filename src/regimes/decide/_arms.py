"""The two arms as users name them: by the gap of their means, or one by one."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes._check import shown

Number = float | Tensor
Arms = float | Tensor | tuple[Number, Number]


def arm_pair(arms: Arms, *, certain: bool = False) -> tuple[Tensor, Tensor]:
    """Probabilities of a reward, `(k_A, k_B)` under the hypothesis that A is the better arm.

    A number (or a tensor of them) is the gap mu of [Geiger 2022, eq. 4], `k = (1 +- mu)/2`; a pair
    is (k_A, k_B) itself. Both come back in float64, of one shape. Arms that always win or never do
    are refused unless `certain`, for closed forms speak of odds.

    >>> arm_pair(0.5)
    (tensor(0.7500, dtype=torch.float64), tensor(0.2500, dtype=torch.float64))
    """
    if isinstance(arms, tuple | list):
        if len(arms) != 2:
            raise ValueError(
                f"arms must be the gap mu or the pair (k_A, k_B), got {len(arms)} of them"
            )
        bounds = {"closed": (certain, certain)}
        k_a, k_b = number("k_A", arms[0], 0, 1, **bounds), number("k_B", arms[1], 0, 1, **bounds)
    else:
        gap = number("the gap mu between the arms", arms, 0, 1)
        k_a, k_b = (1 + gap) / 2, (1 - gap) / 2
    k_a, k_b = torch.broadcast_tensors(k_a, k_b)
    if not bool((k_a > k_b).all()):
        raise ValueError(
            f"arm A is the better one of the pair: k_A must be above k_B, got {shown(arms)}"
        )
    return k_a, k_b


def number(
    name: str, value: Number, least: float, most: float, *, closed: tuple[bool, bool] = (False,) * 2
) -> Tensor:
    """`value` as a float64 tensor whose entries all lie between the bounds.

    `closed` says which of the two bounds themselves are allowed.

    >>> number("r", 0.1, 0, 1)
    tensor(0.1000, dtype=torch.float64)
    """
    try:
        tensor = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        tensor = torch.tensor(torch.nan)
    inside = (tensor >= least) if closed[0] else (tensor > least)
    inside &= (tensor <= most) if closed[1] else (tensor < most)
    if isinstance(value, bool) or not bool(inside.all()) or tensor.numel() == 0:
        left, right = "[" if closed[0] else "(", "]" if closed[1] else ")"
        raise ValueError(f"{name} must lie in {left}{least:g}, {most:g}{right}, got {shown(value)}")
    return tensor


def whole(name: str, value: int | Tensor, least: int = 1) -> Tensor:
    """`value` as a tensor of integers of at least `least`.

    >>> whole("M", 3)
    tensor(3)
    """
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        tensor = torch.tensor(torch.nan)
    kind = tensor.dtype
    if kind.is_floating_point or kind.is_complex or kind == torch.bool or not tensor.numel():
        tensor = torch.tensor(least - 1)
    if not bool((tensor >= least).all()):
        raise ValueError(f"{name} must be an integer >= {least}, got {shown(value)}")
    return tensor
