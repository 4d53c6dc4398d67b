"""Newton's method in a trust region, on the exact Hessians of many networks at once.

Adam comes near a minimum whose stiff and soft directions differ by many decades, but the count of
negative eigenvalues asks for the minimum itself. A step minimises the quadratic model
`g.s + s.H s/2` over `|s| <= radius`, exactly, from all eigenpairs of H [Nocedal 2006, sec. 4.3]: so
it leaves saddles too. Lengths are measured in units of each weight in which the diagonal of H0 is
one [More 1978], within limits, or else soft directions would go no further than stiff ones may.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from regimes._check import instance, positive_int, real, shown
from regimes.curvature._dense import hessian
from regimes.curvature._losses import LossLike
from regimes.curvature._members import Members, Tensors, members_of
from regimes.nets import Ensemble
from regimes.tangent.network import _batch

_HALVINGS = 80  # of the shift's logarithm
_LEAST = 1e-14  # radius, beside the size of the weights, at which nothing moves any more
_SOFTEST = 1e-3  # of the diagonal of H0, beside its largest entry
_WORSE, _BETTER = 0.25, 0.75  # of the fall that was foretold: a smaller radius, a larger one


@final
@dataclass(frozen=True, eq=False)
class NewtonRun:
    """R networks after Newton's steps; fields are of shape (R,)."""

    ensemble: Ensemble
    loss: Tensor  # at the end
    gradient: Tensor  # norm of its gradient
    steps: Tensor  # taken and tried
    converged: Tensor  # truth values: the gradient fell below the tolerance


def newton(
    ensemble: Ensemble,
    x: Tensor,
    y: Tensor,
    loss: LossLike = "cross_entropy",
    *,
    steps: int = 100,
    tolerance: float = 1e-12,
    radius: float = 0.1,
    own: bool = False,
    memory: str | int = "2GiB",
) -> NewtonRun:
    """Go down to a minimum of the mean loss by Newton's method in a trust region.

    For some hundreds of parameters. A step costs the Hessian and all its eigenpairs; all networks
    take theirs together, and those that have converged leave. For losses that are smooth, or whose
    second derivative jumps, as that of the square hinge; with relu a minimum sits on kinks, which
    no quadratic model knows.

    Args:
        ensemble: networks of one shape, computed in their own precision; float64 is meant.
        x: inputs (n, ...) for all, or (R, n, ...) with `own`.
        y: labels.
        loss: as in `hessian`.
        steps: at most so many, those that are refused included.
        tolerance: norm of the gradient at which a network has converged.
        radius: of the first step, beside the norm of the weights.
        own: whether each network has points of its own.
        memory: budget for the Hessians.

    Example:
        >>> from regimes import nets
        >>> net = nets.FullyConnected(2, 1, 0, parametrization="standard", dtype=torch.float64)
        >>> x, y = torch.eye(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
        >>> found = newton(nets.stack([net]), x, y, "mse")
        >>> bool(found.converged), bool(found.loss < 1e-20)
        (True, True)
    """
    instance("ensemble", ensemble, Ensemble, "an Ensemble of nets.stack")
    most = positive_int("steps", steps)
    small, first = real("tolerance", tolerance, above=0.0), real("radius", radius, above=0.0)
    members = members_of(ensemble, x, y, loss, memory=memory, dtype=None, output=None, own=own)
    value, slope = _value_and_slope(members)
    size = _norm(ensemble)
    state = _State(
        dict(ensemble.parameters), value, slope, first * size, torch.zeros_like(value).long()
    )
    going = slope.norm(dim=1) > small
    while bool(going.any()):
        at = torch.nonzero(going)[:, 0]
        some = _some(members, state.parameters, at)
        found = hessian(_ensemble(some), some.x, some.y, loss, memory=memory, own=own)
        unit = _units(found.gauss_newton)
        lam, basis = torch.linalg.eigh(found.total * unit[:, :, None] * unit[:, None])
        own_slope = state.slope[at]
        pushed = (basis.mT @ (unit * own_slope)[..., None])[..., 0]
        short = _minimum(lam, pushed, state.radius[at])
        step = unit * (basis @ short[..., None])[..., 0]
        foretold = -((pushed * short).sum(1) + (lam * short.square()).sum(1) / 2)
        tried = _moved(some, step)
        new_value, new_slope = _value_and_slope(tried)
        share = (state.value[at] - new_value) / foretold.clamp_min(1e-300)
        # near the end rounding decides about the loss: a gradient that falls is as good
        level = (new_value - state.value[at]).abs() <= 1e-13 * state.value[at]
        taken = (share > 1e-4) | (level & (new_slope.norm(dim=1) < own_slope.norm(dim=1)))
        length = short.norm(dim=1)
        reach = state.radius[at]
        edge = length > 0.99 * reach
        grown = torch.where((share > _BETTER) & edge, 2 * reach, reach)
        state.radius[at] = torch.where(taken & (share >= _WORSE), grown, length / 4)
        state.count[at] += 1
        rows = at[taken]
        for name, kept in state.parameters.items():
            kept[rows] = _ensemble(tried).parameters[name][taken]
        state.value[rows], state.slope[rows] = new_value[taken], new_slope[taken]
        going = (
            (state.slope.norm(dim=1) > small)
            & (state.count < most)
            & (state.radius > _LEAST * size)
        )  # fmt: skip
    norm = state.slope.norm(dim=1)
    return NewtonRun(
        ensemble.moved_to(state.parameters), state.value, norm, state.count, norm <= small
    )


