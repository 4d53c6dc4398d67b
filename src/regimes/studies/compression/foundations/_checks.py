"""Identities of spec `compression` that need no training or very little, each measured."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, TrialResult
from regimes.studies.compression._attractors import CLASSES, EDGES, TABLE
from regimes.studies.compression._stripe import READOUT, WEIGHT, network, neurons, train

if TYPE_CHECKING:
    from torch import Tensor


def balance(params: Any, point: Any) -> TrialResult:
    """COMP-01: mass of the stripe, median of the cylinder's radius, labels of real draws."""
    from scipy.stats import chi, norm

    n = params.samples
    draws = {
        "stripe": rg.data.stripe(n_train=n, n_test=0, d=2, seed=0).y_train,
        "cylinder": rg.data.cylinder(n_train=n, n_test=0, d=3, seed=0).y_train,
    }
    return TrialResult(
        {
            "x_max": EDGES[1],
            "stripe_mass": float(norm.cdf(1.18549) - norm.cdf(-0.3)),
            "radius": rg.data.balanced_radius(),
            "chi_median": float(chi(2).median()),
            **{f"{name}_label_mean": float(y.double().mean()) for name, y in draws.items()},
            "label_error": n**-0.5,
        }
    )


def conservation(params: Any, point: Any) -> TrialResult:
    """COMP-02: how far `beta^2 - |w|^2 - b^2` drifts until t*, for several step limits."""
    import torch

    d, width, seeds = 5, params.conservation_width, range(params.seeds)
    sets = [rg.data.stripe(n_train=200, n_test=1, d=d, seed=seed) for seed in seeds]
    start = [dict(network(d, width, seed, dtype="float64").named_parameters()) for seed in seeds]
    first = neurons({name: torch.stack([p[name].detach() for p in start]) for name in start[0]})
    drifts, growths = [], []
    for limit in params.step_limits:
        run = train(
            sets,
            width=width,
            seeds=list(seeds),
            alpha=1e-6,
            dtype="float64",
            device=point.device,
            until="t_star",
            weight=limit,
        )
        last = neurons({name: value.cpu() for name, value in run.parameters.items()})
        drifts.append((_invariant(*last) - _invariant(*first)).abs().amax(1).numpy())
        growths.append((last[2] ** 2 - first[2] ** 2).amax(1).numpy())
    scale = _invariant(*first).abs().amax(1).numpy()
    return TrialResult(
        {"conservation_width": width},
        arrays={
            "step_limit": Array("limit", params.step_limits),
            "drift": Array(("limit", "network"), np.array(drifts) / scale),
            "drift_of_growth": Array(("limit", "network"), np.array(drifts) / np.array(growths)),
        },
    )


def _invariant(w: Tensor, b: Tensor, beta: Tensor) -> Tensor:
    return beta**2 - (w**2).sum(-1) - b**2


def gradient(params: Any, point: Any) -> TrialResult:
    """COMP-03: eq. 4 against automatic differentiation of the loss of S3, in both precisions."""
    return TrialResult(
        {f"gradient_error_{dtype}": _gradient_error(dtype) for dtype in ("float32", "float64")}
    )


def _gradient_error(dtype: str) -> float:
    """Largest relative difference among w, b and beta, half-way in training (some points fit)."""
    import torch

    d, width, alpha = 5, 100, 0.5
    kind = getattr(torch, dtype)
    data = rg.data.stripe(n_train=200, n_test=1, d=d, seed=0).to(kind)
    net, other = (network(d, width, seed, dtype=dtype) for seed in (0, 1))
    x, y = data.x_train, data.y_train
    start = other(x)[:, 0].detach()
    size = (net(x)[:, 0].detach() - start).abs().median()
    scale = alpha / size  # half of the points have |F| > 1/2, so some have their margin
    margin = y * scale * (net(x)[:, 0] - start)
    loss = (1 - margin).relu().mean() / scale
    named = dict(net.named_parameters())
    automatic = [-g for g in torch.autograd.grad(loss, list(named.values()))]
    with torch.no_grad():
        w, b, beta = named[WEIGHT], named["layers.0.bias"], named[READOUT][0]
        pull = y * (margin < 1) / len(x)  # c_mu
        inside = x @ w.T / d**0.5 + b
        active = (inside > 0).to(kind) * pull[:, None]
        factor = 2**0.5 / width
        formula = {
            WEIGHT: factor * beta[:, None] * (active.T @ x) / d**0.5,
            "layers.0.bias": factor * beta * active.sum(0),
            READOUT: (factor * (active * inside).sum(0))[None],
        }
    return max(
        float((formula[name] - found).abs().max() / found.abs().max())
        for name, found in zip(named, automatic, strict=True)
    )


