"""A field that turns in front of a steerable network, and what comes out of it."""

from __future__ import annotations

import math
from typing import Any

from regimes.lab import Array
from regimes.studies._types import Tensor

SIDE = 15


def arrows(frames: int, seed: int) -> dict[str, Array]:
    """Scalars that go in, and vectors that come out, in the middle plane at every angle.

    The vectors are computed in two ways: the network on the turned field, and the turned output
    of the network on the field as it was.
    """
    import torch

    from regimes import data
    from regimes.nets import voxels

    piece = data.tetris(side=SIDE, n_rotations=0, pitch=2.2, width=1.2, dtype=torch.float64)
    field = piece.x_train[7:8]  # the zigzag lies in the plane that is shown
    net = _network(seed)
    vectors = voxels.FieldType.of((0, 1))
    shown: list[Tensor] = []
    first: list[Tensor] = []
    second: list[Tensor] = []
    with torch.no_grad():
        still = net(field)
        for k in range(frames):
            R = _about_z(2 * math.pi * k / frames)
            turned = voxels.FieldType.of((1,)).transform(field, R)
            shown.append(turned[0, 0, :, :, SIDE // 2])
            for out, kept in ((net(turned), first), (vectors.transform(still, R), second)):
                kept.append(out[0, :2, :, :, SIDE // 2])
    return {
        "film_scalars": Array(("frame", "x", "y"), torch.stack(shown).float()),
        "film_turned_first": Array(("frame", "xy", "x", "y"), torch.stack(first).float()),
        "film_turned_last": Array(("frame", "xy", "x", "y"), torch.stack(second).float()),
    }


def _network(seed: int) -> Any:
    """Two layers with random weights, scalars to one vector field."""
    import torch
    from torch import nn

    from regimes._random import generator
    from regimes.nets import voxels

    act = voxels.Gated((2, 2, 1))
    first = voxels.SteerableConv3d((1,), act.gates, 5, padding=2)
    last = voxels.SteerableConv3d(act.fields, (0, 1), 5, padding=2)
    source = generator(seed, "steerable/film")
    for layer in (first, act, last):
        layer.draw_parameters(source)
    return nn.Sequential(first, act, last).to(torch.float64)


def _about_z(angle: float) -> Tensor:
    import torch

    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], dtype=torch.float64)
