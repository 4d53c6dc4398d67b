"""Norm-based measures of a network's capacity, from the weights of its layers.

What `nets` and modules make of layers is not known here: weights are given in order from the input
to the output, each (out, in) or (out, in, ...), whose further axes count as inputs; biases are left
out. A margin gamma divides what bounds the outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import real
from regimes.measure._kernel import check_tensor


@dataclass(frozen=True)
class Capacity:
    """Measures that are functions of the weights alone."""

    n_params: float  # P
    vc: float  # d P log2 P, the order of the VC bound [Harvey 2017]
    l1max: float  # prod_l |W_l|_{1,inf} / gamma [Bartlett 2002]
    fro: float  # prod_l |W_l|_F / gamma [Neyshabur 2015]
    l3_1_5: float  # prod_l |W_l|_{3,1.5} / gamma [Neyshabur 2015]
    spectral: float  # prod_l s_l / gamma
    spec_l21: float  # [Bartlett 2017]
    spec_fro: float  # [Neyshabur 2018]


def capacity(weights: Sequence[Tensor], initial: Sequence[Tensor], gamma: float) -> Capacity:
    """Measures of capacity that look at the weights and how far they came.

    With `s_l` the spectral norm of layer l of d, `D_l = W_l - W_l^0`, `h_l` its output units and
    `|W|_{p,q}` the q-norm over units of the p-norms of their incoming weights:

    * `spec_l21 = prod s_l (sum_l (|D_l|_{2,1}/s_l)^{2/3})^{3/2} / gamma` [Bartlett 2017, eq. 1.2];
    * `spec_fro = d prod s_l sqrt(sum_l h_l |D_l|_F^2/s_l^2) / gamma` [Neyshabur 2018].

    Args:
        weights: of every layer after training.
        initial: the same before training.
        gamma: margin, positive.

    >>> W = [torch.eye(2), torch.ones(1, 2)]
    >>> found = capacity(W, [0 * w for w in W], gamma=1.0)
    >>> found.n_params, found.l1max, round(found.fro, 6), round(found.spectral, 6)
    (6.0, 2.0, 2.0, 1.414214)
    """
    gamma = real("gamma", gamma, above=0.0)
    now, start = _matrices("weights", weights), _matrices("initial", initial)
    if [w.shape for w in now] != [w.shape for w in start]:
        raise ValueError(
            f"weights and initial must have the same shapes, got {[tuple(w.shape) for w in now]} "
            f"and {[tuple(w.shape) for w in start]}"
        )
    moved = [w - w0 for w, w0 in zip(now, start, strict=True)]
    s = torch.stack([torch.linalg.matrix_norm(w, 2) for w in now])
    by_unit = torch.stack([torch.linalg.vector_norm(d, dim=1).sum() for d in moved])
    frobenius = torch.stack([torch.linalg.vector_norm(d) for d in moved])
    units = torch.tensor([float(len(w)) for w in now], dtype=torch.float64)
    count, depth = float(sum(w.numel() for w in now)), len(now)
    product = float(s.prod())
    return Capacity(
        n_params=count,
        vc=depth * count * float(torch.tensor(count).log2()),
        l1max=_product(_group_norm(w, 1.0, torch.inf) for w in now) / gamma,
        fro=_product(_group_norm(w, 2.0, 2.0) for w in now) / gamma,
        l3_1_5=_product(_group_norm(w, 3.0, 1.5) for w in now) / gamma,
        spectral=product / gamma,
        spec_l21=product * float(((by_unit / s) ** (2 / 3)).sum() ** 1.5) / gamma,
        spec_fro=depth * product * float((units * (frobenius / s) ** 2).sum().sqrt()) / gamma,
    )


def overparametrisation(
    weights: Sequence[Tensor],
    initial: Sequence[Tensor],
    inputs: Tensor,
    hidden: Tensor,
    gamma: float,
) -> float:
    """`|W_2|_F (|h_0(X)|_rms + |W_1 - W_1^0|_F |X|_rms) / gamma` of one hidden layer.

    [Neyshabur 2019]. The root mean square is over points, of the norms of their rows.

    Args:
        weights: (W_1, W_2) after training.
        initial: the same before training.
        inputs: X, (n, d).
        hidden: hidden activations of the network at its start, (n, h).
        gamma: margin, positive.

    >>> W = [torch.eye(2), torch.ones(1, 2)]
    >>> round(overparametrisation(W, W, torch.eye(2), torch.eye(2), gamma=1.0), 6)
    1.414214
    """
    if len(weights) != 2 or len(initial) != 2:
        raise ValueError(
            f"this measure is for one hidden layer, that is two weights, got {len(weights)} and "
            f"{len(initial)}"
        )
    (first, last), (first_start, _) = _matrices("weights", weights), _matrices("initial", initial)
    reach = _rms(hidden) + float(torch.linalg.vector_norm(first - first_start)) * _rms(inputs)
    return float(torch.linalg.vector_norm(last)) * reach / real("gamma", gamma, above=0.0)


def path_norm(weights: Sequence[Tensor], p: float, gamma: float) -> float:
    """`(sum over paths of prod |w|^p)^{1/p} / gamma` of fully connected layers.

    [Neyshabur 2015]: a product of the matrices `|W|^p`.

    >>> path_norm([torch.eye(2), torch.ones(1, 2)], 1.0, gamma=1.0)
    2.0
    """
    p, gamma = real("p", p, above=0.0), real("gamma", gamma, above=0.0)
    matrices = _matrices("weights", weights)
    flow = torch.ones(matrices[0].shape[1], dtype=torch.float64, device=matrices[0].device)
    for w in matrices:
        if w.shape[1] != len(flow):
            raise ValueError(
                f"layers do not follow each other: {w.shape[1]} inputs after {len(flow)} outputs"
            )
        flow = w.abs() ** p @ flow
    return float(flow.sum()) ** (1 / p) / gamma


def _matrices(name: str, weights: Sequence[Tensor]) -> list[Tensor]:
    if not weights:
        raise ValueError(f"{name} holds no layer")
    found = [check_tensor(name, w).detach().double() for w in weights]
    if any(w.ndim < 2 for w in found):
        raise ValueError(f"{name} must be (out, in, ...), got {[tuple(w.shape) for w in found]}")
    return [w.flatten(1) for w in found]


def _group_norm(w: Tensor, p: float, q: float) -> float:
    return float(torch.linalg.vector_norm(torch.linalg.vector_norm(w, p, dim=1), q))


def _product(norms: object) -> float:
    product = 1.0
    for norm in norms:  # type: ignore[attr-defined]
        product *= norm
    return product


def _rms(rows: Tensor) -> float:
    return float(check_tensor("points", rows).double().square().sum(1).mean().sqrt())
