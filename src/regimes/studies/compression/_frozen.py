"""Frozen kernels: what a hard-margin machine learns from a kernel that does not move (S12)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regimes.data import Dataset, Points

    Kernel: TypeAlias = Callable[[Tensor, Tensor], Tensor]


PENALTY = 1e8  # C of the machine: large, so that no margin is violated where data are separable
ITERATIONS = 5_000_000  # of the solver; only data that the kernel cannot separate need so many
_ENTRIES = {"cpu": 2**20, "cuda": 2**26}  # kernel values made at once: what caches hold, or memory


@dataclass(frozen=True)
class Learned:
    """What a machine learned from one training set."""

    error: float  # fraction of test points misclassified
    support: float  # fraction of training points that are support vectors
    unfitted: float  # fraction of training points whose margin is violated by more than a tenth


def hard_margin(kernel: Kernel, train: Points, test: Points) -> Learned:
    """The limit of frozen-kernel hinge flow: `SVC(C=1e8)` on the Gram of `kernel` (S12).

    The Gram is divided by its mean diagonal, so that the penalty means the same for every kernel.
    Unlike the flow, the machine has an intercept and goes on to the largest margin.

    Args:
        kernel: from inputs (n, d) and (m, d) to values (n, m).
        train: training points.
        test: test points.
    """
    import numpy as np

    gram = values(kernel, train.x, train.x)
    labels = train.y.double().cpu().numpy()
    with quiet():
        machine = fit(gram / (np.trace(gram) / len(gram)), labels)
    scale, chosen = np.trace(gram) / len(gram), machine.chosen
    outputs = values(kernel, test.x, train.x[chosen]) @ (machine.dual / scale)
    wrong = (outputs + machine.intercept) * test.y.double().cpu().numpy() <= 0
    return Learned(
        error=float(np.mean(wrong)),
        support=len(chosen) / len(labels),
        unfitted=machine.unfitted,
    )


def lazily(made: Dataset) -> Learned:
    """What the tangent kernel at initialisation learns from a data set's training points."""
    from regimes.data import Points

    train, test = Points(made.x_train, made.y_train), Points(made.x_test, made.y_test)
    return hard_margin(initial_kernel, train, test)


@dataclass(frozen=True, eq=False)
class Machine:
    """A hard-margin machine: outputs are `gram[:, chosen] @ dual + intercept`."""

    chosen: np.ndarray  # numbers of the support vectors
    dual: np.ndarray
    intercept: float
    unfitted: float  # fraction of training points whose margin is violated by more than a tenth


def fit(
    gram: np.ndarray,
    labels: np.ndarray,
    *,
    penalties: Sequence[float] = (PENALTY,),
    iterations: int | None = None,
) -> Machine:
    """`SVC` on a Gram (n, n) whose mean diagonal is 1.

    The first penalty with which the solver finishes is taken, else the last: what a kernel of low
    rank cannot separate has no solution with an infinite one.
    """
    import numpy as np
    from sklearn.svm import SVC

    for penalty in penalties:
        machine = SVC(
            kernel="precomputed", C=penalty, cache_size=1000, max_iter=iterations or ITERATIONS
        )
        if machine.fit(gram, labels).fit_status_ == 0:  # an unfinished solution is one too
            break
    chosen, dual, intercept = machine.support_, machine.dual_coef_[0], machine.intercept_[0]
    margins = labels * (gram[:, chosen] @ dual + intercept)
    return Machine(chosen, dual, float(intercept), float(np.mean(margins < 0.9)))


@contextmanager
def quiet() -> Iterator[None]:
    """Without the solver's warnings: `fit` knows when it has not come to its end.

    Not within threads, whose filters of warnings are the same ones; around them.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def values(kernel: Kernel, x: Tensor, z: Tensor) -> np.ndarray:
    """The kernel (n, m) in float64 on the CPU, made some rows at a time where x and z are."""
    import torch

    rows = max(1, _ENTRIES[x.device.type] // len(z))
    parts = [kernel(part, z).double().cpu() for part in x.split(rows)]
    return torch.cat(parts).numpy()


def initial_kernel(x: Tensor, z: Tensor) -> Tensor:
    """The tangent kernel at initialisation in the limit of infinite width (S10, 4.22)."""
    from regimes.theory import shallow_relu_kernel

    return shallow_relu_kernel(x, z)


def network_kernel(w: Tensor, b: Tensor, beta: Tensor) -> Kernel:
    """The tangent kernel of one network with these weights, in float64 (S10)."""
    from regimes.measure import shallow_kernel

    neurons = (beta.double(), w.double(), b.double())
    return lambda x, z: shallow_kernel(*neurons, x, z)
