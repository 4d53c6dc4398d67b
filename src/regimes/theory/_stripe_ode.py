"""Trajectories of neurons on a stripe model, before any sample is fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes.theory._dormand_prince import DormandPrince
from regimes.theory._stripe_field import check_neurons, drift
from regimes.theory._stripes import Array, Stripes

Noise = Tensor | Callable[[Tensor, Tensor], Tensor]

# Below this share of the state, w_perp is followed to an absolute error: rtol times this.
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True)
class NeuronTrajectories:
    """States of N neurons at T times, each divided by its norm `exp(log_scale)`."""

    times: Tensor  # (T,), in units of tau
    w: Tensor  # (T, N, d)
    b: Tensor  # (T, N)
    beta: Tensor  # (T, N)
    log_scale: Tensor  # (T, N), log of sqrt(|w|^2 + b^2 + beta^2)
    steps: int  # accepted, over all neurons
    refused: int

    @property
    def z(self) -> Tensor:
        """`-sqrt(d) b w/|w|^2`, the point of the boundary nearest the origin, (T, N, d)."""
        d = self.w.shape[-1]
        return -(d**0.5) * (self.b / (self.w**2).sum(-1))[..., None] * self.w

    @property
    def zeta(self) -> Tensor:
        """`-sqrt(d) b/w_1`, where the boundary cuts the informative axis, (T, N)."""
        return -(self.w.shape[-1] ** 0.5) * self.b / self.w[..., 0]

    @property
    def amplification(self) -> Tensor:
        """`lambda = w_1/|w_perp|` with its sign, (T, N)."""
        return self.w[..., 0] / self.w[..., 1:].norm(dim=-1)

    def log_abs(self, values: Tensor) -> Tensor:
        """Log of the size that scaled `values` (T, N) or (T, N, k) really have."""
        scale = self.log_scale[..., None] if values.ndim == 3 else self.log_scale
        return values.abs().log() + scale


def neuron_field(
    w: Tensor, b: Tensor, beta: Tensor, *, interfaces: Sequence[float], first_sign: int = 1
) -> tuple[Tensor, Tensor, Tensor]:
    """Rates of change of (w, b, beta) in units of 1/tau on infinitely many samples.

    `tau w' = beta mu_w`, `tau b' = beta mu_b`, `tau beta' = w.mu_w + b mu_b` with mu of
    `stripe_drift` [Paccolat 2021, eq. 5]. They conserve `beta^2 - |w|^2 - b^2` and are
    homogeneous of degree one in the state.

    Args:
        w: weights (N, d).
        b: biases (N,).
        beta: output weights (N,).
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.

    Returns:
        Rates of the three, float64.

    >>> w, b, beta = torch.tensor([[0.5, 1.0]]), torch.tensor([0.2]), torch.tensor([2.0])
    >>> dw, db, dbeta = neuron_field(w, b, beta, interfaces=[-0.3, 1.18549])
    >>> bool((beta * dbeta - (w * dw).sum(1) - b * db).abs() < 1e-7)
    True
    """
    stripes = Stripes.checked(interfaces, first_sign)
    state = np.column_stack(check_neurons(w, b, beta))
    rates = torch.as_tensor(_rates(state, *drift(state[:, :-2], state[:, -2], stripes)))
    return rates[:, :-2], rates[:, -2], rates[:, -1]


def boundary_velocity(
    w: Tensor, b: Tensor, beta: Tensor, *, interfaces: Sequence[float], first_sign: int = 1
) -> Tensor:
    """Rate of change of `z = -sqrt(d) b w/|w|^2` in units of 1/tau on infinitely many samples.

    The point z of the boundary nearest the origin moves with the weights, by the chain rule of
    `neuron_field`; lengths do not matter as long as `beta^2 = |w|^2 + b^2`.

    Args:
        w: weights (N, d).
        b: biases (N,).
        beta: output weights (N,).
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.

    Returns:
        (N, d), float64.

    >>> w, b, beta = torch.tensor([[1.0, 0.0]]), torch.tensor([0.2]), torch.tensor([2.0])
    >>> velocity = boundary_velocity(w, b, beta, interfaces=[-0.3, 1.18549])
    >>> velocity.shape, float(velocity[0, 1])
    (torch.Size([1, 2]), 0.0)
    """
    dw, db, _ = neuron_field(w, b, beta, interfaces=interfaces, first_sign=first_sign)
    w, b = w.double(), b.double()
    square = (w**2).sum(1, keepdim=True)
    along = (w * dw).sum(1, keepdim=True) / square
    turned = db[:, None] * w + b[:, None] * (dw - 2 * along * w)
    return -(w.shape[1] ** 0.5) * turned / square


def neuron_trajectories(
    w: Tensor,
    b: Tensor,
    beta: Tensor,
    times: Tensor | Sequence[float],
    *,
    interfaces: Sequence[float],
    first_sign: int = 1,
    noise: Noise | None = None,
    rtol: float = 1e-6,
    max_steps: int = 100_000,
) -> NeuronTrajectories:
    """Integrate the neuron ODE [Paccolat 2021, eq. 5], with sampling noise (eq. 7) if asked.

    Each neuron takes its own adaptive steps (Dormand-Prince, order 5), all of them at once. The
    field is homogeneous of degree one, so states are rescaled as they grow and no weight overflows.

    `noise` is what a finite data set adds to the averages mu, `sigma N/sqrt(p)` of
    [Paccolat 2021, app. C]: one vector (d+1,), or (N, d+1) for a vector per neuron, whose columns
    go to the d weights and the bias; or a function of the weights (n, d) and biases (n,) of some
    neurons that returns (n, d+1), such as `AxisNoise`. The vector of eq. 7, constant at one fixed
    point and zero for w_1 and b, is `BoundaryNoise.vector`.

    Args:
        w: initial weights (N, d).
        b: initial biases (N,).
        beta: initial output weights (N,).
        times: when to report, in units of tau, non-negative and increasing.
        interfaces: increasing values of x_1 where the label changes.
        first_sign: +1 or -1, the label below the first interface.
        noise: None for infinitely many samples.
        rtol: error that a step may make, relative to the norm of a neuron's state, and to the norm
            of its w_perp for those weights. A data set's noise is rough in the place of the
            boundary: 1e-4 is then enough and much faster.
        max_steps: steps a neuron may take between two times.

    Returns:
        The trajectories, float64.

    >>> w, b, beta = torch.tensor([[-1.0, 0.5]]), torch.tensor([0.1]), torch.tensor([1.0])
    >>> path = neuron_trajectories(w, b, beta, [0.0, 40.0], interfaces=[-0.3, 1.18549])
    >>> round(float(path.z[-1, 0, 0]), 3), bool(path.amplification[-1] < -100)
    (0.45, True)
    """
    stripes = Stripes.checked(interfaces, first_sign)
    state = np.column_stack(check_neurons(w, b, beta))
    n, d = len(state), state.shape[1] - 2
    if bool((state[:, :-1] == 0).all(1).any()):
        raise ValueError("a neuron with w = 0 and b = 0 has no boundary and never moves; drop it")
    asked = _check_times(times)
    tolerance = real("rtol", rtol, above=0, below=1)
    extra = _noise_function(noise, n, d)

    def field(u: Array, index: np.ndarray) -> Array:
        mu_w, mu_b = drift(u[:, :-2], u[:, -2], stripes)
        if extra is not None:
            added = extra(u, index)
            mu_w, mu_b = mu_w + added[:, :-1], mu_b + added[:, -1]
        return _rates(u, mu_w, mu_b)

    def scale(before: Array, after: Array) -> Array:
        perp = np.maximum(*(np.linalg.norm(u[:, 1:-2], axis=1) for u in (before, after)))
        allowed = np.ones_like(before)
        allowed[:, 1:-2] = (perp + _NEGLIGIBLE)[:, None]
        return tolerance * allowed

    log_scale = np.zeros(n)

    def settle(u: Array, index: np.ndarray) -> Array:
        size = np.linalg.norm(u, axis=1)
        log_scale[index] += np.log(size)
        return u / size[:, None]

    everyone = np.arange(n)
    solver = DormandPrince(
        field,
        scale,
        settle,
        settle(state, everyone),
        np.full(n, 0.05),
        positive_int("max_steps", max_steps),
    )
    states, scales = [], []
    for duration in np.diff(asked, prepend=0.0):
        solver.advance(duration)
        states.append(solver.state.copy())
        scales.append(log_scale.copy())
    found = torch.as_tensor(np.stack(states))
    return NeuronTrajectories(
        torch.as_tensor(asked),
        found[..., :-2],
        found[..., -2],
        found[..., -1],
        torch.as_tensor(np.stack(scales)),
        solver.taken,
        solver.refused,
    )


def _rates(u: Array, mu_w: Array, mu_b: Array) -> Array:
    w, b, beta = u[:, :-2], u[:, -2], u[:, -1]
    return np.column_stack([beta[:, None] * mu_w, beta * mu_b, (w * mu_w).sum(1) + b * mu_b])


def _check_times(times: Tensor | Sequence[float]) -> Array:
    given = times.detach().cpu() if isinstance(times, Tensor) else times
    asked = np.asarray(given, dtype=np.float64)
    if asked.ndim != 1 or len(asked) == 0 or not np.isfinite(asked).all():
        raise ValueError(f"times must be a list of finite numbers, got shape {asked.shape}")
    if asked[0] < 0 or bool((np.diff(asked) <= 0).any()):
        raise ValueError("times must be non-negative and increasing")
    return asked


def _noise_function(
    noise: Noise | None, n: int, d: int
) -> Callable[[Array, np.ndarray], Array] | None:
    if noise is None:
        return None
    if isinstance(noise, Tensor):
        if noise.shape not in ((d + 1,), (n, d + 1)):
            raise ValueError(
                f"noise must have shape ({d + 1},) or ({n}, {d + 1}): d={d} weights and the bias; "
                f"got {tuple(noise.shape)}"
            )
        fixed = noise.detach().cpu().double().expand(n, d + 1).numpy()
        return lambda u, index: fixed[index]

    def evaluated(u: Array, index: np.ndarray) -> Array:
        state = torch.as_tensor(u)
        found = noise(state[:, :-2], state[:, -2])
        if found.shape != (len(u), d + 1):
            raise ValueError(
                f"noise must return shape ({len(u)}, {d + 1}) for {len(u)} neurons in d={d}, got "
                f"{tuple(found.shape)}"
            )
        return found.detach().cpu().double().numpy()

    return evaluated
