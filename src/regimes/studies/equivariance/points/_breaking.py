"""From square to rectangle and back: what no equivariant network can do, and what it asks for."""

from __future__ import annotations

from regimes.lab import Array, TrialResult
from regimes.studies._types import Tensor

ORDER = "1x0e + 1x1o + 1x2e"  # of the learned input
RECTANGLE = (1.3, 0.7)


def trial(mul: int, steps: int, seed: int) -> TrialResult:
    """Losses of three tasks, and the learned input of the last."""
    square, rectangle = _corners(1.0, 1.0), _corners(*RECTANGLE)
    down, _ = _fitted(rectangle, square, "", mul, steps, seed)
    up, _ = _fitted(square, rectangle, "", mul, steps, seed)
    helped, order = _fitted(square, rectangle, ORDER, mul, steps, seed)
    return TrialResult(
        {"loss_to_square": down, "loss_to_rectangle": up, "loss_with_order": helped},
        {"order_parameter": Array("component", order)},
    )


def _corners(x: float, y: float) -> Tensor:
    import torch

    corners = [[x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0]]
    return torch.tensor([corners], dtype=torch.float64)


def _fitted(
    start: Tensor, goal: Tensor, order: str, mul: int, steps: int, seed: int
) -> tuple[float, list[float]]:
    """The mean squared distance of the corners after training, and the learned input."""
    import torch

    from regimes.nets import points

    net = points.PointNetwork(
        "1x1o",
        radius=4.0,
        mul=mul,
        pool="none",
        order_parameter=order,
        seed=seed,
        dtype=torch.float64,  # Adam would turn the rounding of float32 into steps
    )
    optimiser = torch.optim.Adam(net.parameters(), 1e-2)
    least = float("inf")
    for step in range(steps + 1):
        loss = (start + net(start) - goal).square().sum(2).mean()
        least = float(loss.detach())
        if step == steps:
            break
        for group in optimiser.param_groups:  # Adam's steps are of the size of its rate
            group["lr"] = 1e-2 * min(1.0, 2 * (1 - step / steps)) ** 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return least, [] if net.order is None else net.order.detach().tolist()
