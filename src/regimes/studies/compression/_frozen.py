"""Frozen kernels of the theme: that of the initial network, and those of given weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import regimes as rg
from regimes.lab import Point
from regimes.studies._stripe import neurons, start
from regimes.studies._types import Dataset, Kernel, Learned, Run, Tensor


def lazily(made: Dataset) -> Learned:
    """What the tangent kernel at initialisation learns from a data set's training points."""
    return rg.kernels.hard_margin(initial_kernel, made.train, made.test)


def initial_kernel(x: Tensor, z: Tensor) -> Tensor:
    """The tangent kernel at initialisation in the limit of infinite width."""
    return rg.theory.shallow_relu_kernel(x, z)


def network_kernel(w: Tensor, b: Tensor, beta: Tensor) -> Kernel:
    """The tangent kernel of one network with these weights, in float64."""
    weights = (beta.double(), w.double(), b.double())
    return lambda x, z: rg.measure.shallow_kernel(*weights, x, z)


def stacked_kernels(parameters: Mapping[str, Tensor], x: Tensor, z: Tensor | None = None) -> Tensor:
    """The tangent kernels of stacked networks, (R, n, m), in the precision of their weights."""
    w, b, beta = neurons(parameters)
    return rg.measure.shallow_kernel(beta, w, b, x, z)


def frozen_flow(
    point: Point, made: Dataset, seed: int, width: int, *, test: bool = False, **options: Any
) -> Run:
    """Hinge flow with the frozen initial kernel of one network, in float64.

    With `test` it has predictions for the test points too. Options are those of `kernel_flow`.
    """
    import torch

    own = made.to(torch.float64, point.device)
    first = start(own.in_shape[0], width, [seed], dtype="float64", device=point.device)
    if test:
        options["gram_test"] = stacked_kernels(first, own.x_test, own.x_train)[0]
        options["y_test"] = own.y_test
    options.setdefault("rule", rg.flow.StepRule(first="weights", shrink=2.0))
    return rg.flow.kernel_flow(stacked_kernels(first, own.x_train)[0], own.y_train, **options)