def drift(params: Any, point: Any) -> TrialResult:
    """COMP-04: the population drift of five neurons against a sample of millions."""
    import torch

    from regimes import theory
    from regimes._random import generator

    d, count = 3, 5
    draws = torch.randn(count, d + 1, generator=generator(0, "neurons"), dtype=torch.float64)
    w, b = draws[:, :d], draws[:, d]
    exact = theory.stripe_drift(w, b, interfaces=EDGES)
    predicted = torch.cat([exact.w, exact.b[:, None]], 1)
    total, squares = torch.zeros_like(predicted), torch.zeros_like(predicted)
    chunk, source = 100_000, generator(0, "drift")
    for start in range(0, params.monte_carlo, chunk):
        size = min(chunk, params.monte_carlo - start)
        x = torch.randn(size, d, generator=source, dtype=torch.float64)
        y = torch.where((x[:, 0] > EDGES[0]) & (x[:, 0] < EDGES[1]), -1.0, 1.0).double()
        active = (w @ x.T / d**0.5 + b[:, None] > 0).double()
        terms = torch.cat([x, torch.full((size, 1), d**0.5, dtype=torch.float64)], 1)
        total += active @ (y[:, None] * terms)
        squares += active @ terms**2
    mean = total / params.monte_carlo
    error = ((squares / params.monte_carlo - mean**2) / params.monte_carlo).sqrt()
    return TrialResult(
        arrays={
            "drift_predicted": Array(("unit", "component"), predicted),
            "drift_sampled": Array(("unit", "component"), mean),
            "drift_error": Array(("unit", "component"), error),
        }
    )


def attractors(params: Any, point: Any) -> TrialResult:
    """COMP-06 and COMP-08: flags of the tabulated points, and the ODE's field close to them."""
    from regimes import theory

    flags, rates = [], []
    for d, table in TABLE.items():
        points = theory.stripe_fixed_points(*EDGES, d)
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

    from regimes import theory

    w = torch.zeros(1, fixed.d, dtype=torch.float64)
    w[0, 0], w[0, 1] = fixed.sign_w, 1e-3
    b = -(fixed.z + shift) * w[:, 0] / fixed.d**0.5
    beta = fixed.sign_beta * ((w**2).sum(1) + b**2).sqrt()
    dw, db, _ = theory.neuron_field(w, b, beta, interfaces=EDGES)
    along, across = float(dw[0, 0] / w[0, 0]), float(dw[0, 1] / w[0, 1])
    zeta = -(fixed.d**0.5) * float(db / w[0, 0]) - (fixed.z + shift) * along
    return {"zeta": zeta, "along": along, "across": across}


