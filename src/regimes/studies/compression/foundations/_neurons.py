"""One neuron on infinitely many points: its drift, where it leads, and what never stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Point, TrialResult
from regimes.studies.compression._attractors import CLASSES, EDGES, TABLE

if TYPE_CHECKING:
    from regimes.studies.compression.foundations._formulas import Nothing


@dataclass(frozen=True)
class Drift:
    """A seed draws five neurons and so many points."""

    monte_carlo: int = 200_000
    seed: tuple[int, ...] = (0,)


def drift(params: Drift, point: Point) -> TrialResult:
    """COMP-04: the population drift of some neurons against a sample of millions."""
    found = [_sampled_drift(seed, params.monte_carlo) for seed in point.seed]
    names = ("drift_predicted", "drift_sampled", "drift_error")
    return TrialResult(
        arrays={
            name: Array(("unit", "component"), np.concatenate(values))
            for name, values in zip(names, zip(*found, strict=True), strict=True)
        }
    )


def _sampled_drift(seed: int, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The drift of five neurons by quadrature and by a sample, and the error of the latter."""
    import torch

    from regimes._random import generator

    d, count = 3, 5
    draws = torch.randn(count, d + 1, generator=generator(seed, "neurons"), dtype=torch.float64)
    w, b = draws[:, :d], draws[:, d]
    exact = rg.theory.stripe_drift(w, b, interfaces=EDGES)
    predicted = torch.cat([exact.w, exact.b[:, None]], 1)
    total, squares = torch.zeros_like(predicted), torch.zeros_like(predicted)
    chunk, source = 100_000, generator(seed, "drift")
    for start in range(0, samples, chunk):
        size = min(chunk, samples - start)
        x = torch.randn(size, d, generator=source, dtype=torch.float64)
        y = torch.where((x[:, 0] > EDGES[0]) & (x[:, 0] < EDGES[1]), -1.0, 1.0).double()
        active = (w @ x.T / d**0.5 + b[:, None] > 0).double()
        terms = torch.cat([x, torch.full((size, 1), d**0.5, dtype=torch.float64)], 1)
        total += active @ (y[:, None] * terms)
        squares += active @ terms**2
    mean = total / samples
    error = ((squares / samples - mean**2) / samples).sqrt()
    return predicted.numpy(), mean.numpy(), error.numpy()


def attractors(params: Nothing, point: Point) -> TrialResult:
    """COMP-06 and COMP-08: flags of the tabulated points, and the ODE's field close to them."""
    flags, rates = [], []
    for d, table in TABLE.items():
        points = rg.theory.stripe_fixed_points(*EDGES, d)
        for (sign_w, sign_beta), (z, _) in zip(CLASSES, table, strict=True):
            fixed = min(
                (p for p in points if (p.sign_w, p.sign_beta) == (sign_w, sign_beta)),
                key=lambda p: abs(p.z - z),
            )
            below, here, above = (_near(fixed, shift) for shift in (-0.01, 0.0, 0.01))
            flags.append(
                [
                    abs(fixed.z - z) < 1e-4,
                    fixed.stable,
                    fixed.compresses,
                    below["zeta"] > 0 > above["zeta"],
                    here["along"] > here["across"],
                ]
            )
            if d == 2:
                rates.append(here["across"])
        flags[-1][0] &= sum(p.attractor for p in points) == len(CLASSES)
    return TrialResult(
        arrays={
            "flags": Array(("dimension", "attractor", "flag"), np.reshape(flags, (4, 3, 5))),
            "perpendicular_rate": Array("attractor", rates),
        }
    )


def _near(fixed: Any, shift: float) -> dict[str, float]:
    """Rates in 1/tau of a neuron with lambda = 1000 whose kink is at z* + shift.

    It has grown: beta^2 = |w|^2 + b^2. The rates are those of zeta_1, ln w_1 and ln w_perp.
    """
    import torch

    w = torch.zeros(1, fixed.d, dtype=torch.float64)
    w[0, 0], w[0, 1] = fixed.sign_w, 1e-3
    b = -(fixed.z + shift) * w[:, 0] / fixed.d**0.5
    beta = fixed.sign_beta * ((w**2).sum(1) + b**2).sqrt()
    dw, db, _ = rg.theory.neuron_field(w, b, beta, interfaces=EDGES)
    along, across = float(dw[0, 0] / w[0, 0]), float(dw[0, 1] / w[0, 1])
    zeta = -(fixed.d**0.5) * float(db / w[0, 0]) - (fixed.z + shift) * along
    return {"zeta": zeta, "along": along, "across": across}


@dataclass(frozen=True)
class Divergence:
    """Neurons per seed."""

    ode_neurons: int = 20
    seed: tuple[int, ...] = (0,)


def divergence(params: Divergence, point: Point) -> TrialResult:
    """COMP-09: random neurons on infinitely many points, followed for 40 tau."""
    import torch

    from regimes._random import generator

    drawn = [
        torch.randn(params.ode_neurons, 4, generator=generator(seed, "ode"), dtype=torch.float64)
        for seed in point.seed
    ]
    state = torch.cat(drawn)
    times = torch.linspace(0.0, 40.0, 81, dtype=torch.float64)
    path = rg.theory.neuron_trajectories(
        state[:, :2], state[:, 2], state[:, 3], times, interfaces=EDGES
    )
    return TrialResult(
        arrays={
            "ode_times": Array("moment", times),
            "ode_z": Array(("moment", "ode_neuron", "axis"), path.z),
            "ode_zeta": Array("ode_neuron", path.zeta[-1]),
            "ode_lambda": Array(("moment", "ode_neuron"), path.amplification.abs()),
            "ode_sign_w": Array("ode_neuron", path.w[-1, :, 0].sign()),
            "ode_sign_beta": Array("ode_neuron", path.beta[-1].sign()),
        }
    )
