"""The exact error of kernel regression on a periodic lattice [Spigler 2020, app. F].

On a lattice of spacing delta = 1/N in [0, 1]^d every frequency w of the Brillouin zone is told from
its images `w + 2 pi m N` by nobody. With `F*(w) = sum_m F(w + 2 pi m N)` and kernels
`K(x) = sum_w kappa(w) e^(i w x)`, the error averaged over teachers and test points is

    sum_{w in zone} kT* - 2 (kT kS)*/kS* + kT* (kS^2)*/(kS*)^2          [Spigler 2020, eq. 39]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from regimes._check import positive_int, real

Density: TypeAlias = Callable[[np.ndarray], np.ndarray]
_ENTRIES = 2**22  # frequencies looked at together


@dataclass(frozen=True)
class LatticeError:
    """An error and how much of it may be missing."""

    value: float
    truncation: float  # by how much it changes when half of the images are left out
    N: int  # points along each direction
    d: int
    images: int  # along each direction, on either side


def lattice_error(
    log_kappa_T: Density, log_kappa_S: Density, N: int, d: int = 1, *, images: int | None = None
) -> LatticeError:
    """The mean squared error on a lattice of N^d points, summed over all frequencies.

    Densities are given as logarithms, so that those of smooth students do not underflow. Images
    are summed as arrays. The part that is cut off falls as `images^-(alpha_T - d)`.

    Args:
        log_kappa_T: logarithm of the teacher's kappa, from |w| to values of the same shape.
        log_kappa_S: the same of the student.
        N: points along each direction.
        d: directions, 1 to 3.
        images: on either side in each direction; None: 2000, 30, 6 for d = 1, 2, 3.

    >>> rough = lambda w: -np.log(1 + w**2)  # alpha = 2
    >>> coarse, fine = (lattice_error(rough, rough, N).value for N in (32, 64))
    >>> round(float(np.log2(coarse / fine)), 2)  # beta = 1
    1.0
    """
    N, d = positive_int("N", N), positive_int("d", d)
    if d > 3:
        raise ValueError(f"d must be 1, 2 or 3, got {d}; image sums grow as images^d")
    images = (2000, 30, 6)[d - 1] if images is None else positive_int("images", images, least=2)
    zone = np.arange(N) - N // 2
    shifts = N * np.arange(-images, images + 1)
    # frequencies along one direction, (images, zone); the first is done some places at a time
    line = 2 * np.pi * (shifts[:, None] + zone)
    own = (len(shifts) * N) ** (d - 1) * len(shifts)
    step = max(1, _ENTRIES // own)
    whole = half = 0.0
    for start in range(0, N, step):
        axes = [line[:, start : start + step], *[line] * (d - 1)]
        w = _radius(axes)
        whole += _summed(log_kappa_T, log_kappa_S, w, d)
        inner = slice(images - images // 2, images + images // 2 + 1)
        half += _summed(log_kappa_T, log_kappa_S, w[(inner, slice(None)) * d], d)
    return LatticeError(whole, abs(whole - half), N, d, images)


def _radius(axes: list[np.ndarray]) -> np.ndarray:
    """|w| on (images, zone) of every direction."""
    square = np.zeros(())
    for k, axis in enumerate(axes):
        shape = [1] * (2 * len(axes))
        shape[2 * k : 2 * k + 2] = axis.shape
        square = square + (axis**2).reshape(shape)
    return np.sqrt(square)


def _summed(log_T: Density, log_S: Density, w: np.ndarray, d: int) -> float:
    over = tuple(range(0, 2 * d, 2))
    T, logs = np.exp(log_T(w)), log_S(w)
    # kS enters by ratios alone, so that each place of the zone may have its own unit
    S = np.exp(logs - logs.max(over, keepdims=True))
    T1, S1 = T.sum(over, keepdims=True), S.sum(over, keepdims=True)
    share = S / S1
    # sum of T (1 - share)^2 + (T1 - T) share^2: the same sum, without cancellation
    return float((T * (1 - share) ** 2 + (T1 - T) * share**2).sum())


def lattice_error_direct(K_T: Density, K_S: Density, N: int, *, nodes: int = 64) -> float:
    """The same error for d = 1 by solving on the lattice, with test points over one cell.

    Slow and obvious: for N up to some hundred.

    Args:
        K_T: the teacher's periodic kernel, from displacements to values.
        K_S: the student's.
        N: points in [0, 1].
        nodes: of the quadrature over the cell.

    >>> flat = lambda x: np.cosh(0.5 - np.abs(x) % 1) / np.sinh(0.5)  # kappa = 2/(1 + w^2)
    >>> log_kappa = lambda w: np.log(2 / (1 + w**2))
    >>> formula = lattice_error(log_kappa, log_kappa, 8).value
    >>> abs(formula / lattice_error_direct(flat, flat, 8) - 1) < 1e-3
    True
    """
    N, nodes = positive_int("N", N), positive_int("nodes", nodes)
    x = np.arange(N) / N
    at, weights = np.polynomial.legendre.leggauss(nodes)
    test = (at + 1) / 2 / N
    between = x[:, None] - x
    W = np.linalg.solve(K_S(between), K_S(x[:, None] - test))
    errors = K_T(np.zeros(())) - 2 * (W * K_T(x[:, None] - test)).sum(0)
    errors = errors + (W * (K_T(between) @ W)).sum(0)
    return float(errors @ weights / 2)


def lattice_expansion(
    alpha_T: float,
    alpha_S: float,
    kappa_ratio: Density,
    N: int,
    *,
    printed: bool = False,
) -> float:
    """Leading order of `lattice_error` for small spacing, d = 1 and `kappa ~ w^-alpha`.

    `sum_w 2 psi_aT(w delta) delta^aT + (psi_2aS + psi_aS^2)(w delta) delta^(2 aS) kT/kS^2`, with
    `psi_a(q) = sum_{m != 0} |q + 2 pi m|^-a`. The paper's equation lacks the square of psi_aS,
    which is of the same order (docs/themes/kernels.md, "Misprints").

    Args:
        alpha_T: exponent of the teacher, `kappa_T -> w^-alpha_T`.
        alpha_S: exponent of the student.
        kappa_ratio: `kappa_T/kappa_S^2`, from |w| in the zone to values.
        N: points in [0, 1].
        printed: leave out the term that the paper leaves out [Spigler 2020, eq. 41].

    >>> ratio = lambda w: (1 + w**2) ** -2.5  # alpha_T = 9, alpha_S = 2
    >>> parts = [lattice_expansion(9, 2, ratio, 64, printed=p) for p in (True, False)]
    >>> round(parts[1] / parts[0], 1)
    6.0
    """
    from scipy.special import zeta

    N = positive_int("N", N)
    alpha_T, alpha_S = real("alpha_T", alpha_T, above=1), real("alpha_S", alpha_S, above=1)
    w = 2 * np.pi * (np.arange(N) - N // 2)
    q = w / N / (2 * np.pi)

    def psi(a: float) -> np.ndarray:
        return (2 * math.pi) ** -a * (zeta(a, 1 + q) + zeta(a, 1 - q))

    square = 0.0 if printed else psi(alpha_S) ** 2
    student = (psi(2 * alpha_S) + square) * N ** (-2 * alpha_S) * kappa_ratio(np.abs(w))
    return float((2 * psi(alpha_T) * N**-alpha_T + student).sum())
