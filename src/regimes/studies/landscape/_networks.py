"""The networks of [Geiger 2019], [Spigler 2019] and [Geiger 2020b].

Standard parametrisation, biases, every weight matrix made of orthogonal blocks, biases from 0
(docs/themes/landscape.md, "Networks").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regimes as rg
from regimes.studies._types import Ensemble, FullyConnected


def network(
    d: int,
    width: int,
    depth: int,
    seed: int,
    *,
    activation: str = "relu",
    dtype: str = "float64",
    device: str = "cpu",
    **options: Any,
) -> FullyConnected:
    """One network of `depth` hidden layers; options go to `nets.FullyConnected`.

    >>> network(10, 14, 2, 0).n_params
    379
    """
    import torch

    own: dict[str, Any] = {"parametrization": "standard", "bias": True, "init": "orthogonal"}
    return rg.nets.FullyConnected(
        d,
        width,
        depth,
        activation=activation,
        seed=seed,
        dtype=getattr(torch, dtype),
        device=device,
        **(own | options),
    )


def networks(d: int, width: int, depth: int, seeds: Sequence[int], **options: Any) -> Ensemble:
    """One network per seed, side by side; a seed that comes twice gives the same network.

    >>> networks(10, 14, 2, [0, 1, 0, 1]).size
    4
    """
    once = list(dict.fromkeys(seeds))
    made = rg.nets.stack(lambda seed: network(d, width, depth, seed, **options), once)
    return made.select([once.index(seed) for seed in seeds])


def weights_of(d: int, width: int, depth: int) -> int:
    """N = d h + (L - 1) h^2 + h, weights without biases: the N of every axis.

    >>> weights_of(51, 51, 3)
    7854
    """
    return rg.nets.n_weights(d, width, depth)
