"""Transforms of directions in input space: compression of some, rotation of all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.data._dataset import Dataset, map_x
from regimes.data._transform import Transform, flat_dim


def compress(factor: float, informative: int | Sequence[int] | Tensor = 1) -> Transform:
    """Shrink the uninformative directions: x_par + x_perp / factor [Paccolat 2021, sec. 3.1].

    Labels stay, and every set is changed by the same factor.

    Args:
        factor: Lambda > 0.
        informative: which directions x_par to keep: a number k (the first k coordinates), a list
            of coordinates, or a (k, d) tensor whose rows span the kept subspace.

    Returns:
        The transform; it needs flat inputs (n, d).

    Raises:
        ValueError: if factor is not positive; on application, if the directions do not fit.

    Example:
        >>> from regimes import data
        >>> ds = data.stripe(100, 100, d=3)
        >>> small = ds.pipe(data.compress(2.0))
        >>> bool((small.x_train * torch.tensor([1.0, 2.0, 2.0]) == ds.x_train).all())
        True
    """
    chosen: int | list[int] | Tensor
    if isinstance(informative, Tensor):
        if informative.ndim != 2 or not informative.is_floating_point() or len(informative) == 0:
            raise ValueError(
                "informative directions must be a floating point tensor of shape (k, d), got "
                f"{informative.dtype} of shape {tuple(informative.shape)}"
            )
        chosen = informative.detach().clone()
    elif isinstance(informative, Sequence) and not isinstance(informative, str):
        chosen = [positive_int("informative coordinate", i, least=0) for i in informative]
        if not chosen or len(set(chosen)) != len(chosen):
            raise ValueError(f"informative coordinates must be distinct, got {informative!r}")
    else:
        chosen = positive_int("informative", informative)
    options = {"factor": real("factor", factor, above=0), "informative": chosen}
    return Transform("compress", _compress, options)


def rotate(Q: Tensor) -> Transform:
    """Rotate every point, x -> Q x, by an orthogonal matrix Q of shape (d, d).

    Args:
        Q: rotation or reflection, Q Q^T = 1.

    Returns:
        The transform; it needs flat inputs (n, d).

    Raises:
        ValueError: if Q is not orthogonal; on application, if its size is not d.

    Example:
        >>> from regimes import data
        >>> swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> ds = data.stripe(10, 10, d=2)
        >>> bool((ds.pipe(data.rotate(swap)).x_train[:, 1] == ds.x_train[:, 0]).all())
        True
    """
    if not isinstance(Q, Tensor) or Q.ndim != 2 or Q.shape[0] != Q.shape[1]:
        raise ValueError(f"Q must be a square tensor (d, d), got {getattr(Q, 'shape', Q)!r}")
    matrix = Q.detach().double()
    error = float((matrix @ matrix.T - torch.eye(len(matrix), device=Q.device)).abs().max())
    if not error < 1e-5:
        raise ValueError(
            f"Q must be orthogonal, but Q Q^T differs from the identity by {error:.2g}"
        )
    return Transform("rotate", _rotate, {"Q": matrix})


def _compress(
    dataset: Dataset, factor: float, informative: int | list[int] | Tensor
) -> tuple[Dataset, str]:
    d = flat_dim(dataset, "compress")
    if isinstance(informative, Tensor):
        basis = _orthonormal_rows(informative, d).to(dataset.x_train)

        def shrink(x: Tensor) -> Tensor:
            parallel = (x @ basis.T) @ basis
            return parallel + (x - parallel) / factor

        return map_x(dataset, shrink), ""
    kept = list(range(informative)) if isinstance(informative, int) else informative
    if max(kept) >= d:
        raise ValueError(
            f"compress(informative={informative}) needs coordinate {max(kept)}, but the points of "
            f"{dataset.name!r} have coordinates 0..{d - 1}"
        )
    divisor = dataset.x_train.new_full((d,), factor)
    divisor[kept] = 1
    return map_x(dataset, lambda x: x / divisor), ""


def _orthonormal_rows(directions: Tensor, d: int) -> Tensor:
    """Orthonormal rows that span the same subspace."""
    k, width = directions.shape
    if width != d or k > d:
        raise ValueError(
            f"informative directions have shape ({k}, {width}), but the points have d = {d}; "
            f"give k <= {d} rows of length {d}"
        )
    _, sizes, rows = torch.linalg.svd(directions.double(), full_matrices=False)
    if not float(sizes[-1]) > 1e-8 * float(sizes[0]):
        raise ValueError("informative directions are linearly dependent; drop the surplus rows")
    return rows


def _rotate(dataset: Dataset, Q: Tensor) -> tuple[Dataset, str]:
    d = flat_dim(dataset, "rotate")
    if len(Q) != d:
        raise ValueError(
            f"Q is {len(Q)} x {len(Q)}, but the points of {dataset.name!r} have d = {d}"
        )
    matrix = Q.to(dataset.x_train)
    return map_x(dataset, lambda x: x @ matrix.T), ""
