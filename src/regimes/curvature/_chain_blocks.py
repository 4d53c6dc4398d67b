"""The two parts of the Hessian of a chain, layer by layer in closed form.

With u_k = A_k z_(k-1), z_k = sigma_k(u_k) and e_k = (z_k, 1), the parameters of layer k act through
u_k alone, and u_k depends on them through e_(k-1). For a point and a vector v over the outputs let

    v_k = (df/du_k)^T v,   C_km = du_m/du_k,   K_km = second derivative of v . f by u_k and u_m.

Then the second derivative of v . f by A_k[a, b] and A_m[c, d], k <= m, is

    e_(k-1)[b] e_(m-1)[d] K_km[a, c]  +  [k < m] e_(k-1)[b] v_m[c] dz_(m-1)[d]/du_k[a].

Summed over points each term is one product of matrices: of what carries b with what carries a. The
first is absent where every sigma is linear piece by piece: K = 0, so the blocks of single layers
are zero. H0 is the first term with (df/du_k)^T l'' (df/du_m) for K; of one output that is a
product of gradients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Tensor

from regimes.curvature._chain import Chain, Function
from regimes.curvature._symmetric import add_product_

Tensors = dict[str, Tensor]


@final
@dataclass(frozen=True, eq=False)
class Passed:
    """What a pass through R chains leaves, for n points.

    Attributes:
        e: what enters each layer, times its multipliers, (R or 1, n, p).
        slopes: sigma'_k(u_k), (R, n, h).
        bends: sigma''_k(u_k), (R, n, h), or None where it is zero.
        weights: of each layer, times its multiplier, (R, h, p without the bias).
        multipliers: of the weights.
        outputs: f, (R, n, c).
    """

    e: list[Tensor]
    slopes: list[Tensor]
    bends: list[Tensor | None]
    weights: list[Tensor]
    multipliers: list[float]
    outputs: Tensor

    def points(self, chosen: Tensor) -> Passed:
        """Of some of the points, as a mask (n,)."""
        if bool(chosen.all()):
            return self

        def some(t: Tensor) -> Tensor:
            return t[:, chosen]

        return replace(
            self,
            e=[some(t) for t in self.e],
            slopes=[some(t) for t in self.slopes],
            bends=[None if t is None else some(t) for t in self.bends],
            outputs=some(self.outputs),
        )


def through(chain: Chain, tensors: Tensors, x: Tensor) -> Passed:
    """The pass of inputs x, (R or 1, n, d)."""
    z, last = x, len(chain.layers) - 1
    e, slopes, bends, weights = [], [], [], []
    for k, layer in enumerate(chain.layers):
        weight = tensors[layer.weight] * layer.weight_multiplier
        u = z @ weight.mT
        entering = z * layer.weight_multiplier
        if layer.bias is not None:
            u = u + tensors[layer.bias].unsqueeze(-2) * layer.bias_multiplier
            ones = torch.full_like(z[..., :1], layer.bias_multiplier)
            entering = torch.cat([entering, ones], -1)
        e.append(entering)
        weights.append(weight)
        if k < last:
            z, slope, bend = _derivatives(chain.functions[k], u)
            slopes.append(slope)
            bends.append(bend)
    multipliers = [layer.weight_multiplier for layer in chain.layers]
    return Passed(e, slopes, bends, weights, multipliers, u)


def _derivatives(function: Function, u: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Sigma, sigma' and sigma'' at every entry; None for the last where it is zero."""
    with torch.enable_grad():
        leaf = u.detach().requires_grad_()
        z = function(leaf.clone())  # it may write over its argument
        (slope,) = torch.autograd.grad(z.sum(), leaf, create_graph=True)
        bend = None
        if slope.requires_grad:
            (bend,) = torch.autograd.grad(slope.sum(), leaf, allow_unused=True)
    if bend is not None and not bool(bend.any()):
        bend = None
    return z.detach(), slope.detach(), bend


