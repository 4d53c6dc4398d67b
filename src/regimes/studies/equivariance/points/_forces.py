"""Forces in clusters of five atoms, by networks of points and by one of coordinates."""

from __future__ import annotations

from typing import Any

from regimes.lab import Array, TrialResult
from regimes.studies._types import Module, Tensor

KINDS = ("direct", "energy", "mlp")
_RADIUS, _BATCH = 3.0, 32


def trial(params: Any, seed: int) -> TrialResult:
    """Mean absolute errors over the mean force, as they lie and turned at random."""
    import torch

    from regimes import data
    from regimes._random import generator
    from regimes._rotations import haar_rotations

    test = data.morse_clusters(params.n_test, seed, stream="test")
    turns = haar_rotations(params.n_test, generator(seed, "points/turns")).float()
    size = test.forces.abs().mean()
    errors = torch.zeros(len(KINDS), len(params.force_samples), 2)
    for column, count in enumerate(params.force_samples):
        train = data.morse_clusters(count, seed)
        for row, kind in enumerate(KINDS):
            net = _trained(kind, train, params, seed)
            for k, (x, goal) in enumerate(
                (
                    (test.positions, test.forces),
                    (test.positions @ turns.mT, test.forces @ turns.mT),
                )
            ):
                with torch.no_grad():
                    out = net(x)
                errors[row, column, k] = (out - goal).abs().mean() / size
    return TrialResult(
        {},
        {
            "force_error": Array(("kind", "samples", "turned"), errors),
            "samples": Array("samples", params.force_samples),
        },
    )


class _Coordinates:
    """A network of the fifteen coordinates."""

    def __init__(self, net: Module) -> None:
        self.net = net

    def __call__(self, x: Tensor) -> Tensor:
        return self.net(x.flatten(1)).view(x.shape)


def _trained(kind: str, train: Any, params: Any, seed: int) -> Any:
    import torch

    from regimes import nets
    from regimes._random import generator
    from regimes.nets import points

    net: Any
    if kind == "mlp":
        inner = nets.MLP(15, 128, 2, 15, activation="relu", seed=seed)
        net, parameters, rate, steps = (
            _Coordinates(inner),
            inner.parameters(),
            1e-3,
            params.mlp_steps,
        )
    else:
        net = points.force_field(kind, radius=_RADIUS, mul=params.mul, neighbours=4.0, seed=seed)
        parameters = net.parameters()
        rate, steps = 1e-2, params.force_steps
    optimiser = torch.optim.Adam(parameters, rate)
    source = generator(seed, f"points/batches/{kind}")
    for _ in range(steps):
        picked = torch.randint(len(train.positions), (_BATCH,), generator=source)
        loss = (net(train.positions[picked]) - train.forces[picked]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net
