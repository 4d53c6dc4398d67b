"""Rademacher complexity of linear classes and learning flows, exact and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.measure._kernel import check_gram, check_tensor

_LARGEST_ENUMERATION = 20  # 2^19 sign vectors; each more sample doubles the work
_CHUNK = 1 << 14


@dataclass(frozen=True)
class RademacherComplexity:
    """A Rademacher complexity, enumerated or sampled."""

    value: float
    error: float  # standard error of the sampling; 0 when every sign vector was visited
    exact: bool


def rescaled_kernel(features: Tensor, A: Tensor) -> Tensor:
    """`K_A = Phi (A A^T)^{-1} Phi^T`, the kernel of the features `A^{-1} Phi`, (n, n).

    [Baratin 2021, eq. 9]. Features (n, c, P) give (n, c, n, c).

    >>> rescaled_kernel(torch.eye(2), 2 * torch.eye(2))
    tensor([[0.2500, 0.0000],
            [0.0000, 0.2500]])
    """
    features, A = check_tensor("features", features), check_tensor("A", A)
    parameters = features.shape[-1]
    if A.shape != (parameters, parameters):
        raise ValueError(f"A must have shape ({parameters}, {parameters}), got {tuple(A.shape)}")
    rescaled = torch.linalg.solve(A, features.reshape(-1, parameters).T).T
    return (rescaled @ rescaled.T).reshape(*features.shape[:-1], *features.shape[:-1])


def rescaled_norm(w: Tensor, A: Tensor) -> Tensor:
    """`|w|_A = |A^T w|_2` [Baratin 2021, eq. 9].

    >>> rescaled_norm(torch.tensor([3.0, 4.0]), 2 * torch.eye(2))
    tensor(10.)
    """
    w, A = check_tensor("w", w), check_tensor("A", A)
    if w.ndim != 1 or A.shape != (len(w), len(w)):
        raise ValueError(
            f"w must have shape (P,) and A (P, P), got {tuple(w.shape)} and {tuple(A.shape)}"
        )
    return torch.linalg.vector_norm(A.T @ w)


def rademacher_linear(
    K: Tensor, M: float, *, samples: int = 10_000, seed: int = 0
) -> RademacherComplexity:
    """Complexity `(M/n) E_sigma sqrt(sigma^T K sigma)` of the linear class `|w| <= M`.

    [Baratin 2021, eq. 61]. All sign vectors are visited for n <= 20; otherwise `samples` of
    them are drawn and the standard error is given.

    Args:
        K: kernel (n, n) of the class (`rescaled_kernel` for a norm `|w|_A <= M`).
        M: radius of the class.
        samples: number of sign vectors when n > 20.
        seed: of that draw.

    >>> rademacher_linear(torch.eye(4), 1.0)
    RademacherComplexity(value=0.5, error=0.0, exact=True)
    """
    return rademacher_flow([(M, K)], samples=samples, seed=seed)


def bound_linear(K: Tensor, M: float) -> float:
    """`(M/n) sqrt(Tr K)`, at least the complexity and at most sqrt(2) times it.

    [Baratin 2021, eqs. 10 and 60].

    >>> bound_linear(torch.eye(4), 1.0)
    0.5
    """
    return bound_flow([(M, K)])


def rademacher_flow(
    steps: Iterable[tuple[float, Tensor]], *, samples: int = 10_000, seed: int = 0
) -> RademacherComplexity:
    """Complexity `(1/n) sum_t m_t E_sigma sqrt(sigma^T K_t sigma)` of a learning flow.

    [Baratin 2021, eq. 65]; enumeration and sampling as in `rademacher_linear`.

    Args:
        steps: pairs (m_t, K_t): bound on the length of step t, and its kernel (n, n).
        samples: number of sign vectors when n > 20.
        seed: of that draw.

    >>> rademacher_flow([(1.0, torch.eye(4)), (2.0, torch.eye(4))]).value
    1.5
    """
    radii, kernels = _flow(steps)
    n = len(kernels[0])
    exact = n <= _LARGEST_ENUMERATION
    samples, seed = positive_int("samples", samples, least=2), positive_int("seed", seed, least=0)
    count = 2 ** (n - 1) if exact else samples
    total = square = 0.0
    for signs in _all_signs(n) if exact else _random_signs(n, count, seed):
        sigma = signs.to(kernels[0])
        sup = sum(
            m * ((sigma @ K) * sigma).sum(1).clamp(min=0).sqrt()
            for m, K in zip(radii, kernels, strict=True)
        )
        total += float(torch.as_tensor(sup).sum()) / n
        square += float((torch.as_tensor(sup) ** 2).sum()) / n**2
    mean = total / count
    spread = max(square / count - mean**2, 0.0)
    error = 0.0 if exact else (spread / (count - 1)) ** 0.5
    return RademacherComplexity(mean, error, exact)


def bound_flow(steps: Iterable[tuple[float, Tensor]]) -> float:
    """`sum_t (m_t/n) sqrt(Tr K_t)` [Baratin 2021, eqs. 12, 14, 64 and 67].

    Args:
        steps: pairs (m_t, K_t): bound on the length of step t, and its kernel (n, n).

    >>> bound_flow([(1.0, torch.eye(4)), (2.0, torch.eye(4))])
    1.5
    """
    radii, kernels = _flow(steps)
    n = len(kernels[0])
    return sum(m / n * float(K.trace()) ** 0.5 for m, K in zip(radii, kernels, strict=True))


def _flow(steps: Iterable[tuple[float, Tensor]]) -> tuple[Sequence[float], Sequence[Tensor]]:
    radii, kernels = [], []
    for m, K in steps:
        radii.append(real("radius", m, above=-1e-300))
        kernels.append(check_gram("kernel", K).double())
    if not kernels:
        raise ValueError("steps is empty: give at least one pair (m_t, K_t)")
    if any(K.ndim != 2 or K.shape != kernels[0].shape for K in kernels):
        shapes = sorted({tuple(K.shape) for K in kernels})
        raise ValueError(f"every kernel must have one shape (n, n), got {shapes}")
    return radii, kernels


def _all_signs(n: int) -> Iterator[Tensor]:
    """Every sign vector up to a global sign, which sqrt(sigma^T K sigma) does not see."""
    bits = torch.arange(n - 1)
    for start in range(0, 2 ** (n - 1), _CHUNK):
        code = torch.arange(start, min(start + _CHUNK, 2 ** (n - 1)))
        signs = 1 - 2 * ((code[:, None] >> bits) & 1)
        yield torch.cat([signs, torch.ones(len(code), 1, dtype=signs.dtype)], dim=1)


def _random_signs(n: int, count: int, seed: int) -> Iterator[Tensor]:
    draws = generator(seed, "rademacher")
    for start in range(0, count, _CHUNK):
        shape = (min(_CHUNK, count - start), n)
        yield 2 * torch.randint(0, 2, shape, generator=draws) - 1
