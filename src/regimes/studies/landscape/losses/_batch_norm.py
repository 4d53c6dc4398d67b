"""Networks whose hidden layers are normalised over the batch [Spigler 2019, app. B.1]."""

from __future__ import annotations

from collections.abc import Sequence

import regimes as rg
from regimes.studies._types import Ensemble, Module


def network(d: int, width: int, depth: int, seed: int, *, dtype: str, device: str) -> Module:
    """Relu layers with batch normalisation, torch's own start.

    The statistics are those of the points given, in training and after it, so that the network is
    a function of its training set. Scales and shifts are not counted in N.
    """
    import torch
    from torch import nn

    from regimes._random import generator

    layers: list[nn.Module] = []
    place = {"dtype": getattr(torch, dtype)}
    for i in range(depth):
        made = nn.Linear(d if i == 0 else width, width, device="meta", **place)
        norm = nn.BatchNorm1d(width, track_running_stats=False, device="meta", **place)
        layers += [made, norm, nn.ReLU()]
    layers.append(nn.Linear(width, 1, device="meta", **place))
    whole = nn.Sequential(*layers).to_empty(device="cpu")
    return rg.nets.initialise(whole, "torch_default", generator(seed, "batch_norm")).to(device)


def networks(d: int, width: int, depth: int, seeds: Sequence[int], **place: str) -> Ensemble:
    """One network per seed."""
    return rg.nets.stack(lambda seed: network(d, width, depth, seed, **place), seeds)