@final
class Blocks:
    """Where the products of layers belong in matrices (R, N, N).

    Only one of a block and its mirror image is added, that above the diagonal; see `mirror_`.

    Args:
        chain: the layers.
        slices: parameter -> its entries among the N; frozen ones have none.
        weights: of the layers, for their shapes.
    """

    def __init__(self, chain: Chain, slices: dict[str, slice], weights: list[Tensor]) -> None:
        self.heights = [w.shape[-2] for w in weights]
        # of every layer its parameters with the inputs they multiply: all but the last, or the last
        self.parts: list[list[tuple[slice, slice, int]]] = []
        for layer, w in zip(chain.layers, weights, strict=True):
            width = w.shape[-1]
            found = []
            if layer.weight in slices:
                found.append((slices[layer.weight], slice(0, width), width))
            if layer.bias in slices:
                found.append((slices[layer.bias], slice(width, width + 1), 1))
            self.parts.append(found)

    def places(self, out: Tensor, k: int, m: int) -> Iterator[tuple[Tensor, slice, slice]]:
        """Views (R, a, b, c, d) of the blocks of layers k and m, with their b and d."""
        high, wide = self.heights[k], self.heights[m]
        for rows, b, p in self.parts[k]:
            for columns, d, q in self.parts[m]:
                if rows.start <= columns.start:
                    shape = (-1, high, p, wide, q)
                    yield _unfolded(out[:, rows, columns], shape), b, d
                elif k != m:
                    shape = (-1, wide, q, high, p)
                    yield _unfolded(out[:, columns, rows], shape).permute(0, 3, 4, 1, 2), b, d


def add_network_part(
    out: Tensor, blocks: Blocks, passed: Passed, v: Tensor, scale: float, strip: int
) -> None:
    """`out` += scale sum_i v_i . f''_i, above the diagonal.

    Args:
        out: (R, N, N).
        blocks: where things go.
        passed: of n points.
        v: weights of the outputs, (R, n, c).
        scale: a number.
        strip: entries of a product that may be held at a time.
    """
    last = len(passed.weights) - 1
    pulled = [v]
    curved: list[Tensor | None] = []
    for k in reversed(range(last)):
        at_z = pulled[0] @ passed.weights[k + 1]
        bend = passed.bends[k]
        curved.insert(0, None if bend is None else at_z * bend)
        pulled.insert(0, at_z * passed.slopes[k])
    for k in range(last):
        _add_second_term(out, blocks, passed, pulled, k, scale, strip)
    K: Tensor | None = None  # of the layer above
    for m in reversed(range(last)):
        bent = curved[m]
        if K is None:
            if bent is None:
                continue
            _add_single(out, blocks, passed.e[m], bent, m, scale)
            K = torch.diag_embed(bent)
        else:
            K = _below(passed, m, _below(passed, m, K).mT)
            if bent is not None:
                K.diagonal(dim1=-2, dim2=-1).add_(bent)
            _add_first_term(out, blocks, passed, K, m, m, scale, strip)
        K_km = K
        for k in reversed(range(m)):
            K_km = _below(passed, k, K_km)
            _add_first_term(out, blocks, passed, K_km, k, m, scale, strip)


def add_gauss_newton(
    out: Tensor, blocks: Blocks, passed: Passed, second: Tensor, scale: float, strip: int
) -> None:
    """`out` += scale sum_i J_i^T l''_i J_i, above the diagonal, with l'' (R, n, c, c)."""
    last, c = len(passed.weights) - 1, passed.outputs.shape[-1]
    units = torch.eye(c, dtype=second.dtype, device=second.device)
    pulled = [units.expand_as(second)]  # df/du_k, (R, n, c, h)
    for k in reversed(range(last)):
        below = pulled[0] @ passed.weights[k + 1].unsqueeze(1)
        pulled.insert(0, below * passed.slopes[k].unsqueeze(-2))
    if c == 1:
        J = out.new_empty(*passed.outputs.shape[:2], out.shape[-1])
        for parts, entering, pull in zip(blocks.parts, passed.e, pulled, strict=True):
            for rows, b, p in parts:
                place = J[..., rows].unflatten(-1, (-1, p))
                torch.mul(pull.mT, entering[..., None, b], out=place)
        add_product_(out, J, second[..., 0] * J, scale)
        return
    for m in range(last + 1):
        weighted = second @ pulled[m]
        for k in range(m + 1):
            K = pulled[k].mT @ weighted
            _add_first_term(out, blocks, passed, K, k, m, scale, strip)


