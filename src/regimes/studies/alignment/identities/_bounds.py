"""Checks of the bounds on Rademacher complexity and of what minimises them."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array, Point, TrialResult
from regimes.studies._types import Tensor
from regimes.studies.alignment.identities._kernels import normal


def linear(params: Any, point: Point) -> TrialResult:
    """ALI-26: a linear class exactly and bounded; the same in other coordinates."""
    import torch

    from regimes import measure

    ratios, gaps = [], []
    for seed in point.seed:
        phi = normal("features", seed, params.points, params.features)
        w = normal("weights", seed, params.features)
        A = normal("A", seed, params.features, params.features)
        M = float(measure.rescaled_norm(w, A))
        gram = measure.rescaled_kernel(phi, A)
        exact, bound = measure.rademacher_linear(gram, M), measure.bound_linear(gram, M)
        ratios.append(exact.value / bound)
        # features B^{-1} Phi with weights B^T w, whose norm is that of B^{-1} A
        B = normal("B", seed, params.features, params.features)
        other, A_new = torch.linalg.solve(B, phi.T).T, torch.linalg.solve(B, A)
        same = measure.rescaled_kernel(other, A_new)
        radius = float(measure.rescaled_norm(B.T @ w, A_new))
        gaps.append(abs(measure.bound_linear(same, radius) / bound - 1))
        gaps[-1] = max(
            gaps[-1], abs(measure.rademacher_linear(same, radius).value / exact.value - 1)
        )
    return TrialResult(
        arrays={"linear_ratio": Array("problem", ratios), "change_gap": Array("problem", gaps)}
    )


def flow(params: Any, point: Point) -> TrialResult:
    """ALI-27: a learning flow through random kernels, exactly and bounded."""
    from regimes import measure

    ratios = []
    for seed in point.seed:
        rows = [
            normal(f"kernel {k}", seed, params.points, params.features)
            for k in range(params.kernels)
        ]
        radii = normal("radii", seed, params.kernels).abs()
        steps = [(float(m), phi @ phi.T) for m, phi in zip(radii, rows, strict=True)]
        ratios.append(measure.rademacher_flow(steps).value / measure.bound_flow(steps))
    return TrialResult(arrays={"flow_ratio": Array("problem", ratios)})


def classes(params: Any, point: Point) -> TrialResult:
    """ALI-28: the margin loss of a linear class, maximised for random signs, and its bounds."""
    import torch

    from regimes import measure
    from regimes._random import generator

    found = []
    n, c, features = params.points, params.classes, params.features
    for seed in point.seed:
        phi = normal("features", seed, n, c, features)
        labels = torch.randint(c, (n,), generator=generator(seed, "labels"))
        signs = torch.randint(0, 2, (params.signs, n), generator=generator(seed, "signs")) * 2 - 1.0
        best = _largest(phi, labels, signs.double(), params, seed)
        gram = torch.einsum("iyp,jzp->iyjz", phi, phi)
        bound = measure.bound_multiclass(gram, params.radius, params.gamma)
        error = float(best.std() / params.signs**0.5)
        found.append((float(best.mean()), error, bound.by_class, bound.whole))
    names = ("margin_complexity", "margin_error", "bound_by_class", "bound_whole")
    columns = zip(*found, strict=True)
    return TrialResult(
        arrays={name: Array("problem", values) for name, values in zip(names, columns, strict=True)}
    )


def _largest(phi: Tensor, labels: Tensor, signs: Tensor, params: Any, seed: int) -> Tensor:
    """`max_{|w| <= M} (1/n) sum_i sigma_i l(w, i)` found by ascent, for every sign vector."""
    import torch

    from regimes import measure

    w = normal("starts", seed, len(signs), phi.shape[2]).requires_grad_()
    best = torch.full((len(signs),), -torch.inf, dtype=torch.float64)
    for _ in range(params.steps):
        with torch.no_grad():  # back into the ball
            w *= params.radius / torch.linalg.vector_norm(w, dim=1, keepdim=True).clamp(
                min=params.radius
            )
        outputs = torch.einsum("sp,iyp->siy", w, phi)
        value = (signs * measure.ramp_loss(measure.margins(outputs, labels), params.gamma)).mean(1)
        best = torch.maximum(best, value.detach())
        (slope,) = torch.autograd.grad(value.sum(), w)
        with torch.no_grad():
            w += 0.3 * params.radius * slope / (1e-12 + slope.norm(dim=1, keepdim=True))
    return best


def rescaling(params: Any, point: Point) -> TrialResult:
    """ALI-29: the best rescaling of an interpolator's features against a numerical minimiser."""
    import torch

    from regimes import measure

    factors, values = [], []
    for seed in point.seed:
        phi = normal("features", seed, params.points, params.features)
        y = normal("labels", seed, params.points).sign()
        w = measure.min_norm_interpolator(phi, y).weights
        best = measure.optimal_rescaling(phi, w)
        left, s, right = torch.linalg.svd(phi, full_matrices=False)
        nu, _ = measure.minimise_product((right @ w) ** 2, s**2)
        factors.append(float((nu / best.nu - 1).abs().max()))
        values.append(abs(best.bound - float((left.T @ y).abs().sum()) / params.points))
    return TrialResult(
        arrays={
            "factor_gap": Array("problem", factors),
            "bound_gap": Array("problem", values),
        }
    )


def supernat(params: Any, point: Point) -> TrialResult:
    """ALI-32: the second step of SuperNat against a numerical minimiser."""
    import torch

    from regimes import measure

    factors, values = [], []
    for seed in point.seed:
        phi = normal("features", seed, params.points, params.features)
        g = normal("gradient", seed, params.points)
        left, s, right = torch.linalg.svd(phi, full_matrices=False)
        step = right @ (-params.eta * phi.T @ g)  # components of the step of descent
        nu, value = measure.minimise_product(step**2, s**2)
        components = left.T @ g
        closed = 1 / components.abs()
        closed = closed / closed.log().mean().exp()
        factors.append(float((nu / closed - 1).abs().max()))
        least = params.eta * float((s**2 * components.abs()).sum())
        values.append(abs(value / least - 1))
        lam = measure.supernat_factors(s**2, components, rescale="none")
        factors[-1] = max(factors[-1], float((lam / (s**2 * components.abs()) - 1).abs().max()))
    return TrialResult(
        arrays={
            "step_factor_gap": Array("problem", factors),
            "step_value_gap": Array("problem", values),
        }
    )
