"""How passes are run: in full precision, with operations that show in the graph."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from regimes.tangent._operations import plain_operations


@contextlib.contextmanager
def arithmetic(network: nn.Module, device: torch.device, *, tf32: bool) -> Iterator[None]:
    """Full float32 unless tf32 was asked for, fused operations written out, nothing compiled.

    Fused operations have no forward mode, and the graph of compiled code shows no operations.
    """
    flags: tuple[Any, ...] = ()
    if device.type == "cuda":
        flags = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [flag.allow_tf32 for flag in flags]
    with plain_operations(network), _uncompiled():
        for flag in flags:
            flag.allow_tf32 = tf32
        try:
            yield
        finally:
            for flag, value in zip(flags, before, strict=True):
                flag.allow_tf32 = value


def _uncompiled() -> contextlib.AbstractContextManager[object]:
    """Within this, what `torch.compile` was asked to compile runs as it is written."""
    loaded = "torch._dynamo" in sys.modules  # importing it takes a second
    return torch.compiler.set_stance("force_eager") if loaded else contextlib.nullcontext()
