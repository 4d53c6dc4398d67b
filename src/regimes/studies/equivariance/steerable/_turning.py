"""How nearly a sampled kernel commutes with rotations that the grid does not have."""

from __future__ import annotations

from typing import Any

from regimes.studies._types import Tensor

BLOCKS = {"1 -> 3": ((0, 1), (0, 0, 0, 1)), "2 -> 2": ((0, 0, 1), (0, 0, 1)),
          "0, 1, 2 -> 0, 1, 2": ((1, 1, 1), (1, 1, 1))}  # fmt: skip


def errors(params: Any, cutoff: str, seed: int) -> list[float]:
    """`|conv(T f) - T conv(f)| / |T conv(f)|` in a ball, for smooth fields and one rotation.

    Both sides are turned by splines of third order. Fields are noise smoothed by a Gaussian and
    fading out towards the border.
    """
    import torch

    from regimes._random import generator
    from regimes._rotations import haar_rotations
    from regimes.nets import voxels

    source = generator(seed, "steerable/turning")
    R = haar_rotations(1, source)[0]
    inside = _distance(params.side) <= params.ball
    found = []
    for kinds in BLOCKS.values():
        given, out = (voxels.FieldType.of(kind) for kind in kinds)
        field = _smooth(given.dim, params.side, params.smooth, source)
        conv = voxels.SteerableConv3d(given, out, 5, padding=2, cutoff=cutoff).double()
        conv.draw_parameters(generator(seed, f"steerable/weights/{cutoff}"))
        with torch.no_grad():
            moved = conv(given.transform(field, R))
            there = out.transform(conv(field), R)
        change = (moved - there)[..., inside].norm() / there[..., inside].norm()
        found.append(float(change))
    return found


def _distance(side: int) -> Tensor:
    import torch

    axis = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    return torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1).norm(dim=-1)


def _smooth(channels: int, side: int, width: float, source: Any) -> Tensor:
    import torch
    from scipy.ndimage import gaussian_filter

    noise = torch.randn(channels, side, side, side, generator=source, dtype=torch.float64)
    smooth = torch.from_numpy(gaussian_filter(noise.numpy(), (0, width, width, width)))
    end = (side - 1) / 2
    window = torch.cos(torch.pi / 2 * (_distance(side) / end).clamp(max=1)) ** 2
    return (smooth * window)[None]
