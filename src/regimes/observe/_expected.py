"""How long a look will take, before there was one."""

from __future__ import annotations

import time
from typing import Any

import torch

from regimes.observe._numbers import Wanted
from regimes.tangent import TangentKernel

_SMALL = 500  # rows of the matrix whose diagonalisation is timed


def expected_seconds(kernel: TangentKernel, x: Any, wanted: Wanted, device: torch.device) -> float:
    """Seconds of one look at one probe: the plan of its Gram, and its eigenvalues.

    The Gram is the plan's own estimate, with rates measured on this machine. The time of
    eigenvalues grows at most as the third power of the rows, so a smaller matrix bounds it.
    """
    plan = kernel.plan(x)
    rows = plan.gram.rows * plan.gram.outputs
    small = min(rows, _SMALL)
    matrix = torch.ones(small, small, device=device) + torch.eye(small, device=device)
    seconds = 0.0
    for _ in range(2):  # the first call loads what later ones use
        started = time.perf_counter()
        float(torch.linalg.eigvalsh(matrix).sum())
        seconds = time.perf_counter() - started
    eigenvalues = seconds * (rows / small) ** 3
    return plan.seconds + eigenvalues * (1 + len(plan.layers) * wanted.layer_spectra)
