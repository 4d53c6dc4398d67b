"""How much is written out at a time."""

from __future__ import annotations

import torch


def right_limit(device: torch.device) -> int:
    """Bytes of a written-out right factor at a time: what a CPU's cache holds, or a GPU fills."""
    return 4 * 2**20 if device.type == "cpu" else 2**30


def left_limit(device: torch.device) -> int:
    """Bytes of written-out gradients at a time: small enough that a CPU reuses the memory."""
    return 20 * 2**20 if device.type == "cpu" else 2**40


def sum_limit(device: torch.device) -> int:
    """Terms of a sum in float32 that cost no digits when a CPU adds them one by one."""
    return 2**14 if device.type == "cpu" else 2**20
