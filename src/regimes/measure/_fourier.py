"""Fourier content of the eigenvectors of a kernel on a line."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.measure._eigenpairs import gram_eigs
from regimes.measure._kernel import check_gram


@dataclass(frozen=True)
class FourierDecomposition:
    """Frequencies of every eigenvector, in cycles over the grid."""

    magnitudes: Tensor  # (n // 2 + 1, n): row = frequency, column = rank of the eigenvector
    peak_frequency: Tensor  # (n,), integer frequency of the largest magnitude
    mean_frequency: Tensor  # (n,), frequency averaged with weight magnitude^2
    values: Tensor  # (n,), eigenvalues, decreasing


def fourier_decomposition(K: Tensor) -> FourierDecomposition:
    """`|rfft|` of every eigenvector of a kernel on an equally spaced 1-D grid.

    [Baratin 2021, fig. 8]. Centre the kernel first if the constant mode is of no interest.
    Eigenvectors of a degenerate eigenvalue, zero included, are arbitrary within their span.

    Args:
        K: kernel (n, n) on n equally spaced points, in their order.

    >>> x = torch.arange(8) * torch.pi / 4
    >>> wave = torch.cos(2 * x)                                # two cycles over the grid
    >>> decomposition = fourier_decomposition(torch.outer(wave, wave))
    >>> int(decomposition.peak_frequency[0]), round(float(decomposition.mean_frequency[0]), 4)
    (2, 2.0)
    """
    K = check_gram("K", K)
    if K.ndim != 2:
        raise ValueError(f"K must be a kernel (n, n) of one output, got {tuple(K.shape)}")
    pairs = gram_eigs(K, method="dense")
    magnitudes = torch.fft.rfft(pairs.vectors, dim=1).abs().T
    frequency = torch.arange(len(magnitudes), dtype=K.dtype, device=K.device)
    energy = magnitudes**2
    return FourierDecomposition(
        magnitudes,
        magnitudes.argmax(dim=0),
        frequency @ energy / energy.sum(dim=0),
        pairs.values,
    )
