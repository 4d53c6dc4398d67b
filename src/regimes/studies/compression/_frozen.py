"""Frozen kernels of the theme: that of the initial network, and those of given weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regimes.lab import Point
from regimes.studies._types import Dataset, Kernel, Learned, Run, Tensor
from regimes.studies.compression._stripe import neurons, start


def lazily(made: Dataset) -> Learned:
    """What the tangent kernel at initialisation learns from a data set's training points."""
    from regimes.data import Points
    from regimes.kernels import hard_margin

    train, test = Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)
    return hard_margin(initial_kernel, train, test)


def initial_kernel(x: Tensor, z: Tensor) -> Tensor:
    """The tangent kernel at initialisation in the limit of infinite width."""
    from regimes.theory import shallow_relu_kernel

    return shallow_relu_kernel(x, z)


def network_kernel(w: Tensor, b: Tensor, beta: Tensor) -> Kernel:
    """The tangent kernel of one network with these weights, in float64."""
    from regimes.measure import shallow_kernel

    weights = (beta.double(), w.double(), b.double())
    return lambda x, z: shallow_kernel(*weights, x, z)


def stacked_kernels(parameters: Mapping[str, Tensor], x: Tensor, z: Tensor | None = None) -> Tensor:
    """The tangent kernels of stacked networks, (R, n, m), in the precision of their weights."""
    from regimes.measure import shallow_kernel

    w, b, beta = neurons(parameters)
    return shallow_kernel(beta, w, b, x, z)


def frozen_flow(
    point: Point, made: Dataset, seed: int, width: int, *, test: bool = False, **options: Any
) -> Run:
    """Hinge flow with the frozen initial kernel of one network, in float64.

    With `test` it has predictions for the test points too. Options are those of `kernel_flow`.
    """
    import torch

    from regimes import flow

    own = made.to(torch.float64, point.device)
    first = start(own.in_shape[0], width, [seed], dtype="float64", device=point.device)
    if test:
        options["gram_test"] = stacked_kernels(first, own.x_test, own.x_train)[0]
        options["y_test"] = own.y_test
    return flow.kernel_flow(stacked_kernels(first, own.x_train)[0], own.y_train, **options)
