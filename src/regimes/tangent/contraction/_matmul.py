"""Matrix products whose sums are kept in at least float32.

In bfloat16 the factors are rounded but the sums are not: on a GPU the matrix units accumulate and
return float32, on a CPU, which has no such product, the rounded factors are multiplied in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.tangent.contraction._cache_sizes import sum_limit


def product(a: Tensor, b: Tensor) -> Tensor:
    """A @ b.T for (r, k) and (s, k), in float32 or better."""
    if a.dtype != torch.bfloat16:
        return a @ b.T
    if a.is_cuda:
        return torch.mm(a, b.T, out_dtype=torch.float32)
    return a.float() @ b.float().T


def add_product_(out: Tensor, a: Tensor, b: Tensor) -> None:
    """Out += a @ b.T in place, in pieces: of a few rows, products add millions of terms in turn."""
    step = sum_limit(a.device)
    for start in range(0, a.shape[1], step):
        _add_piece_(out, a[:, start : start + step], b[:, start : start + step])


def _add_piece_(out: Tensor, a: Tensor, b: Tensor) -> None:
    if a.dtype != torch.bfloat16:
        out.addmm_(a, b.T)
    elif a.is_cuda and out.is_contiguous():
        torch.addmm(out, a, b.T, out_dtype=torch.float32, out=out)
    else:
        out += product(a, b)
