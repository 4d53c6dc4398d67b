"""Matrix products whose sums are kept in at least float32.

In bfloat16 the factors are rounded but the sums are not: on a GPU the matrix units accumulate and
return float32, on a CPU, which has no such product, the rounded factors are multiplied in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor


def product(a: Tensor, b: Tensor) -> Tensor:
    """A @ b.T for (r, k) and (s, k), in float32 or better."""
    if a.dtype != torch.bfloat16:
        return a @ b.T
    if a.is_cuda:
        return torch.mm(a, b.T, out_dtype=torch.float32)
    return a.float() @ b.float().T


def add_product_(out: Tensor, a: Tensor, b: Tensor) -> None:
    """Out += a @ b.T in place."""
    if a.dtype != torch.bfloat16:
        out.addmm_(a, b.T)
    elif a.is_cuda and out.is_contiguous():
        torch.addmm(out, a, b.T, out_dtype=torch.float32, out=out)
    else:
        out += product(a, b)
