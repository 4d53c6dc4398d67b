"""Frozen kernels of the theme: that of the initial network, and those of given weights (S10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.data import Dataset
    from regimes.kernels import Kernel, Learned


def lazily(made: Dataset) -> Learned:
    """What the tangent kernel at initialisation learns from a data set's training points."""
    from regimes.data import Points
    from regimes.kernels import hard_margin

    train, test = Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)
    return hard_margin(initial_kernel, train, test)


def initial_kernel(x: Tensor, z: Tensor) -> Tensor:
    """The tangent kernel at initialisation in the limit of infinite width (S10, 4.22)."""
    from regimes.theory import shallow_relu_kernel

    return shallow_relu_kernel(x, z)


def network_kernel(w: Tensor, b: Tensor, beta: Tensor) -> Kernel:
    """The tangent kernel of one network with these weights, in float64 (S10)."""
    from regimes.measure import shallow_kernel

    neurons = (beta.double(), w.double(), b.double())
    return lambda x, z: shallow_kernel(*neurons, x, z)
