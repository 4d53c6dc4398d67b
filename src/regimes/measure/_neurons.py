"""Where the neurons of a one-hidden-layer network sit, and which directions they look along."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int
from regimes.measure._kernel import check_tensor

# Pre-activations held at once, to bound temporary memory.
_BLOCK = 1 << 24


def neuron_vectors(w: Tensor, b: Tensor) -> Tensor:
    """`z = -sqrt(d) b w/|w|^2`, the point of each neuron's boundary nearest the origin.

    [Paccolat 2021, sec. 2.4]; the boundary is `w.x/sqrt(d) + b = 0`.

    Args:
        w: first-layer weights (h, d), or (R, h, d) for R networks.
        b: biases (h,) or (R, h).

    Returns:
        Shape of w; NaN for a neuron without weights.

    >>> neuron_vectors(torch.tensor([[2.0, 0.0, 0.0, 0.0]]), torch.tensor([-1.0]))
    tensor([[1., 0., 0., 0.]])
    """
    w, b = _check_layer(w, b)
    # In double precision, for squares of small single-precision weights are zero.
    wide = w.double()
    inverse = wide / (wide**2).sum(-1, keepdim=True)
    return (-(w.shape[-1] ** 0.5) * b.double()[..., None] * inverse).to(w.dtype)


def neuron_interfaces(w: Tensor, b: Tensor) -> Tensor:
    """`zeta_1 = -sqrt(d) b/w_1`, where each neuron's boundary cuts the first axis.

    [Paccolat 2021, eq. 5].

    Args:
        w: first-layer weights (h, d), or (R, h, d) for R networks.
        b: biases (h,) or (R, h).

    Returns:
        Shape of b; infinite for a boundary parallel to the axis.

    >>> neuron_interfaces(torch.tensor([[2.0, 9.0, 9.0, 9.0]]), torch.tensor([-1.0]))
    tensor([1.])
    """
    w, b = _check_layer(w, b)
    return -(w.shape[-1] ** 0.5) * b / w[..., 0]


def neuron_amplification(w: Tensor, informative: int = 1) -> Tensor:
    """`lambda = w_1/|w_perp|` of each neuron, or `|w_par|/|w_perp|` [Paccolat 2021, sec. 3.2.1].

    Args:
        w: first-layer weights (h, d), or (R, h, d) for R networks.
        informative: d_par, the number of leading coordinates that decide the label; for one of
            them lambda carries the sign of w_1.

    Returns:
        Shape (h,) or (R, h); infinite for an aligned neuron, NaN for one without weights.

    >>> neuron_amplification(torch.tensor([[-4.0, 2.0, 0.0]]))
    tensor([-2.])
    >>> neuron_amplification(torch.tensor([[3.0, -4.0, 1.0]]), informative=2)
    tensor([5.])
    """
    par, perp = _split(w, informative)
    wide = par.double()
    along = wide[..., 0] if informative == 1 else wide.norm(dim=-1)
    return (along / perp.double().norm(dim=-1)).to(w.dtype)


def occupied_bins(
    zeta: np.ndarray,
    amplitude: np.ndarray,
    *,
    width: float = 0.2,
    share: float = 0.9,
    reach: float = 3.0,
) -> int:
    """Fewest bins of the first axis that hold this share of the amplitude; one more if none do.

    Args:
        zeta: where the boundaries of neurons cut the axis, (h,).
        amplitude: what each neuron counts, such as `|beta| |w|`, (h,).
        width: of a bin.
        share: of the whole amplitude, that of neurons outside the bins included.
        reach: bins are on [-reach, reach].

    >>> occupied_bins(np.array([0.1, 0.1, 2.5, 9.0]), np.array([5.0, 3.0, 1.5, 0.5]))
    2
    """
    count = round(2 * reach / width)
    mass, _ = np.histogram(zeta, bins=count, range=(-reach, reach), weights=amplitude)
    reached = np.cumsum(np.sort(mass)[::-1]) >= share * amplitude.sum()
    return int(reached.argmax()) + 1 if reached.any() else count + 1


def dead_neurons(w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Neurons without a training point on their active side `w.x/sqrt(d) + b > 0`.

    Gradient flow never moves them [Paccolat 2021, sec. 3.2.1].

    Args:
        w: first-layer weights (h, d), or (R, h, d) for R networks.
        b: biases (h,) or (R, h).
        x: training points (p, d), or (R, p, d) for a data set per network.

    Returns:
        Flags (h,) or (R, h).

    >>> x = torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    >>> dead_neurons(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]), torch.zeros(2), x)
    tensor([False,  True])
    """
    w, b = _check_layer(w, b)
    x = check_tensor("x", x)
    if (
        x.shape[-1] != w.shape[-1]
        or x.ndim not in (2, w.ndim)
        or x.shape[:-2] not in ((), w.shape[:-2])
    ):
        raise ValueError(
            f"x must have shape (p, d) or (R, p, d) for weights {tuple(w.shape)}, got "
            f"{tuple(x.shape)}"
        )
    alive = torch.zeros_like(b, dtype=torch.bool)
    block = max(1, _BLOCK // b.numel())
    for start in range(0, x.shape[-2], block):
        part = x[..., start : start + block, :].to(w)
        active = w @ part.mT / w.shape[-1] ** 0.5 + b[..., None] > 0
        alive |= active.any(-1)
    return ~alive


def informative_share(w: Tensor, beta: Tensor, informative: int = 1) -> Tensor:
    """Mean of `|w_par|^2/|w|^2` over neurons, weighted by `(beta |w|)^2` (COMP-31).

    `sum_n beta^2 |w_par|^2 / sum_n beta^2 |w|^2`: d_par/d for isotropic weights, 1 when the neurons
    that carry the function look along informative directions only.

    Args:
        w: first-layer weights (h, d), or (R, h, d) for R networks.
        beta: output weights (h,) or (R, h).
        informative: d_par, the number of leading coordinates that decide the label.

    Returns:
        Shape () or (R,); NaN for a network whose weights are all zero.

    >>> w, beta = torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([1.0, -1.0])
    >>> informative_share(w, beta)
    tensor(0.6667)
    """
    par, perp = _split(w, informative)
    if check_tensor("beta", beta).shape != w.shape[:-1]:
        raise ValueError(
            f"beta must have shape {tuple(w.shape[:-1])} for weights {tuple(w.shape)}, got "
            f"{tuple(beta.shape)}"
        )
    squares = beta.double() ** 2
    along = (squares * (par.double() ** 2).sum(-1)).sum(-1)
    across = (squares * (perp.double() ** 2).sum(-1)).sum(-1)
    return (along / (along + across)).to(w.dtype)


def _split(w: Tensor, informative: int) -> tuple[Tensor, Tensor]:
    w = check_tensor("w", w)
    if w.ndim not in (2, 3):
        raise ValueError(f"w must have shape (h, d) or (R, h, d), got {tuple(w.shape)}")
    d_par = positive_int("informative", informative)
    if d_par >= w.shape[-1]:
        raise ValueError(
            f"informative must leave at least one of the {w.shape[-1]} inputs, got {d_par}"
        )
    return w[..., :d_par], w[..., d_par:]


def _check_layer(w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    w, b = check_tensor("w", w), check_tensor("b", b)
    if w.ndim not in (2, 3) or b.shape != w.shape[:-1]:
        raise ValueError(
            "w must have shape (h, d) or (R, h, d) and b (h,) or (R, h), got "
            f"{tuple(w.shape)} and {tuple(b.shape)}"
        )
    return w, b
