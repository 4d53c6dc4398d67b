"""The drift of a neuron on infinitely many samples of a stripe model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes.theory._stripes import Array, Stripes, density, normal_cdf


@dataclass(frozen=True)
class StripeDrift:
    """Averages that drive the weights and the bias of neurons."""

    w: Tensor  # (N, d), <y x H(w.x/sqrt(d) + b)>
    b: Tensor  # (N,), sqrt(d) <y H(w.x/sqrt(d) + b)>


def stripe_drift(
    w: Tensor, b: Tensor, *, interfaces: Sequence[float], first_sign: int = 1
) -> StripeDrift:
    """`mu_1`, `mu_perp` and `mu_b` of the infinite-p neuron ODE [Paccolat 2021, app. C.1].

    Exact for every amplification `lambda = w_1/|w_perp|`, infinite included: x_1 and the
    pre-activation are jointly Gaussian, so each interface contributes an orthant probability, which
    is two values of Owen's T function, and its first moments, which are closed. The result depends
    on the direction of (w, b) only.

    Args:
        w: weights (N, d) of the informative coordinate, first, and of the others.
        b: biases (N,).
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.

    Returns:
        The drift, float64.

    >>> w, b = torch.tensor([[1.0, 0.0]]), torch.tensor([0.0])
    >>> found = stripe_drift(w, b, interfaces=[-0.3, 1.18549])     # C_1(0) and sqrt(2) C_b(0)
    >>> found.w, found.b
    (tensor([[-0.0038, -0.0000]], dtype=torch.float64), tensor([-0.3736], dtype=torch.float64))
    """
    stripes = Stripes.checked(interfaces, first_sign)
    weights, biases = check_neurons(w, b)
    if bool(((weights == 0).all(1) & (biases == 0)).any()):
        raise ValueError("a neuron with w = 0 and b = 0 has no boundary and no drift; drop it")
    mu_w, mu_b = drift(weights, biases, stripes)
    return StripeDrift(torch.as_tensor(mu_w), torch.as_tensor(mu_b))


def drift(w: Array, b: Array, stripes: Stripes) -> tuple[Array, Array]:
    """`stripe_drift` on arrays that have been checked: (N, d) and (N,)."""
    d = w.shape[1]
    w1, perp = w[:, 0], np.linalg.norm(w[:, 1:], axis=1)
    offset = np.sqrt(d) * b
    size = np.hypot(w1, perp)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # v = -(w.x)/|w| is standard normal, correlated with x_1 by -rho; active means v < q
        rho = _ratio(w1, size)
        rest = np.where(size > 0, _ratio(perp, size), 1.0)
        q = _ratio(offset, size) + 0.0  # no negative zero: a sign would be read off it
        c = stripes.edges + 0.0
        centre = np.where(size > 0, rho * q, 0.0)
        x_given_v = _ratio(c + centre[:, None], rest[:, None])
        v_given_x = _ratio(offset[:, None] + w1[:, None] * c, perp[:, None])
        orthant = _orthant(c, q[:, None], rho[:, None], v_given_x, x_given_v)
    q_density = density(q)
    inside = normal_cdf(x_given_v)
    moment = -density(c) * normal_cdf(v_given_x) + (rho * q_density)[:, None] * inside
    jumps = 2 * stripes.below
    last = stripes.last_sign
    mu_w = (w / np.where(size > 0, size, 1.0)[:, None]) * (q_density * (last + inside @ jumps))[
        :, None
    ]
    mu_w[:, 0] = last * rho * q_density + moment @ jumps
    mu_b = np.sqrt(d) * (last * normal_cdf(q) + orthant @ jumps)
    return mu_w, mu_b


def check_neurons(w: Tensor, b: Tensor, beta: Tensor | None = None) -> tuple[Array, ...]:
    """Finite float64 arrays w (N, d), b (N,) and, where given, beta (N,)."""
    given = {"w": w, "b": b} | ({} if beta is None else {"beta": beta})
    for name, values in given.items():
        if not isinstance(values, Tensor) or not values.is_floating_point():
            raise ValueError(f"{name} must be a floating-point tensor, got {type(values).__name__}")
        if not bool(values.isfinite().all()):
            raise ValueError(f"{name} holds NaN or infinite entries")
    numbers = [values for name, values in given.items() if name != "w"]
    if w.ndim != 2 or w.shape[1] < 2 or any(values.shape != w.shape[:1] for values in numbers):
        shapes = ", ".join(f"{name} {tuple(values.shape)}" for name, values in given.items())
        raise ValueError(f"w must have shape (N, d) with d >= 2 and the others (N,), got {shapes}")
    return tuple(values.detach().cpu().double().numpy() for values in given.values())


def _ratio(a: Array, b: Array) -> Array:
    """a/b, infinite where only b vanishes and 0 where both do."""
    return np.where((a == 0) & (b == 0), 0.0, a / b)


def _orthant(h: Array, k: Array, rho: Array, k_given_h: Array, h_given_k: Array) -> Array:
    """`P(X < h, V < k)` for standard normals of correlation -rho, by Owen's T function.

    `k_given_h = (k + rho h)/sqrt(1 - rho^2)` and the other way round, passed because the weights
    give them without cancellation as rho -> +-1.
    """
    from scipy.special import owens_t

    origin = (h == 0) & (k == 0)
    middle = np.sqrt((1 + rho) / (1 - rho))
    slope_h = np.where(origin, middle, k_given_h / h)
    slope_k = np.where(origin, middle, h_given_k / k)
    opposite = (np.sign(h) * np.sign(k) < 0) | (((h == 0) | (k == 0)) & (h + k < 0))
    return (
        (normal_cdf(h) + normal_cdf(k)) / 2
        - owens_t(h, slope_h)
        - owens_t(k, slope_k)
        - opposite / 2
    )
