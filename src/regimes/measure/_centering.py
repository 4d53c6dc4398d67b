"""Centring of kernels: what remains when the mean tangent feature is taken away."""

from __future__ import annotations

from torch import Tensor

from regimes._check import choose
from regimes.measure._kernel import check_gram, check_tensor

# Which axes of an (n, c, n, c) kernel are averaged on either side.
_AXES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "class": ((0,), (2,)),
    "global": ((0, 1), (2, 3)),
}


def _axes(mode: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return choose(mode, _AXES, "centring")


def center(K: Tensor, mode: str | None = "class") -> Tensor:
    """Centre a Gram, (n, n) or (n, c, n, c) [Baratin 2021, eq. 7].

    * "class": `K_c[i,y,j,y'] = sum_kl C_ik K[k,y,l,y'] C_lj` with `C = I_n - 11^T/n`, that is
      features minus their mean over samples, output by output; rank at most (n-1)c.
    * "global": the same with `C = I_nc - 11^T/(nc)` on the flattened matrix.
    * None: the kernel as it is.

    The two modes agree for one output.

    >>> import torch
    >>> x = torch.tensor([[0.0], [1.0], [5.0]])
    >>> center(x @ x.T)
    tensor([[ 4.,  2., -6.],
            [ 2.,  1., -3.],
            [-6., -3.,  9.]])
    """
    K = check_gram("kernel", K)
    if mode is None:
        return K
    left, right = _axes(mode)
    full = K[:, None, :, None] if K.ndim == 2 else K
    rows, columns = full.mean(left, keepdim=True), full.mean(right, keepdim=True)
    centred = full - rows - columns + rows.mean(right, keepdim=True)
    return centred.reshape(K.shape)


def center_cross(K_new: Tensor, K_train: Tensor, mode: str | None = "class") -> Tensor:
    """Centre a cross-Gram (m, n) or (m, c, n, c) with the mean feature of the n training samples.

    `K_c(x, x_j) = <Phi(x) - E Phi, Phi(x_j) - E Phi>`, where E averages over the samples that made
    `K_train`. For `K_new = K_train` this is `center(K_train)`; it is what eigenfunctions of a
    centred kernel need on new points.
    """
    K_new, K_train = check_tensor("K_new", K_new), check_gram("K_train", K_train)
    if K_new.ndim != K_train.ndim or K_new.shape[1:] != K_train.shape[1:]:
        raise ValueError(
            f"K_new {tuple(K_new.shape)} must be a cross-Gram of new points with the samples of "
            f"K_train {tuple(K_train.shape)}: the same shape but for the first axis"
        )
    if mode is None:
        return K_new
    left, right = _axes(mode)
    new = K_new[:, None, :, None] if K_new.ndim == 2 else K_new
    train = K_train[:, None, :, None] if K_train.ndim == 2 else K_train
    rows = train.mean(left, keepdim=True)
    centred = new - rows - new.mean(right, keepdim=True) + rows.mean(right, keepdim=True)
    return centred.reshape(K_new.shape)


def center_targets(y: Tensor, mode: str | None = "class") -> Tensor:
    """Centre targets (n,) or (n, c) as `center` centres the kernel: `Y_c = C Y`."""
    if mode is None:
        return y
    left, _ = _axes(mode)
    full = y[:, None] if y.ndim == 1 else y
    return (full - full.mean(left, keepdim=True)).reshape(y.shape)
