"""Devices: what the user may say, and whether this machine has it."""

from __future__ import annotations

import torch

from regimes._check import shown


def known_device(device: torch.device | str | int) -> torch.device:
    """A device that can be used here, or a ValueError that says why it cannot.

    >>> known_device("cpu")
    device(type='cpu')
    >>> known_device("gpu")
    Traceback (most recent call last):
    ...
    ValueError: device must be a torch device, such as 'cpu' or 'cuda', got 'gpu'
    """
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(
            f"device must be a torch device, such as 'cpu' or 'cuda', got {shown(device)}"
        ) from None
    if found.type == "cuda":
        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not there:
            raise ValueError(
                f"device {str(found)!r} was asked for, but torch {torch.__version__} sees no GPU; "
                "take 'cpu', or install a torch for your GPU"
            )
        if found.index is not None and found.index >= there:
            raise ValueError(
                f"device {str(found)!r} was asked for, but the last GPU that torch sees is "
                f"'cuda:{there - 1}'"
            )
    return found