def divergence(params: Any, point: Any) -> TrialResult:
    """COMP-09: random neurons on infinitely many points, followed for 40 tau."""
    import torch

    from regimes import theory
    from regimes._random import generator

    state = torch.randn(params.ode_neurons, 4, generator=generator(0, "ode"), dtype=torch.float64)
    times = torch.linspace(0.0, 40.0, 81, dtype=torch.float64)
    path = theory.neuron_trajectories(
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


def kernel_split(params: Any, point: Any) -> TrialResult:
    """COMP-35: Theta_1 + Theta_2 x_perp.z_perp of a network without perpendicular weights."""
    import torch

    from regimes import measure, tangent
    from regimes._random import generator

    d, width = 4, 80
    net = network(d, width, 0, dtype="float64")
    with torch.no_grad():
        dict(net.named_parameters())[WEIGHT][:, 1:] = 0.0
    stacked = {name: value.detach()[None] for name, value in net.named_parameters()}
    w, b, beta = (each[0] for each in neurons(stacked))
    x = torch.randn(60, d, generator=generator(0, "split"), dtype=torch.float64)
    whole = tangent.TangentKernel(net)(x)
    first = measure.theta1(beta, w[:, :1], b, x[:, :1], d=d)
    second = measure.theta2(beta, w[:, :1], b, x[:, :1], d=d)
    split = first + second * (x[:, 1:] @ x[:, 1:].T)
    spectrum = measure.split_spectrum(beta, w[:, :1], b, d=3)
    return TrialResult(
        {
            "split_error": float((whole - split).abs().max() / whole.abs().max()),
            "spectrum_error": spectrum.error,
            "null_error": _null_error(beta, w[:, :2], b),
        },
        arrays={
            "spectrum_full": Array("rank", spectrum.full[:40]),
            "spectrum_predicted": Array("rank", spectrum.predicted[:40]),
        },
    )


def _null_error(beta: Tensor, w: Tensor, b: Tensor) -> float:
    """Norm of the kernel operator on (x_2^2 - 1) in d = 2, over its norm on the constant."""
    import torch
    from numpy.polynomial.hermite_e import hermegauss

    from regimes import measure

    (nodes, mass), (across, share) = hermegauss(40), hermegauss(5)
    x = torch.cartesian_prod(torch.as_tensor(nodes), torch.as_tensor(across))
    weights = torch.as_tensor(np.outer(mass, share).ravel() / (mass.sum() * share.sum()))
    gram = measure.shallow_kernel(beta, w, b, x)
    images = [gram @ (weights * f) for f in (x[:, 1] ** 2 - 1, torch.ones_like(weights))]
    norms = [float((weights * image**2).sum().sqrt()) for image in images]
    return norms[0] / norms[1]


def rotation(params: Any, point: Any) -> TrialResult:
    """COMP-47: the gradient lemma, the rotated flow, and fresh weights on rotated data."""
    import torch

    from regimes import flow, measure
    from regimes._random import generator

    boost = torch.tensor([[np.cosh(0.7), np.sinh(0.7)], [np.sinh(0.7), np.cosh(0.7)]])
    x = torch.randn(50, 2, generator=generator(0, "lemma"), dtype=torch.float64)
    lemma = measure.gradient_covariance_gap(
        lambda points: torch.tanh(points[:, 0] ** 2 - points[:, 1] ** 2), x, boost.double()
    )
    d, width, seeds = 4, 50, list(range(8))
    square = torch.randn(d, d, generator=generator(1, "turn"), dtype=torch.float64)
    turn = torch.linalg.qr(square)[0]
    sets = [
        rg.data.stripe(n_train=200, n_test=params.n_test, d=d, seed=seed, dtype=torch.float64)
        for seed in seeds
    ]
    turned = [
        dataclasses.replace(each, x_train=each.x_train @ turn.T, x_test=each.x_test @ turn.T)
        for each in sets
    ]
    net, other = (network(d, width, 0, dtype="float64") for _ in range(2))
    with torch.no_grad():
        weight = dict(other.named_parameters())[WEIGHT]
        weight.copy_(weight @ turn.T)
    pair = [
        flow.gradient_flow(one, each, alpha=1e-2, divide_by="alpha", max_steps=100)
        for one, each in ((net, sets[0]), (other, turned[0]))
    ]
    outputs: Any = [run.outputs_test for run in pair]
    gap = (outputs[0] - outputs[1]).abs().max()
    end: Any = flow.loss_below(params.rotation_end_loss)
    errors = []
    for number, chosen in enumerate((sets, turned)):
        run = train(
            chosen,
            width=width,
            seeds=[seed + 100 * number for seed in seeds],
            alpha=1e-3,
            dtype="float64",
            until=end,
            max_steps=20_000,
        )
        errors.append(run.test_errors)
    return TrialResult(
        {
            "lemma_gap": float(lemma),
            "rotated_gap": float(gap),
            "rotated_loss": float(pair[0].losses[0, -1]),
        },
        arrays={"rotation_error": Array(("frame", "data_set"), torch.stack(errors))},
    )


def information(params: Any, point: Any) -> TrialResult:
    """COMP-48: what the estimator of mutual information gives where it is known to fail."""
    import torch

    from regimes import measure
    from regimes._random import generator

    n = params.information_points
    found = []
    for seed in range(params.seeds):
        source = generator(seed, "information")
        y = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat_interleave(n // 2)
        x = 1.2 * y + torch.randn(n, generator=source, dtype=torch.float64)
        noise = torch.randn(n, 30, generator=source, dtype=torch.float64)
        padding = torch.zeros(n, 4, dtype=torch.float64)
        cases = (x, torch.cat([x[:, None], noise], 1), torch.cat([x[:, None], padding], 1))
        found.append([measure.mutual_information(case, y).value for case in cases])
    return TrialResult(arrays={"information": Array(("draw", "case"), found)})


def exponents(params: Any, point: Any) -> TrialResult:
    """COMP-49: relations among the exponents of S14, and their values."""
    from regimes.theory import beta_feature, beta_lazy, compression_exponent, compression_gain

    gaps = []
    for d in range(2, 51):
        gaps.append(beta_lazy(d) - d / (3 * d - 2))
        gaps.append(beta_lazy(d) + (d - 1) / (3 * d - 2) - (2 * d - 1) / (3 * d - 2))
        gaps.append(beta_feature(d, d - 1) - (2 * d - 1) / (3 * d - 2))
        for d_perp in range(d - 1):
            gaps.append(beta_feature(d, d_perp) - (d + d_perp / 2) / (3 * d - 2))
            gain = np.log(compression_gain(3.0, d, d_perp)) / np.log(3.0)
            gaps.append(gain + compression_exponent(d, d_perp))
    given = [beta_lazy(5), beta_feature(5, 4), beta_lazy(10), beta_feature(10, 9)]
    given += [beta_lazy(3), beta_feature(3, 1)]
    stated = [0.3846, 0.6923, 0.3571, 0.6786, 3 / 7, 1 / 2]
    return TrialResult(
        {
            "identity_gap": float(np.abs(gaps).max()),
            "value_gap": float(np.abs(np.subtract(given, stated)).max()),
            "beta_feature_cylinder": beta_feature(3, 1),
        }
    )


CHECKS = {
    "balance": balance,
    "conservation": conservation,
    "gradient": gradient,
    "drift": drift,
    "attractors": attractors,
    "divergence": divergence,
    "kernel-split": kernel_split,
    "rotation": rotation,
    "information": information,
    "exponents": exponents,
}