def _add_first_term(
    out: Tensor, blocks: Blocks, passed: Passed, K: Tensor, k: int, m: int, scale: float, strip: int
) -> None:
    """The term of e_(k-1)[b] e_(m-1)[d] K[a, c]."""
    e, e2 = passed.e[k], passed.e[m]
    p, q = e.shape[-1], e2.shape[-1]
    left = (e.unsqueeze(-1) * e2.unsqueeze(-2)).flatten(-2).mT
    step = max(1, strip // (len(out) * p * q * K.shape[-1]))
    for start in range(0, K.shape[-2], step):
        a = slice(start, start + step)
        right = K[..., a, :]
        product = (left @ right.flatten(-2)).view(len(out), p, q, *right.shape[-2:])
        for place, b, d in blocks.places(out, k, m):
            place[:, a].add_(product[:, b, d].permute(0, 3, 1, 4, 2), alpha=scale)


def _add_single(out: Tensor, blocks: Blocks, e: Tensor, bent: Tensor, k: int, scale: float) -> None:
    """The first term of one layer where K is diagonal: a = c."""
    p = e.shape[-1]
    left = (e.unsqueeze(-1) * e.unsqueeze(-2)).flatten(-2).mT
    product = (left @ bent).unflatten(-2, (p, p))  # (R, b, d, a)
    for place, b, d in blocks.places(out, k, k):
        place.diagonal(dim1=1, dim2=3).add_(product[:, b, d], alpha=scale)


def _add_second_term(
    out: Tensor,
    blocks: Blocks,
    passed: Passed,
    pulled: list[Tensor],
    k: int,
    scale: float,
    strip: int,
) -> None:
    """The terms of e_(k-1)[b] v_m[c] dz_(m-1)[d]/du_k[a], for all m > k."""
    e, slope = passed.e[k], passed.slopes[k]
    p, h = e.shape[-1], slope.shape[-1]
    C: Tensor | None = None  # du_(m-1)/du_k, (R, n, h_(m-1), h_k)
    for m in range(k + 1, len(passed.weights)):
        v = pulled[m]
        left = (e.unsqueeze(-1) * v.unsqueeze(-2)).flatten(-2).mT
        factor = scale * passed.multipliers[m]
        if C is None:  # dz_k/du_k is diagonal: a = d
            product = (left @ slope).unflatten(-2, (p, -1))  # (R, b, c, a)
            for place, b, d in blocks.places(out, k, m):
                if d.start == 0:  # a bias multiplies no entry of z
                    place.diagonal(dim1=1, dim2=4).add_(product[:, b], alpha=factor)
            C = passed.weights[m].unsqueeze(1) * slope.unsqueeze(-2)
            continue
        dz = passed.slopes[m - 1].unsqueeze(-1) * C  # (R, n, d, a)
        step = max(1, strip // (len(out) * left.shape[-2] * dz.shape[-2]))
        for start in range(0, h, step):
            a = slice(start, start + step)
            right = dz[..., a]
            product = (left @ right.flatten(-2)).view(len(out), p, -1, *right.shape[-2:])
            for place, b, d in blocks.places(out, k, m):
                if d.start == 0:  # product is (R, b, c, d, a)
                    place[:, a].add_(product[:, b].permute(0, 4, 1, 2, 3), alpha=factor)
        C = passed.weights[m].unsqueeze(1) @ dz


def _below(passed: Passed, k: int, K: Tensor) -> Tensor:
    """(du_(k+1)/du_k)^T K."""
    return passed.slopes[k].unsqueeze(-1) * (passed.weights[k + 1].mT.unsqueeze(1) @ K)


def _unfolded(block: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A block (R, N_k, N_m) of a matrix as (R, a, b, c, d); a view."""
    return block.unflatten(2, shape[3:]).unflatten(1, shape[1:3])
