"""The tangent kernel of the trained networks: how far it moves, and what it learns when frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.studies.compression import _stripe as shared

if TYPE_CHECKING:
    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.lab import Point


def kernel_changes(
    point: Point, width: int, sets: Mapping[int, Dataset], run: Run, dtype: str
) -> np.ndarray:
    """Relative change of the kernel of every member, on points of its own."""
    import torch

    from regimes import measure

    each = len(run.status) // len(sets)
    found = []
    for i, (seed, made) in enumerate(sets.items()):
        x = made.probes["kernel"].x.to(device=point.device, dtype=getattr(torch, dtype))
        first = shared.start(x.shape[1], width, [seed], dtype=dtype, device=point.device)
        before = _kernel(first, x)[0]
        own = {name: v[i * each : (i + 1) * each] for name, v in run.parameters.items()}
        found += [float(measure.kernel_change(after, before)) for after in _kernel(own, x)]
    return np.array(found)


def frozen(point: Point, width: int, made: Dataset, seed: int, max_steps: int) -> dict[str, float]:
    """Test error and t* of the same network's frozen initial kernel."""
    import torch

    from regimes import flow, theory

    own, d = made.to(torch.float64, point.device), made.in_shape[0]
    first = shared.start(d, width, [seed], dtype="float64", device=point.device)
    run = flow.kernel_flow(
        _kernel(first, own.x_train)[0],
        own.y_train,
        _kernel(first, own.x_test, own.x_train)[0],
        y_test=own.y_test,
        max_steps=max_steps,
    )
    tau = theory.stripe_tau(width, d)
    return {
        "frozen_error": float(run.test_errors[0]),
        "frozen_t_star": float(run.event_times["t_star"][0]) / tau,
    }


def _kernel(parameters: Any, x: Any, z: Any = None) -> Any:
    from regimes import measure

    weights, bias, beta = shared.neurons(parameters)
    return measure.shallow_kernel(beta, weights, bias, x, z)