@dataclass(eq=False)
class _State:
    """Where all members are."""

    parameters: Tensors
    value: Tensor  # (R,)
    slope: Tensor  # (R, N)
    radius: Tensor  # (R,)
    count: Tensor  # (R,)

    def __post_init__(self) -> None:
        self.parameters = {name: t.clone() for name, t in self.parameters.items()}


def _units(stiff: Tensor) -> Tensor:
    """How far each weight goes for a step of one, (R, N): the least of them one."""
    diagonal = stiff.diagonal(dim1=-2, dim2=-1)
    largest = diagonal.amax(1, keepdim=True).clamp_min(1e-300)
    return (diagonal / largest).clamp_min(_SOFTEST).rsqrt()


def _minimum(lam: Tensor, slope: Tensor, radius: Tensor) -> Tensor:
    """The minimum of `slope.s + lam.s^2/2` over `|s| <= radius`, in the basis of the eigenvectors.

    `s = -slope/(lam + mu)` with the least mu >= 0 that makes all of `lam + mu` positive and the
    step short enough. Where no mu makes it long enough, the lowest direction fills what is left.

    Args:
        lam: (R, N), increasing.
        slope: (R, N).
        radius: (R,).
    """
    scale = lam.abs().amax(1).clamp_min(1e-300)
    floor = (-lam[:, 0]).clamp_min(0.0) + 1e-13 * scale
    high = floor + slope.norm(dim=1) / radius  # there the step is shorter than the radius
    low_log, high_log = (1e-13 * scale).log(), (high - floor).clamp_min(1e-13 * scale).log()

    def length(shift: Tensor) -> Tensor:
        return (slope / (lam + shift[:, None])).norm(dim=1)

    for _ in range(_HALVINGS):
        middle = (low_log + high_log) / 2
        long = length(floor + middle.exp()) > radius
        low_log = torch.where(long, middle, low_log)
        high_log = torch.where(long, high_log, middle)
    shift = floor + high_log.exp()
    inside = (lam[:, 0] > 1e-12 * scale) & (length(torch.zeros_like(shift)) <= radius)
    shift = torch.where(inside, torch.zeros_like(shift), shift)
    step = -slope / (lam + shift[:, None])
    left = (radius.square() - step.square().sum(1)).clamp_min(0.0).sqrt()
    sign = torch.where(slope[:, 0] > 0, -1.0, 1.0).to(step)
    down = (lam[:, 0] < -1e-12 * scale) & (left > 0.1 * radius)
    step[:, 0] += torch.where(down, sign * left, torch.zeros_like(left))
    return step


def _value_and_slope(members: Members) -> tuple[Tensor, Tensor]:
    """The mean loss (R,) and its gradient (R, N)."""
    n = members.problem.points
    (block,) = members.blocks(n)
    leaves, F = members.graph(block[0])
    flat = F.detach()
    value = members.totals(flat, block[1]) / n
    slopes = members.slopes(flat, block[1]) / n
    found = torch.autograd.grad(F, leaves, slopes, materialize_grads=True)
    return value.detach(), torch.cat([each.flatten(1) for each in found], 1)


def _some(members: Members, parameters: Tensors, at: Tensor) -> Members:
    """These members, where they are now."""
    whole = _ensemble(members).moved_to(parameters).select(at)
    x, y = members.x, members.y
    if members.own:
        x, y = (_batch.apply(t, lambda each: each[at]) for t in (x, y))
    return dataclasses.replace(members, ensemble=whole, x=x, y=y)


def _moved(members: Members, step: Tensor) -> Members:
    """The members after a step (R, N)."""
    ensemble = _ensemble(members)
    problem = members.problem
    parameters = {
        name: t + step[:, problem.slices[name]].view_as(t)
        for name, t in ensemble.parameters.items()
    }
    return dataclasses.replace(members, ensemble=ensemble.moved_to(parameters))


def _ensemble(members: Members) -> Ensemble:
    if members.ensemble is None:
        raise ValueError(f"expected an ensemble, got {shown(members.template)}")
    return members.ensemble


def _norm(ensemble: Ensemble) -> Tensor:
    """Of the weights of each member, (R,)."""
    return torch.cat([t.flatten(1) for t in ensemble.parameters.values()], 1).norm(dim=1)
