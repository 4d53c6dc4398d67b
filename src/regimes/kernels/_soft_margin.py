"""Soft-margin machines, with the conditions that their solution obeys [Spigler 2020, app. A]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from regimes._check import real, shown
from regimes.kernels._hard_margin import Machine, fit_machine, quiet_solver

TOLERANCE = 1e-4  # of the solver: a tenth of what the conditions are asked to hold to
_SYMMETRIC = 1e-10
_FREE = 1e-9  # of the penalty: coefficients further from 0 and C than this are free


@dataclass(frozen=True, eq=False)
class SoftMargin:
    """`f(x) = sum_m a_m Z_m K(x_m, x) + b` with 0 <= a <= C [Spigler 2020, eqs. 19 to 23]."""

    machine: Machine  # its `dual` is a_m Z_m of the support vectors
    penalty: float  # C
    violation: float  # by how much the conditions of optimality are missed, at most
    free: int  # support vectors with 0 < a < C, over which b is averaged

    def outputs(self, k: Tensor | np.ndarray) -> np.ndarray:
        """Outputs (m,) from the kernel (m, n) between points and all n training points."""
        return self.machine.outputs(np.asarray(k)[:, self.machine.chosen])

    def error(self, k: Tensor | np.ndarray, labels: Tensor | np.ndarray) -> float:
        """Fraction of points misclassified [Spigler 2020, eq. 24]."""
        return self.machine.error(np.asarray(k)[:, self.machine.chosen], np.asarray(labels))


def soft_margin(
    K: Tensor | np.ndarray,
    labels: Tensor | np.ndarray,
    *,
    penalty: float = 1e4,
    tolerance: float = TOLERANCE,
) -> SoftMargin:
    """The machine that minimises `a.Q a/2 - sum a`, `Q = Z Z' K`, `Z.a = 0`, `0 <= a <= C`.

    Solved by scikit-learn's SVC. The conditions are `Z f >= 1` where a = 0, `Z f = 1` where
    0 < a < C, `Z f <= 1` where a = C.

    Args:
        K: Gram (n, n), symmetric.
        labels: +1 and -1, (n,), both of them.
        penalty: C, for the kernel as it is given.
        tolerance: of the solver.

    Raises:
        ValueError: labels other than +1 and -1, a Gram that is not symmetric.

    >>> machine = soft_margin(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0]))
    >>> machine.machine.dual.round(6), round(machine.machine.intercept, 6) + 0.0  # 1/(1 - K_12)
    (array([-2.,  2.]), 0.0)
    """
    gram = np.asarray(K.detach().cpu() if isinstance(K, Tensor) else K, dtype=float)
    z = np.asarray(labels.detach().cpu() if isinstance(labels, Tensor) else labels, dtype=float)
    penalty = real("penalty", penalty, above=0.0)
    if z.ndim != 1 or set(np.unique(z)) != {-1.0, 1.0}:
        raise ValueError(
            f"labels must be +1 and -1, both of them, of shape (n,), got {shown(labels)} with the "
            f"values {np.unique(z)[:5].tolist()}; choose two groups of classes first"
        )
    if gram.shape != (len(z), len(z)):
        raise ValueError(f"K must be ({len(z)}, {len(z)}) for {len(z)} labels, got {gram.shape}")
    gap = float(np.abs(gram - gram.T).max())
    if not gap <= _SYMMETRIC * float(np.abs(gram).max()):
        raise ValueError(
            f"the Gram must be symmetric, K and its transpose differ by up to {gap:.3g}; give "
            "kernel(x, x)"
        )
    scale = float(np.trace(gram)) / len(gram)
    if not scale > 0:
        raise ValueError(f"the kernel's diagonal must be positive, its mean is {scale:.3g}")
    with quiet_solver():
        found = fit_machine(gram / scale, z, penalties=(penalty * scale,), tolerance=tolerance)
    dual = np.zeros(len(z))
    dual[found.chosen] = found.dual / scale
    a, sums = dual * z, gram @ dual
    free = (a > _FREE * penalty) & (a < (1 - _FREE) * penalty)
    b = float((z - sums)[free].mean()) if free.any() else found.intercept
    short = 1 - z * (sums + b)
    missed = np.where(a <= _FREE * penalty, short, np.where(free, np.abs(short), -short))
    machine = Machine(found.chosen, dual[found.chosen], b, float(np.mean(short > 0.1)))
    return SoftMargin(machine, penalty, float(max(missed.max(), 0.0)), int(free.sum()))
