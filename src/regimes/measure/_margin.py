"""Margins, and the generalisation bounds built on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.measure._kernel import check_gram, check_tensor


@dataclass(frozen=True)
class MulticlassBound:
    """Two bounds on the Rademacher complexity of the margin-loss class, the first the tighter."""

    by_class: float  # (c/gamma) sum_y (M/n) sqrt(Tr K^yy) [Baratin 2021, eq. 79]
    whole: float  # c^{3/2} M/(gamma n) sqrt(Tr K) [Baratin 2021, eqs. 78 and 80]


def margins(outputs: Tensor, labels: Tensor) -> Tensor:
    """Margin of every sample: `f y`, or `f[y] - max_{y' != y} f[y']`.

    [Baratin 2021, eq. 54].

    Args:
        outputs: (..., n) with labels +-1, or (..., n, c) with integer classes.
        labels: (n,).

    >>> margins(torch.tensor([[1.0, 3.0, 0.0]]), torch.tensor([1]))
    tensor([2.])
    >>> margins(torch.tensor([0.5, 0.5]), torch.tensor([1.0, -1.0]))
    tensor([ 0.5000, -0.5000])
    """
    outputs = check_tensor("outputs", outputs)
    if labels.ndim != 1:
        raise ValueError(f"labels must have shape (n,), got {tuple(labels.shape)}")
    n, labels = len(labels), labels.to(outputs.device)
    if outputs.ndim >= 2 and outputs.shape[-2] == n and not labels.is_floating_point():
        classes = outputs.shape[-1]
        if classes < 2 or int(labels.min()) < 0 or int(labels.max()) >= classes:
            raise ValueError(
                f"class labels must lie in 0..{classes - 1} for {classes} >= 2 outputs, got "
                f"{int(labels.min())}..{int(labels.max())}"
            )
        own = torch.nn.functional.one_hot(labels.long(), classes).bool()
        others = outputs.masked_fill(own, -math.inf).amax(-1)
        return outputs.masked_fill(~own, 0).sum(-1) - others
    if outputs.shape[-1] != n or bool((labels.abs() != 1).any()):
        raise ValueError(
            "give outputs (..., n) with labels +-1, or (..., n, c) with integer classes; got "
            f"outputs {tuple(outputs.shape)} and labels {tuple(labels.shape)} of {labels.dtype}"
        )
    return outputs * labels


def ramp_loss(margin: Tensor, gamma: float) -> Tensor:
    """1 for margins <= 0, `1 - u/gamma` up to gamma, 0 above [Baratin 2021, eq. 55].

    >>> ramp_loss(torch.tensor([-1.0, 0.5, 3.0]), 2.0)
    tensor([1.0000, 0.7500, 0.0000])
    """
    return (1 - margin / real("gamma", gamma, above=0)).clamp(0, 1)


def margin_error(margin: Tensor, gamma: float) -> Tensor:
    """Empirical margin error: mean ramp loss over samples, the last axis [Baratin 2021, eq. 56].

    >>> margin_error(torch.tensor([-1.0, 0.5, 3.0, 3.0]), 2.0)
    tensor(0.4375)
    """
    return ramp_loss(check_tensor("margin", margin), gamma).mean(-1)


def bound_multiclass(K: Tensor, M: float, gamma: float) -> MulticlassBound:
    """Bounds on the complexity of the margin-loss class of `{|w|_A <= M}` with c outputs.

    [Baratin 2021]: `R(l_gamma o F) <= (c/gamma) sum_y R(F_y)` (eq. 70), hence eq. 79, and by
    Jensen's inequality eq. 78.

    Args:
        K: kernel (n, c, n, c) of the (rescaled) features.
        M: radius of the class.
        gamma: margin.

    >>> bound = bound_multiclass(torch.eye(8).reshape(4, 2, 4, 2), 1.0, 1.0)
    >>> bound.by_class, round(bound.whole, 9)
    (2.0, 2.0)
    """
    K = check_gram("K", K)
    if K.ndim != 4:
        raise ValueError(f"K must have shape (n, c, n, c), got {tuple(K.shape)}")
    n, c = K.shape[:2]
    factor = real("M", M, above=0) / (real("gamma", gamma, above=0) * n)
    traces = torch.einsum("iyiy->y", K.double())
    if bool((traces < 0).any()):
        raise ValueError(f"K is no kernel: the trace of a class is {float(traces.min()):.3g} < 0")
    by_class = c * factor * float(traces.sqrt().sum())
    return MulticlassBound(by_class, c**1.5 * factor * float(traces.sum()) ** 0.5)


def generalisation_bound(margin_loss: float, rademacher: float, n: int, delta: float) -> float:
    """`L_gamma + 2 R + 3 sqrt(log(2/delta)/(2n))`, which the error exceeds with chance < delta.

    [Baratin 2021, eq. 56].

    Args:
        margin_loss: empirical margin error L_gamma.
        rademacher: complexity of the margin-loss class, or a bound on it.
        n: number of samples.
        delta: confidence is 1 - delta.

    >>> round(generalisation_bound(0.1, 0.05, 1000, 0.05), 4)
    0.3288
    """
    delta = real("delta", delta, above=0, below=1)
    n = positive_int("n", n)
    loss, complexity = real("margin_loss", margin_loss), real("rademacher", rademacher)
    return loss + 2 * complexity + 3 * math.sqrt(math.log(2 / delta) / (2 * n))
