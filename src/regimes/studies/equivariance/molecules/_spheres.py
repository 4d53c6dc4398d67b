"""A spherical network on what the counts of atoms leave of the energy."""

from __future__ import annotations

import math
from typing import Any

from regimes.lab import Point
from regimes.studies._types import Tensor
from regimes.studies.equivariance.molecules import _baselines

Part = tuple[Any, ...]


def errors(params: Any, point: Point, train: Part, test: Part) -> dict[str, float]:
    """Of the counts alone, of the network on top, and what rotations and orders of atoms change."""
    import torch

    from regimes._random import generator
    from regimes.nets import sphere

    predict = _baselines.composition(train, params.mlp_steps, point.seed)
    rest = train[2] - predict(train[0])
    scale = rest.std()
    b = params.bandwidths[0]
    x, kinds = _placed(train, b, point.device)
    level = x[kinds.sum(-1) > 0].flatten(2)
    mean = level.mean((0, 2))[:, None, None]
    width = level.std((0, 2))[:, None, None].clamp_min(1e-6)
    net = sphere.SphericalMolecule(
        params.bandwidths,
        params.features,
        hidden=params.hidden,
        residual=params.residual,
        join_elements=params.join_elements,
        max_beta=params.max_beta_eighths * math.pi / 8,
        seed=point.seed,
    ).to(point.device)
    x = (x - mean) / width
    target = (rest / scale).to(x)
    optimiser = torch.optim.Adam(net.parameters(), lr=params.rate)
    draws = generator(point.seed, "batches")
    for epoch in range(params.epochs):
        for group in optimiser.param_groups:
            group["lr"] = params.rate * 0.1 ** (epoch // params.decay_every)
        for batch in torch.randperm(len(x), generator=draws).split(params.batch):
            if len(batch) < 2:
                continue
            optimiser.zero_grad()
            chosen = batch.to(point.device)
            loss = (net(x[chosen], kinds[chosen]) - target[chosen]).square().mean()
            loss.backward()
            optimiser.step()
    net.eval()

    @torch.no_grad()
    def energies(part: Part) -> Any:
        spheres, kinds = _placed(part, b, point.device)
        pairs = zip(((spheres - mean) / width).split(32), kinds.split(32), strict=True)
        found = torch.cat([net(*pair) for pair in pairs]).double().cpu()
        return found * scale + predict(part[0])

    found = energies(test)
    few = tuple(each[: params.turned] for each in test)
    error = _baselines.rmse(found, test[2])
    turned = energies((few[0], few[1] @ _turns(len(few[0]), point.seed).mT, few[2]))
    order = torch.randperm(few[0].shape[1], generator=draws)
    mixed = energies((few[0][:, order], few[1][:, order], few[2]))
    kept = found[: params.turned]
    return {
        "rmse": error,
        "rmse_train": _baselines.rmse(energies(train), train[2]),
        "rmse_composition": _baselines.rmse(predict(test[0]), test[2]),
        "turned": float((turned - kept).square().mean().sqrt()) / error,
        "mixed": float((mixed - kept).abs().max()) / error,
        "parameters": sum(each.numel() for each in net.parameters()),
    }


def _placed(part: Part, b: int, device: str) -> tuple[Tensor, Tensor]:
    """Potentials on the spheres, and one-hot kinds, in single precision."""
    import torch

    from regimes import data

    Z, R, _ = part
    parts = [
        data.molecule_to_spheres(z, r, b).float()
        for z, r in zip(Z.split(64), R.split(64), strict=True)
    ]
    kinds = torch.stack([(z == Z).float() for z in data.ELEMENTS], -1)
    return torch.cat(parts).to(device), kinds.to(device)


def _turns(n: int, seed: int) -> Any:
    from regimes.nets import sphere

    return sphere.random_rotations(n, seed=seed)
