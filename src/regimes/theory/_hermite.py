"""Expectations of an activation under two correlated Gaussians, by Hermite series."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]

_REACH = 13.0  # the Gaussian weight beyond is below 1e-37
_PANEL = 0.125  # with its nodes resolves the Hermite function of the largest degree
_NODES = 16
_DEGREES = (64, 256, 1024)  # tried in turn until the series is complete
_SETTLED = 1e-14  # a series that misses less of its second moment is complete to rounding
_ROWS = 1024  # samples whose coefficients are computed at once
_TILE = 256  # pairs are summed in tiles of this side, which stay in a core's cache


@dataclass(frozen=True)
class _Coefficients:
    values: Tensor  # (n, degree + 1)
    kink: Tensor  # (n,), amplitude of the kink at 0
    missing: Tensor  # (n, degree + 1), second moment beyond each degree and the kink's tail
    share: Tensor  # (n, degree + 1), the same relative to the whole second moment

    def part(self, rows: slice) -> _Coefficients:
        return _Coefficients(
            self.values[rows], self.kink[rows], self.missing[rows], self.share[rows]
        )


class HermiteSeries:
    """`E[s(u) s(v)]` and `E[s'(u) s'(v)]` for u, v Gaussian with given variances and correlation.

    With normalised Hermite polynomials he_k and `a_k(q) = E[s(sqrt(q) g) he_k(g)]`,
    `E[s(u) s(v)] = sum_k a_k(q_u) a_k(q_v) rho^k`. The coefficients come from Gauss-Legendre panels
    with an edge at 0. For a smooth s the series ends by itself; a jump c of s' at 0 (relu and its
    kin) would leave a slow tail, that of `c |u|/2`, which is added in closed form.

    `unresolved` is the largest share of `E s^2` or `E s'^2` that was missed so far, by
    Cauchy-Schwarz an estimate of the relative error of everything returned.
    """

    def __init__(self, function: Function, device: torch.device) -> None:
        self.function = function
        self.unresolved = 0.0
        edges = torch.arange(-_REACH, _REACH, _PANEL, dtype=torch.float64, device=device)
        unit, unit_weight = _gauss_legendre(_NODES, device)
        self._nodes = (edges[:, None] + _PANEL * unit).flatten()
        density = torch.exp(-(self._nodes**2) / 2) / math.sqrt(2 * math.pi)
        self._weight = (_PANEL * unit_weight).repeat(len(edges)) * density
        self._basis = _weighted_hermite(self._nodes, self._weight)
        near = torch.tensor([-1e-12, 1e-12], dtype=torch.float64, device=device)
        below, above = self._slope(near).tolist()
        self._half_jump = (above - below) / 2 if abs(above - below) > 1e-8 else 0.0
        root = self._weight.sqrt()
        self._abs = ((self._nodes.abs() * root) @ self._basis) ** 2
        self._sign = ((self._nodes.sign() * root) @ self._basis) ** 2

    def second_moment(self, q: Tensor) -> Tensor:
        """`E s(sqrt(q) g)^2` for each variance q (n,)."""
        blocks = (self.function(b.sqrt()[:, None] * self._nodes) ** 2 for b in _blocks(q, _ROWS))
        return torch.cat([block @ self._weight for block in blocks])

    def covariance(self, q1: Tensor, q2: Tensor, rho: Tensor) -> Tensor:
        """`E[s(u) s(v)]` (n, m) for variances (n,) and (m,) and correlations rho (n, m).

        Passing one tensor as q1 and q2 promises a symmetric rho, and halves the work.
        """
        closed = torch.sqrt((1 - rho**2).clamp(min=0)) + rho * torch.asin(rho)
        kinks = [self._half_jump * q.sqrt() for q in (q1, q2)]
        return self._series(self.function, (q1, q2), kinks, rho, closed * (2 / math.pi), self._abs)

    def slope_covariance(self, q1: Tensor, q2: Tensor, rho: Tensor) -> Tensor:
        """`E[s'(u) s'(v)]` (n, m), the derivative of `covariance` by the covariance of u and v."""
        closed = torch.asin(rho) * (2 / math.pi)
        kinks = [torch.full_like(q, self._half_jump) for q in (q1, q2)]
        return self._series(self._slope, (q1, q2), kinks, rho, closed, self._sign)

    def _series(
        self,
        function: Function,
        variances: tuple[Tensor, Tensor],
        kinks: list[Tensor],
        rho: Tensor,
        closed: Tensor,
        tail: Tensor,
    ) -> Tensor:
        same = variances[0] is variances[1]
        sides = [self._weighted(function, q) for q in (variances[:1] if same else variances)]
        for degree in _DEGREES:
            found = [
                self._coefficients(weighted, kink, tail[: degree + 1])
                for weighted, kink in zip(sides, kinks, strict=False)
            ]
            first, second = found[0], found[-1]
            worst = torch.maximum(first.share.amax(0), second.share.amax(0))
            settled = torch.nonzero(worst < _SETTLED)
            if len(settled):
                degree = int(settled[0])
                break
        self.unresolved = max(self.unresolved, float(worst[degree]))
        result = torch.empty_like(rho)
        for rows, columns in _tiles(*rho.shape, symmetric=same):
            correlation = rho[rows, columns].contiguous()
            tile = _partial_sum(first.part(rows), second.part(columns), correlation, degree)
            if self._half_jump:
                kink = torch.outer(first.kink[rows], second.kink[columns])
                head = _polynomial(tail[: degree + 1], correlation)
                tile += kink * (closed[rows, columns] - head)
            result[rows, columns] = tile
            if same:
                result[columns, rows] = tile.T
        return result

    def _weighted(self, function: Function, q: Tensor) -> Tensor:
        """Function values times the root of the weight, (n, nodes)."""
        root = self._weight.sqrt()
        blocks = (function(b.sqrt()[:, None] * self._nodes) * root for b in _blocks(q, _ROWS))
        return torch.cat(list(blocks))

    def _coefficients(self, weighted: Tensor, kink: Tensor, tail: Tensor) -> _Coefficients:
        values = weighted @ self._basis[:, : len(tail)]
        total = torch.linalg.vector_norm(weighted, dim=1)[:, None] ** 2
        kink_tail = kink[:, None] ** 2 * (1 - tail.cumsum(0)).clamp(min=0)
        missing = (total - (values**2).cumsum(1) - kink_tail).clamp(min=0)
        share = torch.where(total > 0, missing / torch.where(total > 0, total, 1.0), 0.0)
        return _Coefficients(values, kink, missing, share)

    def _slope(self, u: Tensor) -> Tensor:
        with torch.enable_grad():
            inputs = u.detach().requires_grad_(True)
            (slope,) = torch.autograd.grad(self.function(inputs).sum(), inputs)
        return slope.detach()


def _tiles(n: int, m: int, *, symmetric: bool) -> Iterator[tuple[slice, slice]]:
    """Square tiles of an (n, m) array, those on or above the diagonal if it is symmetric."""
    for i in range(0, n, _TILE):
        for j in range(i if symmetric else 0, m, _TILE):
            yield slice(i, i + _TILE), slice(j, j + _TILE)


def _partial_sum(first: _Coefficients, second: _Coefficients, rho: Tensor, degree: int) -> Tensor:
    """`sum_{k <= degree} a_k a_k rho^k` of one tile, and an estimate of the rest."""
    a, b = first.values.T.contiguous(), second.values.T.contiguous()
    total = torch.zeros_like(rho)
    for k in range(degree, -1, -1):
        total.mul_(rho).addcmul_(a[k, :, None], b[k])
    # What is still missing is given the next power: exact for equal inputs, small elsewhere.
    rest = torch.outer(first.missing[:, degree].sqrt(), second.missing[:, degree].sqrt())
    return total + rest * rho.clamp(min=0) ** (degree + 1)


def _polynomial(coefficients: Tensor, x: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for c in coefficients.flip(0).tolist():
        total.mul_(x).add_(c)
    return total


def _blocks(q: Tensor, height: int) -> Iterator[Tensor]:
    return (q[start : start + height] for start in range(0, len(q), height))


def _weighted_hermite(nodes: Tensor, weight: Tensor) -> Tensor:
    """Normalised Hermite polynomials times sqrt(weight), (nodes, largest degree + 1).

    The weight rides along because the bare polynomials would overflow.
    """
    columns = [weight.sqrt(), nodes * weight.sqrt()]
    for k in range(1, _DEGREES[-1]):
        columns.append((nodes * columns[k] - math.sqrt(k) * columns[k - 1]) / math.sqrt(k + 1))
    return torch.stack(columns, dim=1)


def _gauss_legendre(count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Nodes and weights on [0, 1], from the Jacobi matrix of the Legendre polynomials."""
    k = torch.arange(1, count, dtype=torch.float64)
    off = k / torch.sqrt(4 * k**2 - 1)
    nodes, vectors = torch.linalg.eigh(torch.diag(off, 1) + torch.diag(off, -1))
    return ((nodes + 1) / 2).to(device), (vectors[0] ** 2).to(device)
