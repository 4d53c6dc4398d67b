"""Hard-margin machines: what hinge flow with a frozen kernel comes to in the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from regimes._check import positive_int, real
from regimes.kernels._values import Kernel, kernel_values

if TYPE_CHECKING:
    from torch import Tensor

    from regimes.data import Points


PENALTY = 1e8  # C of the machine: large, so that no margin is violated where data are separable
ITERATIONS = 5_000_000  # of the solver; only data that the kernel cannot separate need so many
VIOLATED = 0.9  # a margin below is missed by more than the solver's own tolerance explains
UNIT = 1e-6  # how far the mean diagonal of a Gram may be from 1


@dataclass(frozen=True)
class Learned:
    """What a machine learned from one training set."""

    error: float  # fraction of test points misclassified
    support: float  # fraction of training points that are support vectors
    unfitted: float  # fraction of training points whose margin is violated by more than a tenth


@dataclass(frozen=True, eq=False)
class Machine:
    """A hard-margin machine: a sum of the kernel over its support vectors."""

    chosen: np.ndarray  # (s,), numbers of the support vectors
    dual: np.ndarray  # (s,), their coefficients
    intercept: float
    unfitted: float  # fraction of training points whose margin is violated by more than a tenth

    def outputs(self, values: np.ndarray) -> np.ndarray:
        """Outputs (m,) from the kernel (m, s) between points and the support vectors."""
        return values @ self.dual + self.intercept

    def error(self, values: np.ndarray, labels: np.ndarray) -> float:
        """Fraction of points misclassified, from the same values and labels +-1 (m,)."""
        return float(np.mean(self.outputs(values) * labels <= 0))


def hard_margin(kernel: Kernel, train: Points, test: Points) -> Learned:
    """The limit of frozen-kernel hinge flow: `SVC(C=1e8)` on a Gram.

    See docs/themes/compression.md, "Frozen-kernel training".

    The Gram is divided by its mean diagonal, so that the penalty means the same for every kernel.
    Unlike the flow, the machine has an intercept and goes on to the largest margin.

    Args:
        kernel: from inputs (n, ...) and (m, ...) to values (n, m).
        train: training points, labels +-1.
        test: test points, labels +-1.

    >>> import torch
    >>> from regimes.data import Points
    >>> line = Points(torch.tensor([[-2.0], [-1.0], [3.0]]), torch.tensor([-1.0, -1.0, 1.0]))
    >>> near_middle = Points(torch.tensor([[0.9], [1.1]]), torch.tensor([-1.0, 1.0]))
    >>> hard_margin(lambda x, z: x @ z.T, line, near_middle).error
    0.0
    """
    labels, test_labels = _labels("train.y", train.y), _labels("test.y", test.y)
    gram = kernel_values(kernel, train.x, train.x)
    scale = np.trace(gram) / len(gram)
    if not scale > 0:
        raise ValueError(f"the kernel's diagonal must be positive, its mean is {scale:.3g}")
    with quiet_solver():
        machine = fit_machine(gram / scale, labels)
    machine = replace(machine, dual=machine.dual / scale)  # for the kernel as it was given
    values = kernel_values(kernel, test.x, train.x[machine.chosen])
    return Learned(
        error=machine.error(values, test_labels),
        support=len(machine.chosen) / len(labels),
        unfitted=machine.unfitted,
    )


def fit_machine(
    gram: np.ndarray,
    labels: np.ndarray,
    *,
    penalties: Sequence[float] = (PENALTY,),
    iterations: int | None = None,
    tolerance: float = 1e-3,
) -> Machine:
    """`SVC` on a Gram whose mean diagonal is 1.

    The first penalty with which the solver finishes is taken, else the last: what a kernel of low
    rank cannot separate has no solution with an infinite one.

    Args:
        gram: (n, n).
        labels: +-1, (n,), both of them.
        penalties: the machine's C, tried in this order.
        iterations: of the solver, at most; five million unless told.
        tolerance: by how much the conditions of optimality may be missed where it stops.

    >>> x = np.array([-1.0, 1.0])
    >>> machine = fit_machine(np.outer(x, x), x)
    >>> machine.outputs(np.outer([0.5], x[machine.chosen])).round(6).tolist()
    [0.5]
    """
    from sklearn.svm import SVC

    _check_gram(gram, labels)
    if not len(penalties):
        raise ValueError("give at least one penalty")
    most = ITERATIONS if iterations is None else positive_int("iterations", iterations)
    tolerance = real("tolerance", tolerance, above=0.0)
    for penalty in penalties:
        cost = real("a penalty", penalty, above=0.0)
        machine = SVC(kernel="precomputed", C=cost, tol=tolerance, cache_size=1000, max_iter=most)
        if machine.fit(gram, labels).fit_status_ == 0:  # an unfinished solution is one too
            break
    chosen, dual = machine.support_, machine.dual_coef_[0]
    found = Machine(chosen, dual, float(machine.intercept_[0]), 0.0)
    margins = labels * found.outputs(gram[:, chosen])
    return replace(found, unfitted=float(np.mean(margins < VIOLATED)))


@contextmanager
def quiet_solver() -> Iterator[None]:
    """Without the solver's warnings: `fit_machine` knows when it has not come to its end.

    Not within threads, whose filters of warnings are the same ones; around them.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _labels(name: str, y: Tensor) -> np.ndarray:
    labels = y.double().cpu().numpy()
    if labels.ndim != 1 or not np.isin(labels, (-1, 1)).all():
        raise ValueError(f"{name} must hold labels +1 and -1 of shape (n,), got {y}")
    return labels


def _check_gram(gram: np.ndarray, labels: np.ndarray) -> None:
    if gram.ndim != 2 or gram.shape != (len(labels), len(labels)):
        raise ValueError(
            f"gram must have shape (n, n) for n labels, got {gram.shape} and {labels.shape}"
        )
    if not np.isfinite(gram).all():
        raise ValueError("gram holds NaN or infinite entries; find where they came from first")
    if set(np.unique(labels)) != {-1, 1}:
        raise ValueError(
            f"labels must be +1 and -1, both of them, got the values {np.unique(labels)}"
        )
    mean = float(np.trace(gram) / len(gram))
    if abs(mean - 1) > UNIT:
        raise ValueError(
            f"the mean diagonal of gram must be 1, so that a penalty means the same for every "
            f"kernel, got {mean:.6g}: divide gram by np.trace(gram) / len(gram)"
        )
