"""The learning curve that follows from a spectrum alone [Spigler 2020, app. I]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import shown

_STEPS = 200  # of the bisection in log kappa; each halves an interval of some hundred


@dataclass(frozen=True, eq=False)
class GenericCurve:
    """Predicted errors, and the two numbers they are made of."""

    n: np.ndarray  # (k,)
    error: np.ndarray  # (k,)
    t: np.ndarray  # (k,), of `t = sum lambda/(1 + lambda n/t)`
    gamma: np.ndarray  # (k,), `sum lambda^2/(1 + lambda n/t)^2`


def generic_curve(
    eigenvalues: ArrayLike, powers: ArrayLike, n: ArrayLike | Sequence[float]
) -> GenericCurve:
    """`E MSE = sum q^2 (1 + lambda n/t)^-2 / (1 - n gamma/t^2)` [Spigler 2020, eqs. 51 to 54].

    t solves `sum lambda/(lambda + kappa) = n`, kappa = t/n, by bisection in log kappa. A target
    drawn from the kernel's own field, `q^2 = lambda`, has the error t exactly.

    Args:
        eigenvalues: of the operator, positive, (modes,).
        powers: q^2 of the target in each mode, (modes,), so that they sum to its variance.
        n: training points, each below the number of modes.

    >>> lam = np.arange(1.0, 20001) ** -2
    >>> curve = generic_curve(lam, lam, [100, 200])
    >>> bool(np.allclose(curve.error, curve.t))
    True
    """
    lam, q2 = np.asarray(eigenvalues, dtype=float), np.asarray(powers, dtype=float)
    sizes = np.atleast_1d(np.asarray(n, dtype=float))
    if lam.ndim != 1 or q2.shape != lam.shape or not ((lam > 0) & np.isfinite(lam)).all():
        raise ValueError(
            f"eigenvalues must be positive numbers (modes,) and powers as many, got "
            f"{shown(eigenvalues)} and {shown(powers)}"
        )
    if not (np.isfinite(q2).all() and (q2 >= 0).all()):
        raise ValueError("powers are squares: they must be finite and not negative")
    if not ((sizes > 0) & (sizes < len(lam))).all():
        raise ValueError(
            f"n must lie between 0 and the number of modes, {len(lam)}, got {shown(n)}; give more "
            "eigenvalues"
        )
    t, gamma, error = (np.empty_like(sizes) for _ in range(3))
    for k, size in enumerate(sizes):
        kappa = _kappa(lam, size)
        left = kappa / (lam + kappa)  # 1/(1 + lambda n/t)
        t[k], gamma[k] = size * kappa, ((lam * left) ** 2).sum()
        error[k] = (q2 * left**2).sum() / (1 - size * gamma[k] / t[k] ** 2)
    return GenericCurve(sizes, error, t, gamma)


def _kappa(lam: np.ndarray, n: float) -> float:
    """Where `sum lambda/(lambda + kappa)` is n; it falls with kappa."""
    low, high = np.log(lam.min()) - 50, np.log(lam.sum() / n) + 1
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if (lam / (lam + np.exp(middle))).sum() > n:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))
