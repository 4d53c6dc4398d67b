"""Tetris pieces as four points each."""

from __future__ import annotations

from regimes.lab import TrialResult
from regimes.studies._types import Tensor

RADIUS = 1.6
OUTPUTS = {"parity": "1x0o + 6x0e", "even": "8x0e"}


def trial(mul: int, steps: int, n_rotations: int, seed: int) -> TrialResult:
    """Trained in one orientation, tested in many; with and without a scalar that is odd."""
    import torch

    from regimes import data
    from regimes.nets import points

    made = data.tetris("points", n_rotations=n_rotations, seed=seed)
    found: dict[str, float] = {}
    for name, irreps in OUTPUTS.items():
        net = points.PointNetwork(irreps, radius=RADIUS, mul=mul, seed=seed)
        goal = _goals(name)
        optimiser = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(steps):
            loss = (net(made.x_train) - goal).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            guess = _classes(net(made.x_test), name)
        found[f"{name}_accuracy"] = float((guess == made.y_test).double().mean())
        found[f"{name}_loss"] = float(loss.detach())
    return TrialResult(found)


def _goals(name: str) -> Tensor:
    """One number for each class; with parity one odd number for both chiral pieces."""
    import torch

    if name == "even":
        return torch.eye(8)
    goal = torch.zeros(8, 7)
    goal[0, 0], goal[1, 0] = 1.0, -1.0
    goal[2:, 1:] = torch.eye(6)
    return goal


def _classes(out: Tensor, name: str) -> Tensor:
    """Chiral where the odd number is larger than every even one; its sign says which."""
    if name == "even":
        return out.argmax(1)
    odd, even = out[:, 0], out[:, 1:]
    chiral = odd.abs() > even.amax(1)
    return ((odd < 0).long()).where(chiral, 2 + even.argmax(1))
