"""Eigenfunctions of a kernel off the samples, and the metric that shares its spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import choose, positive_int
from regimes.measure._eigenpairs import fix_signs, positive_modes
from regimes.measure._kernel import check_tensor

_NORMALISATIONS = {"sample": False, "population": True}


@dataclass(frozen=True)
class EigenFunctions:
    """Eigenfunctions evaluated on points, in one of two normalisations."""

    values: Tensor  # (k,), eigenvalues in that normalisation
    functions: Tensor  # (k, m) or (k, m, c)


@dataclass(frozen=True)
class SharedSpectrum:
    """Leading eigenvalues of metric and kernel, which [Baratin 2021, prop. 4] says are equal."""

    metric: Tensor  # (r,), of Phi^T Phi
    kernel: Tensor  # (r,), of Phi Phi^T
    gap: float  # largest difference, relative to the largest eigenvalue


@dataclass(frozen=True)
class PrincipalDirections:
    """Right singular vectors of the tangent features."""

    directions: Tensor  # (k, P), unit rows
    singular_values: Tensor  # (k,), square roots of the kernel's eigenvalues


def eigenfunctions(
    values: Tensor, vectors: Tensor, K_new: Tensor, *, normalisation: str = "sample"
) -> EigenFunctions:
    """Extend eigenvectors of a Gram to new points: `u_J(x) = k(x, X) u_J / lam_J`.

    [Baratin 2021, eq. 47]. On the samples themselves it returns the eigenvectors, with their
    sign. In "sample" normalisation the functions are orthonormal for `<f,g> = sum_i f(x_i).g(x_i)`;
    in "population" normalisation (eqs. 3 and 28 there) for the mean over samples: eigenvalues
    `lam/n`, functions times `sqrt(n)`.

    Args:
        values: eigenvalues (k,) of the Gram of the n samples, positive.
        vectors: its eigenvectors as rows, (k, n) or (k, n, c), as `gram_eigs` returns them.
        K_new: kernel of new points with the samples, (m, n) or (m, c, n, c); centre it with
            `center_cross` if the Gram was centred.
        normalisation: "sample" or "population".

    >>> K = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> u = torch.tensor([[1.0, 1.0]]) / 2**0.5
    >>> eigenfunctions(torch.tensor([3.0]), u, K).functions
    tensor([[0.7071, 0.7071]])
    """
    values, vectors = check_tensor("values", values), check_tensor("vectors", vectors)
    K_new = check_tensor("K_new", K_new)
    population = choose(normalisation, _NORMALISATIONS, "normalisation")
    if (vectors.ndim, K_new.ndim) not in ((2, 2), (3, 4)):
        raise ValueError(
            "vectors (k, n) go with K_new (m, n), and (k, n, c) with (m, c, n, c); got "
            f"{tuple(vectors.shape)} and {tuple(K_new.shape)}"
        )
    if K_new.shape[K_new.ndim // 2 :] != vectors.shape[1:] or values.shape != vectors.shape[:1]:
        raise ValueError(
            f"values {tuple(values.shape)}, vectors {tuple(vectors.shape)} and K_new "
            f"{tuple(K_new.shape)} do not share modes and samples"
        )
    n = vectors.shape[1]
    lam = positive_modes(values.double())
    rows = vectors.double().reshape(len(vectors), -1)
    new = K_new.double().reshape(-1, rows.shape[1])
    functions = (rows @ new.T / lam[:, None]).reshape(len(rows), *K_new.shape[: K_new.ndim // 2])
    if population:
        lam, functions = lam / n, functions * n**0.5
    return EigenFunctions(lam.to(values.dtype), functions.to(vectors.dtype))


def metric(features: Tensor, *, expectation: bool = False) -> Tensor:
    """Sampled metric `G = Phi^T Phi`, or its expectation form `g = G/n`, (P, P).

    [Baratin 2021, eqs. 22 and 40]; for small P only.

    Args:
        features: tangent features (n, P) or (n, c, P).
        expectation: divide by the number of samples n.

    >>> metric(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    tensor([[1., 2.],
            [2., 5.]])
    """
    features = check_tensor("features", features)
    rows = _rows(features)
    return rows.T @ rows / (len(features) if expectation else 1)


def shared_spectrum(features: Tensor) -> SharedSpectrum:
    """Leading min(nc, P) eigenvalues of metric and kernel, each from its own matrix.

    `Phi^T Phi` and `Phi Phi^T` share their non-zero spectrum [Baratin 2021, prop. 4].

    >>> shared_spectrum(torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])).gap < 1e-6
    True
    """
    rows = _rows(check_tensor("features", features)).double()
    if not bool(rows.any()):
        raise ValueError("features are zero, so no spectrum is shared")
    r = min(rows.shape)
    of_metric = torch.linalg.eigvalsh(rows.T @ rows).flip(0)[:r]
    of_kernel = torch.linalg.eigvalsh(rows @ rows.T).flip(0)[:r]
    gap = float((of_metric - of_kernel).abs().max() / of_kernel.abs().max())
    return SharedSpectrum(of_metric.to(features.dtype), of_kernel.to(features.dtype), gap)


def principal_directions(features: Tensor, k: int) -> PrincipalDirections:
    """Top k parameter directions `v_J = Phi^T u_J / sqrt(lam_J)` [Baratin 2021, eq. 41].

    Args:
        features: tangent features (n, P) or (n, c, P).
        k: number of directions, at most min(nc, P).

    >>> principal_directions(torch.tensor([[0.0, 3.0], [0.0, 4.0]]), 1)
    PrincipalDirections(directions=tensor([[0., 1.]]), singular_values=tensor([5.]))
    """
    rows = _rows(check_tensor("features", features))
    k = positive_int("k", k)
    if k > min(rows.shape):
        raise ValueError(f"features of shape {tuple(rows.shape)} have no {k} singular vectors")
    _, singular_values, right = torch.linalg.svd(rows.double(), full_matrices=False)
    directions = fix_signs(right[:k]).to(features.dtype)
    return PrincipalDirections(directions, singular_values[:k].to(features.dtype))


def _rows(features: Tensor) -> Tensor:
    if features.ndim not in (2, 3):
        raise ValueError(
            f"features must have shape (n, P) or (n, c, P), got {tuple(features.shape)}"
        )
    return features.reshape(-1, features.shape[-1])
