"""Exact eigenvalues of kernels of the chord distance on the circle and the sphere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regimes._check import positive_int


@dataclass(frozen=True, eq=False)
class OperatorSpectrum:
    """Eigenvalues of `f -> mean over x' of K(x, x') f(x')`, of all modes together K(0)."""

    values: np.ndarray  # (levels,), one for each degree
    multiplicity: np.ndarray  # (levels,)

    def all(self) -> np.ndarray:
        """Every eigenvalue as often as it is there, in the order of the degrees."""
        return np.repeat(self.values, self.multiplicity)


def circle_spectrum(
    kernel: Callable[[np.ndarray], np.ndarray], levels: int, *, nodes: int = 2**18
) -> OperatorSpectrum:
    """Eigenvalues on the circle of radius 1, points drawn evenly: Fourier coefficients of K.

    `lambda_k = (1/2 pi) int K(2 sin(|a|/2)) cos(k a) da`, once for k = 0 and twice for others.

    Args:
        kernel: K of the distance, vectorised.
        levels: degrees k = 0, ..., levels-1.
        nodes: of the transform; its error is that of modes around `nodes`.

    >>> spectrum = circle_spectrum(lambda r: 1 - r**2 / 2, 3)  # cos(a)
    >>> (spectrum.values.round(6) + 0).tolist(), spectrum.multiplicity.tolist()
    ([0.0, 0.5, 0.0], [1, 2, 2])
    """
    levels, nodes = positive_int("levels", levels), positive_int("nodes", nodes)
    if 2 * levels > nodes:
        raise ValueError(f"{levels} levels need more than {2 * levels} nodes, got {nodes}")
    angle = 2 * np.pi * np.arange(nodes) / nodes
    found = np.fft.rfft(kernel(2 * np.abs(np.sin(angle / 2)))).real / nodes
    return OperatorSpectrum(found[:levels], np.where(np.arange(levels) == 0, 1, 2))


def sphere_spectrum(
    kernel: Callable[[np.ndarray], np.ndarray], levels: int, *, nodes: int = 4000
) -> OperatorSpectrum:
    """Eigenvalues on the sphere S^2, points drawn evenly: Legendre integrals of K.

    `lambda_l = (1/2) int_-1^1 K P_l(t) dt` with `t = 1 - r^2/2`, 2l+1 times. Over the distance r in
    [0, 2] the integrand is smooth where K is a smooth function of r.

    Args:
        kernel: K of the distance, vectorised.
        levels: degrees l = 0, ..., levels-1.
        nodes: of the quadrature, several for each degree.

    >>> spectrum = sphere_spectrum(lambda r: 1 - r**2 / 2, 3)  # P_1
    >>> (spectrum.values.round(6) + 0).tolist(), spectrum.multiplicity.tolist()
    ([0.0, 0.333333, 0.0], [1, 3, 5])
    """
    levels, nodes = positive_int("levels", levels), positive_int("nodes", nodes)
    if 2 * levels > nodes:
        raise ValueError(f"{levels} levels need more than {2 * levels} nodes, got {nodes}")
    from scipy.special import roots_legendre  # numpy's takes nodes^3 steps

    at, weights = roots_legendre(nodes)
    r = at + 1
    t, measured = 1 - r**2 / 2, kernel(r) * r * weights / 2
    before, now = np.ones_like(t), t
    found = [measured.sum(), (measured * t).sum()]
    for degree in range(1, levels - 1):  # Bonnet's recursion
        before, now = now, ((2 * degree + 1) * t * now - degree * before) / (degree + 1)
        found.append((measured * now).sum())
    return OperatorSpectrum(np.array(found[:levels]), 2 * np.arange(levels) + 1)
