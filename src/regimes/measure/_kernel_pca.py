"""Kernel PCA: leading eigenfunctions on the samples, and how the label projects on them."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regimes._check import real
from regimes.measure._centering import center
from regimes.measure._eigenpairs import gram_eigs
from regimes.measure._kernel import check_gram, check_tensor, clip_rounding


@dataclass(frozen=True)
class KernelPCA:
    """Leading eigenfunctions of a kernel on p samples."""

    values: Tensor  # (r,), operator eigenvalues: those of the Gram divided by p
    functions: Tensor  # (r, p), eigenvectors scaled to mean square 1, sign fixed
    trace: float  # trace of the operator, Tr K / p, all modes
    centered: bool

    def projections(self, y: Tensor) -> Tensor:
        """`omega_r^2 = <phi_r|y>^2 / p^2`, (r,); over all modes they sum to `|y|^2/p`."""
        y = check_tensor("y", y)
        p = self.functions.shape[1]
        if y.shape != (p,):
            raise ValueError(f"y must have shape ({p},), got {tuple(y.shape)}")
        return (self.functions @ y.to(self.functions) / p) ** 2

    def rkhs_norm(self, y: Tensor, *, ridge: float = 0.0, trace_one: bool = False) -> Tensor:
        """Estimate `sum_r omega_r^2 / (lam_r + ridge)` of the squared RKHS norm of y.

        Args:
            y: target (p,).
            ridge: added to every eigenvalue. Without it the sum is dominated by modes that are
                zero to rounding, and an exactly zero eigenvalue is an error.
            trace_one: divide the eigenvalues by the trace first, so that kernels of different
                scale compare (COMP-41 uses this with ridge 0.01).
        """
        lam = self.values / (self.trace if trace_one else 1.0)
        shifted = lam + real("ridge", ridge, above=-1e-300)
        if bool((shifted <= 0).any()):
            raise ValueError("some eigenvalues are zero: give a positive ridge or keep fewer modes")
        return (self.projections(y) / shifted).sum()


def kernel_pca(G: Tensor, r: int | None = None, *, centered: bool = False) -> KernelPCA:
    """Leading r eigenpairs of a Gram as functions [Paccolat 2021, sec. 5.1].

    `phi_r = sqrt(p) v_r` with unit eigenvectors v_r, operator eigenvalue `eig(K)/p`.

    Args:
        G: Gram (p, p).
        r: number of modes; None for all.
        centered: double-centre the Gram first. The source's formulas are raw; with a raw kernel
            the first mode is nearly constant, so report both.

    >>> import torch
    >>> y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    >>> pca = kernel_pca(torch.outer(y, y), 1)
    >>> pca.values, pca.functions, pca.projections(y)
    (tensor([1.]), tensor([[ 1.,  1., -1., -1.]]), tensor([1.]))
    """
    G = check_gram("G", G)
    if G.ndim != 2:
        raise ValueError(f"G must be a Gram (p, p) of one output, got {tuple(G.shape)}")
    K = center(G, "class") if centered else G
    pairs = gram_eigs(K, r)
    p = len(G)
    return KernelPCA(
        clip_rounding("G", pairs.values, G.dtype) / p,
        pairs.vectors * p**0.5,
        float(K.diagonal().double().mean()),
        centered,
    )
