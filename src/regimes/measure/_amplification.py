"""Amplification of the informative directions by the first layer."""

from __future__ import annotations

from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor


def amplification(weights: Tensor, informative: int = 1, *, prefactor: bool = True) -> Tensor:
    """`Lambda = sqrt((d_perp/d_par) sum_n |w_par|^2 / sum_n |w_perp|^2)`.

    [Paccolat 2021, eq. 9]; docs/themes/compression.md, "Global amplification". For isotropic
    weights it is 1 up to `1/sqrt(h)`; it grows when the network compresses the directions that
    carry no information.

    Args:
        weights: first-layer weights, (h, d), or (R, h, d) for R networks.
        informative: d_par, the number of leading input coordinates that decide the label.
        prefactor: False leaves out `sqrt(d_perp/d_par)`, as the released programs do (4.7).

    Returns:
        Shape () or (R,); infinite where all weights look along informative directions, NaN where
        all are zero.

    >>> import torch
    >>> amplification(torch.tensor([[2.0, 1.0, 1.0]]))
    tensor(2.)
    """
    weights = check_tensor("weights", weights)
    if weights.ndim < 2:
        raise ValueError(f"weights must have shape (h, d) or (R, h, d), got {tuple(weights.shape)}")
    d, d_par = weights.shape[-1], positive_int("informative", informative)
    if d_par >= d:
        raise ValueError(f"informative must leave at least one of the {d} inputs, got {d_par}")
    squares = (weights.double() ** 2).sum(-2)
    ratio = squares[..., :d_par].sum(-1) / squares[..., d_par:].sum(-1)
    if prefactor:
        ratio = ratio * ((d - d_par) / d_par)
    return ratio.sqrt().to(weights.dtype)
