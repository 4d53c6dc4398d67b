"""How much a function moves along chosen parameter directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.measure._kernel import check_tensor

Operator = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class PerturbationProbe:
    """Response of a function to a step along each direction."""

    responses: Tensor  # (k,), |f(w + eps v) - f(w)|
    rates: Tensor  # (k,), the same divided by eps
    linear: Tensor  # (k,), |Phi v|, what the rates tend to for small eps
    eps: float


def random_directions(k: int, parameters: int, *, seed: int, like: Tensor | None = None) -> Tensor:
    """K random unit directions (k, P), uniform on the sphere, for [Baratin 2021, fig. 7].

    Args:
        k: number of directions.
        parameters: P.
        seed: of the draw.
        like: a tensor whose dtype and device the result takes (default float32 on the CPU).

    >>> torch.allclose(random_directions(2, 5, seed=0).norm(dim=1), torch.ones(2))
    True
    """
    shape = (positive_int("k", k), positive_int("parameters", parameters))
    draws = torch.randn(shape, generator=generator(seed, "directions"), dtype=torch.float64)
    unit = draws / torch.linalg.vector_norm(draws, dim=1, keepdim=True)
    return unit.float() if like is None else unit.to(like)


def perturbation_probe(
    response: Operator, directions: Tensor, jacobian: Tensor | Operator, *, eps: float = 1e-3
) -> PerturbationProbe:
    """Compare `|f(w + eps v) - f(w)|` with its linear prediction `|Phi v|` for each direction v.

    [Baratin 2021, eq. 42 and fig. 7]. Along a top right singular vector of the features of the
    evaluation batch the prediction is `sqrt(lam_J)`; over random unit directions its mean square is
    `Tr K / P`.

    Args:
        response: `delta (P,) -> f(w + delta)` on the evaluation batch, any shape.
        directions: unit rows (k, P): `principal_directions(...).directions`, `random_directions`.
        jacobian: features of the evaluation batch, (n, P) or (n, c, P), or a function giving
            the product `v -> Phi v`.
        eps: step length; 1e-3 tests linearity (in float64), 1e-1 shows a visible change.

    >>> A = torch.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    >>> probe = perturbation_probe(lambda delta: A @ delta, torch.eye(2).double(), A)
    >>> probe.linear.tolist(), torch.allclose(probe.rates, probe.linear)
    ([3.0, 4.0], True)
    """
    directions = check_tensor("directions", directions)
    if directions.ndim != 2:
        raise ValueError(f"directions must have shape (k, P), got {tuple(directions.shape)}")
    eps = real("eps", eps, above=0)
    if isinstance(jacobian, Tensor):
        if jacobian.shape[-1] != directions.shape[1]:
            raise ValueError(
                f"jacobian has {jacobian.shape[-1]} parameters, directions {directions.shape[1]}"
            )
        rows = jacobian.reshape(-1, jacobian.shape[-1])
        linear = torch.linalg.vector_norm(rows @ directions.T, dim=0)
    else:
        linear = torch.stack([torch.linalg.vector_norm(jacobian(v)) for v in directions])
    rest = response(torch.zeros_like(directions[0]))
    moved = [torch.linalg.vector_norm(response(eps * v) - rest) for v in directions]
    responses = torch.stack(moved)
    return PerturbationProbe(responses, responses / eps, linear, eps)
