"""How well linear models on the features of the start and of the end do."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from regimes.diagnosis._accuracy import accuracy
from regimes.diagnosis._case import Case, Found
from regimes.diagnosis._kernels import PER_BATCH
from regimes.diagnosis._machine import kernel_ridge
from regimes.diagnosis._words import MEANINGS
from regimes.tangent import TangentKernel

FITTED, TRIED = 300, 200  # points that a linear model is fitted to, and tried on
_LEAST = 40  # points together, below which none is fitted
_POWER = 1.5  # of the number of points, with which a Gram's time grows about


def linear_models(case: Case, found: Found) -> None:
    """Kernel ridge regression with both tangent kernels, fitted to the training probes."""
    known, held = case.known, case.held
    if held is None:
        half = len(known) // 2
        rows = torch.arange(len(known))
        known, held = known.part(rows[:half]), known.part(rows[half:])
    share = _affordable(case, min(FITTED, len(known)) + min(TRIED, len(held)))
    known, held = (
        part.first(round(share * min(most, len(part))))
        for part, most in ((known, FITTED), (held, TRIED))
    )
    if len(known) < 2 or not len(held) or (share < 1 and len(known) + len(held) < _LEAST):
        if share < 1:
            found.warnings.append(
                f"The budget of {case.watch.budget:g} s left no time for linear models."
            )
        return
    if share < 1:
        found.warnings.append(
            f"The budget of {case.watch.budget:g} s allowed linear models of {len(known)} points, "
            f"tried on {len(held)}."
        )
    x = _joined(known.x, held.x)
    targets = torch.cat([each.targets(case.outputs) for each in (known, held)])
    for moment, network in case.networks.items():
        name = {"before": "start", "after": "end"}[moment]
        case.watch.say(f"a linear model on the features of the {name}")
        kernel = TangentKernel(network, copy=False, memory=case.memory, output=case.pick)
        gram: Tensor = kernel(x, outputs="trace" if case.outputs > 1 else "full")
        predicted = kernel_ridge(gram, targets.to(gram.device), len(known))
        key = f"linear_accuracy_{name}"
        found.numbers[key] = accuracy(predicted, held, MEANINGS[key])


def _affordable(case: Case, points: int) -> float:
    """Share of the points that the time left allows, from what batches of kernels took."""
    if case.watch.left == float("inf"):
        return 1.0
    took = case.watch.seconds.get("kernels", 0.0)
    seen = len(case.known) + (0 if case.held is None else 2 * PER_BATCH)
    each = took * min(PER_BATCH, seen) / max(seen, 1)  # seconds of a batch
    asked = each * (points / PER_BATCH) ** _POWER
    return min(1.0, (max(case.watch.left, 0.0) / max(asked, 1e-9)) ** (1 / _POWER))


def _joined(a: Any, b: Any) -> Any:
    return pytree.tree_map(lambda u, v: torch.cat([u, v]) if isinstance(u, Tensor) else u, a, b)
