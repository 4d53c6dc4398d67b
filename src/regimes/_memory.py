"""Memory budgets: what the user may say, and what is free."""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from typing import Any

import torch

from regimes._check import shown

_UNITS = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_UNITS |= {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def parse_bytes(memory: str | int | None, device: torch.device) -> int:
    """Bytes meant by `memory`: a number, "2GiB", "500 MB", or None for a share of what is free.

    >>> parse_bytes("2GiB", torch.device("cpu")) == 2 * 2**30
    True
    """
    if memory is None:
        return int(free_bytes(device) * (0.5 if device.type == "cpu" else 0.9))
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]+)\s*", memory)
        if not found or found[2].lower() not in _UNITS:
            raise ValueError(
                f"memory must be bytes or text such as '2GiB' or '500MB', got {memory!r}"
            )
        memory = int(float(found[1]) * _UNITS[found[2].lower()])
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise ValueError(f"memory must be a positive number of bytes, got {shown(memory)}")
    return memory


def free_bytes(device: torch.device) -> int:
    """Memory that can be taken now without swapping."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return free + cached
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 - not a real file
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux: fall through to the portable, coarser answer
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def give_back() -> None:
    """Return to the system what the C library keeps of freed tensors.

    Blocks below 32 MiB come from a heap that keeps the gaps between tensors of many sizes: a call
    in many passes grows to twice what it holds at any moment. Costs a millisecond or so, so it is
    for calls that memory forces into several passes. Does nothing where the C library is not glibc.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or another system
        return None


def readable(count: float) -> str:
    """Bytes for people.

    >>> readable(3 * 2**30)
    '3.0 GiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
