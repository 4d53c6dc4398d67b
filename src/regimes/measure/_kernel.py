"""The two forms of a Gram, (n, n) and (n, c, n, c), and the checks every measure of one shares."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from regimes._check import choose, positive_int

_ORDERS = {"sample": True, "class": False}

# How far rounding may push a Gram from symmetry or from a non-negative spectrum, relative to its
# largest entry or eigenvalue. Single precision covers kernels accumulated over millions of weights.
_ROUNDING = {torch.float64: 1e-8, torch.float32: 1e-3, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def rounding(dtype: torch.dtype) -> float:
    """Relative error that rounding explains in a Gram of this dtype."""
    return _ROUNDING[dtype]


def check_tensor(name: str, value: object) -> Tensor:
    """`value` if it is a non-empty, finite, real floating-point tensor, else a ValueError."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if value.dtype not in _ROUNDING:
        raise ValueError(f"{name} must have a real floating-point dtype, got {value.dtype}")
    if value.numel() == 0:
        raise ValueError(f"{name} is empty: its shape is {tuple(value.shape)}")
    if not bool(torch.isfinite(value).all()):
        raise ValueError(f"{name} holds NaN or infinite entries; find where they came from first")
    return value


def check_gram(name: str, K: object) -> Tensor:
    """`K` if it is a finite Gram of shape (n, n) or (n, c, n, c), else a ValueError."""
    K = check_tensor(name, K)
    square = (K.ndim == 2 and K.shape[0] == K.shape[1]) or (
        K.ndim == 4 and K.shape[:2] == K.shape[2:]
    )
    if not square:
        raise ValueError(f"{name} must have shape (n, n) or (n, c, n, c), got {tuple(K.shape)}")
    return K


def check_symmetric(name: str, K: object) -> Tensor:
    """The Gram as an (nc, nc) matrix in its own dtype, refused if it is not symmetric.

    Solvers read one triangle only, so a matrix that is not symmetric would be misread in silence.
    """
    K = check_gram(name, K)
    matrix = flatten_kernel(K)
    gap = max(
        float((rows - matrix[:, start : start + len(rows)].T).abs().max())
        for start, rows in row_blocks(matrix)
    )
    if gap > rounding(K.dtype) * float(matrix.abs().max()):
        raise ValueError(
            f"{name} must be symmetric; entries differ from their mirror by up to {gap:.3g} "
            "(is it a cross-Gram of two sets?)"
        )
    return matrix


def symmetric_matrix(name: str, K: object) -> Tensor:
    """The Gram as a float64 (nc, nc) matrix, made exactly symmetric."""
    matrix = check_symmetric(name, K).double()
    return (matrix + matrix.T) / 2


def clip_rounding(name: str, lam: Tensor, dtype: torch.dtype) -> Tensor:
    """Eigenvalues with negatives that rounding explains set to 0; larger ones are an error."""
    least, largest = float(lam.min()), float(lam.max())
    if least < -rounding(dtype) * max(largest, -least):
        raise ValueError(
            f"{name} is not positive semi-definite: it has an eigenvalue {least:.3g} beside a "
            f"largest one of {largest:.3g}"
        )
    return lam.clamp(min=0)


def row_blocks(matrix: Tensor, entries: int = 1 << 24) -> Iterator[tuple[int, Tensor]]:
    """(first row, block of rows) of about `entries` numbers each, to bound temporary memory."""
    height = max(1, entries // matrix.shape[1])
    for start in range(0, len(matrix), height):
        yield start, matrix[start : start + height]


def double_product(matrix: Tensor, columns: Tensor) -> Tensor:
    """`matrix @ columns` accumulated in float64 without a float64 copy of the whole matrix."""
    return torch.cat([rows.double() @ columns for _, rows in row_blocks(matrix)])


def flatten_kernel(K: Tensor, order: str = "sample") -> Tensor:
    """Write a kernel (n, c, m, c) as a matrix (nc, mc); an (n, m) kernel is returned as it is.

    `order="sample"` puts output y of sample i in row i*c + y, `order="class"` in row y*n + i
    [Baratin 2021, app. A.4].

    >>> K = torch.arange(16.0).reshape(2, 2, 2, 2)
    >>> flatten_kernel(K)[1].tolist()                    # sample 0, output 1
    [4.0, 5.0, 6.0, 7.0]
    >>> flatten_kernel(K, "class")[1].tolist()           # sample 1, output 0
    [8.0, 10.0, 9.0, 11.0]
    """
    sample_major = choose(order, _ORDERS, "order")
    if K.ndim == 2:
        return K
    if K.ndim != 4 or K.shape[1] != K.shape[3]:
        raise ValueError(f"kernel must have shape (n, m) or (n, c, m, c), got {tuple(K.shape)}")
    n, c, m, _ = K.shape
    if not sample_major:
        K = K.permute(1, 0, 3, 2)
    return K.reshape(n * c, m * c)


def unflatten_kernel(matrix: Tensor, classes: int, order: str = "sample") -> Tensor:
    """Inverse of `flatten_kernel`: a matrix (nc, mc) back to (n, c, m, c).

    >>> K = torch.arange(36.0).reshape(3, 2, 3, 2)
    >>> torch.equal(unflatten_kernel(flatten_kernel(K, "class"), 2, "class"), K)
    True
    """
    sample_major, classes = choose(order, _ORDERS, "order"), positive_int("classes", classes)
    if matrix.ndim != 2 or matrix.shape[0] % classes or matrix.shape[1] % classes:
        raise ValueError(
            f"a flattened kernel of {classes} outputs has both sides a multiple of {classes}, "
            f"got {tuple(matrix.shape)}"
        )
    n, m = matrix.shape[0] // classes, matrix.shape[1] // classes
    if sample_major:
        return matrix.reshape(n, classes, m, classes)
    return matrix.reshape(classes, n, classes, m).permute(1, 0, 3, 2)


def reorder_kernel(matrix: Tensor, classes: int, *, to: str) -> Tensor:
    """Convert a flattened kernel (nc, mc) between the two row orders, to "sample" or to "class".

    >>> K = torch.arange(16.0).reshape(2, 2, 2, 2)
    >>> torch.equal(reorder_kernel(flatten_kernel(K), 2, to="class"), flatten_kernel(K, "class"))
    True
    """
    source = "class" if choose(to, _ORDERS, "order") else "sample"
    return flatten_kernel(unflatten_kernel(matrix, classes, source), to)
