"""What every accepted step changed, measured anew from the weights before and after it."""

from __future__ import annotations

import torch
from torch import Tensor

from regimes.flow._losses import Loss, LossLike, resolve_loss
from regimes.flow._observers import Observer
from regimes.flow._schedules import EverySteps
from regimes.flow._snapshots import NetworkSnapshot


def step_changes(loss: LossLike = "softhinge_20") -> Observer:
    """An observer of the changes [Geiger 2020, eqs. 8 and 9] of each step, (m, 2).

    The first is `max |F' - F|` over training points, the second `|g' - g|^2 / (|g'| |g|)` of the
    gradients g by automatic differentiation, both 0 at the start. Outputs and gradients are made
    apart from the flow, so that what it says of its steps (`Run.worst`) can be checked against it.

    Args:
        loss: that of the run; its members have one output and share their training points.

    Example:
        >>> from regimes import data, nets
        >>> from regimes.flow import gradient_flow
        >>> net = nets.FullyConnected(3, 8, activation="softplus_5", dtype=torch.float64)
        >>> points = data.stripe(20, 1, d=3, dtype=torch.float64)
        >>> watch = {"changes": step_changes()}
        >>> run = gradient_flow(net, points, loss="softhinge_20", max_steps=5, observe=watch)
        >>> seen = run.recordings["changes"].values[0]
        >>> bool((seen[:, 0] <= run.worst["output"][0] * 1.001).all())
        True
    """
    resolved = resolve_loss(loss, 1)
    last: dict[int, tuple[Tensor, Tensor]] = {}

    def measure(seen: NetworkSnapshot) -> Tensor:
        f, g = _outputs_and_gradient(seen, resolved)
        found = torch.zeros(len(f), 2, dtype=torch.float64)
        for row, number in enumerate(seen.numbers.tolist()):
            if number in last:
                f0, g0 = last[number]
                found[row, 0] = (f[row] - f0).abs().max()
                found[row, 1] = (g[row] - g0).square().sum() / (g[row].norm() * g0.norm())
            last[number] = f[row], g[row]
        return found

    return Observer(measure, EverySteps(1))


def _outputs_and_gradient(seen: NetworkSnapshot, loss: Loss) -> tuple[Tensor, Tensor]:
    """F (m, n) of some members, and the gradient (m, N) of their mean loss over alpha^2."""
    train = seen.members.train
    if train.own:
        raise ValueError(
            "step_changes takes members that share their training points, these have their own: "
            "train them one by one"
        )
    weights = {k: v.detach().clone().requires_grad_() for k, v in seen.parameters.items()}
    home = seen.members.ensemble.select(torch.from_numpy(seen.numbers))
    scale = seen.members.alpha[seen.numbers].to(train.x).view(-1, 1, 1)
    with torch.enable_grad():
        f = home.forward(weights, train.x)
        if seen.subtract_init:
            f = f - home(train.x).detach()
        total = loss.value(scale * f, train.y).mean(1) / scale[:, 0, 0] ** 2
        slopes = torch.autograd.grad(total.sum(), list(weights.values()))
    return (scale * f).detach()[..., 0], torch.cat([each.flatten(1) for each in slopes], 1)
