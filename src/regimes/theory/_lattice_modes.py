"""Modes of a periodic kernel on a lattice: its spectrum, and the interpolant in Fourier space.

The lattice of N^d points in [0, 1]^d tells a frequency w from none of its images `w + 2 pi m N`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from regimes._check import positive_int, shown
from regimes.theory._lattice_error import Density
from regimes.theory._operator_spectra import OperatorSpectrum

_MODES = 10**7  # frequencies that are held at once


def lattice_spectrum(
    log_kappa: Density, N: int, d: int = 1, *, images: int | None = None
) -> OperatorSpectrum:
    """Eigenvalues of `f -> mean over x' of K(x, x') f(x')` on the lattice, decreasing.

    For `K(x) = sum_w kappa(w) e^(i w x)` they are `kappa*(w) = sum_m kappa(w + 2 pi m N)`, one for
    each w of the Brillouin zone [Spigler 2020, app. F]: those of the Gram over its points.

    Args:
        log_kappa: logarithm of kappa, from |w| to values of the same shape.
        N: points along each direction.
        d: directions, 1 to 3.
        images: on either side in each direction; None: 2000, 30, 6 for d = 1, 2, 3.

    >>> flat = lattice_spectrum(lambda w: -w, 3)  # kappa = exp(-|w|)
    >>> flat.values.round(6).tolist(), int(flat.multiplicity.sum())
    ([1.0, 0.001871, 0.001871], 3)
    """
    weight, _ = _images(log_kappa, N, d, images)
    values = np.sort(np.exp(weight).sum(tuple(range(0, 2 * d, 2))).ravel())[::-1]
    return OperatorSpectrum(values, np.ones(len(values), dtype=int))


def lattice_interpolant(
    values: ArrayLike, log_kappa: Density, *, finer: int = 4, images: int | None = None
) -> np.ndarray:
    """What regression without a ridge makes of values on a lattice, on one `finer` times as fine.

    Its modes are `Z*(w) kappa(w)/kappa*(w)`, with `Z*` the modes of the values [Spigler 2020, eq.
    36]. Every finer-th value is the one that was given.

    Args:
        values: on the lattice, (N,), (N, N) or (N, N, N).
        log_kappa: logarithm of the kernel's kappa, from |w| to values of the same shape.
        finer: points for each point of the lattice along each direction.
        images: as in `lattice_spectrum`.

    >>> between = lattice_interpolant([1.0, 0.0, -1.0, 0.0], lambda w: -10 * w)
    >>> wave = np.cos(2 * np.pi * np.arange(16) / 16)
    >>> bool(abs(between - wave).max() < 1e-12)
    True
    """
    given = np.asarray(values, dtype=float)
    d = given.ndim
    if d not in (1, 2, 3) or len(set(given.shape)) != 1 or not np.isfinite(given).all():
        raise ValueError(
            "values must be finite numbers on a lattice, of shape (N,), (N, N) or (N, N, N), got "
            f"{shown(values)}"
        )
    N, finer = len(given), positive_int("finer", finer)
    weight, k = _images(log_kappa, N, d, images)
    over = tuple(range(0, 2 * d, 2))
    # the kernel enters by ratios alone, so that smooth ones do not underflow
    raised = np.exp(weight - weight.max(over, keepdims=True))
    share = raised / raised.sum(over, keepdims=True)
    modes = np.fft.fftn(given) / N**d
    zone = k[0] % N  # the same for every image
    own = modes[np.ix_(*[zone] * d)].reshape([1 if i % 2 == 0 else N for i in range(2 * d)])
    fine = np.zeros((finer * N,) * d, dtype=complex)
    for part in itertools.product(range(len(k)), repeat=d):
        places = np.ix_(*[k[m] % (finer * N) for m in part])
        image = tuple(piece for m in part for piece in (m, slice(None)))
        np.add.at(fine, places, (share[image] * own.reshape((N,) * d)))
    return (np.fft.ifftn(fine) * (finer * N) ** d).real


def _images(
    log_kappa: Density, N: int, d: int, images: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Log kappa on (images, zone) of every direction, and the numbers k (images, zone) of one."""
    N, d = positive_int("N", N), positive_int("d", d)
    if d > 3:
        raise ValueError(f"d must be 1, 2 or 3, got {d}; image sums grow as images^d")
    images = (2000, 30, 6)[d - 1] if images is None else positive_int("images", images)
    k = np.arange(N) - N // 2 + N * np.arange(-images, images + 1)[:, None]
    if k.size**d > _MODES:
        least = math.floor((_MODES ** (1 / d) / N - 1) / 2)
        raise ValueError(
            f"{k.size}^{d} frequencies are more than {_MODES}; give at most images={least}, or "
            "fewer points"
        )
    square = np.zeros(())
    for axis in range(d):
        shape = [1] * (2 * d)
        shape[2 * axis : 2 * axis + 2] = k.shape
        square = square + ((2 * np.pi * k) ** 2).reshape(shape)
    return np.asarray(log_kappa(np.sqrt(square)), dtype=float), k
