"""Convolutions on a lattice: they commute with shifts, and over the dihedral group with turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.studies._types import Tensor

SIDE, CHANNELS, IMAGES = 12, 6, 6
ELEMENTS = [(turns, mirrored) for mirrored in (False, True) for turns in range(4)]


def shifts(seed: int) -> dict[str, float]:
    """EQU-01: circular convolutions, and the mean over space behind a stride of two."""
    import torch
    from torch.nn import functional as F

    from regimes import measure
    from regimes._random import generator

    source = generator(seed, "transforms/shifts")
    first, second = (
        torch.randn(CHANNELS, c, 3, 3, generator=source, dtype=torch.float64) / (9 * c) ** 0.5
        for c in (1, CHANNELS)
    )
    x = torch.randn(IMAGES, 1, SIDE, SIDE, generator=source, dtype=torch.float64)
    steps = torch.randint(1, SIDE, (IMAGES, 2), generator=source).tolist()

    def net(x: Tensor, stride: int = 1) -> Tensor:
        for weight, step in ((first, stride), (second, 1)):
            x = F.conv2d(F.pad(x, (1, 1, 1, 1), "circular"), weight, stride=step).relu()
        return x

    def strided(x: Tensor) -> Tensor:
        return net(x, 2).mean((2, 3))

    def shift(x: Tensor, by: Any) -> Tensor:
        return x.roll(tuple(by), (2, 3))

    def stay(y: Tensor, by: Any) -> Tensor:
        return y

    even = [[2 * (i // 2), 2 * (j // 2)] for i, j in steps]
    odd = [[i + 1, j] for i, j in even]
    moved = measure.equivariance_error(net, x, steps, shift, shift)
    kept = measure.equivariance_error(strided, x, even, shift, stay, size="rms")
    broken = measure.equivariance_error(strided, x, odd, shift, stay, size="rms")
    return {
        "shift_error": moved.worst,
        "stride_even": kept.worst,
        "stride_odd": broken.value,
        "stride_odd_error": broken.error,
    }


def turned(x: Tensor, g: tuple[int, bool]) -> Tensor:
    """Images (..., side, side) mirrored or not, then turned by quarters."""
    turns, mirrored = g
    return (x.flip(-1) if mirrored else x).rot90(turns, (-2, -1))


def _table() -> list[list[int]]:
    """`table[i][j]`: the element that does j first and then i."""
    import torch

    probe = torch.arange(9).view(3, 3)
    seen = [turned(probe, g) for g in ELEMENTS]
    return [
        [
            next(k for k, each in enumerate(seen) if torch.equal(each, turned(turned(probe, h), g)))
            for h in ELEMENTS
        ]
        for g in ELEMENTS
    ]


def dihedral(seed: int) -> dict[str, float]:
    """EQU-03: scalars to regular fields to regular fields, all eight elements."""
    import torch

    from regimes._random import generator

    table = _table()
    inverse = [row.index(0) for row in table]
    worst = {}
    for dtype in (torch.float32, torch.float64):
        source = generator(seed, "transforms/dihedral")
        lift = torch.randn(CHANNELS, 1, 3, 3, generator=source, dtype=torch.float64).to(dtype)
        mix = torch.randn(CHANNELS, CHANNELS, 8, 3, 3, generator=source, dtype=torch.float64)
        x = torch.randn(IMAGES, 1, SIDE + 1, SIDE + 1, generator=source, dtype=torch.float64)
        x, mix = x.to(dtype), mix.to(dtype) / (72 * CHANNELS) ** 0.5

        def net(
            x: Tensor, lift: Tensor = lift, mix: Tensor = mix
        ) -> Tensor:  # (n, CHANNELS, 8, side, side)
            first = torch.stack([turned(lift, g) for g in ELEMENTS], 1)
            x = torch.nn.functional.conv2d(x, first.flatten(0, 1), padding=1).relu()
            rows = []
            for i, g in enumerate(ELEMENTS):
                from_h = [table[inverse[i]][k] for k in range(8)]  # g^-1 h
                rows.append(turned(mix[:, :, from_h], g))
            second = torch.stack(rows, 1).flatten(0, 1).flatten(1, 2)
            out = torch.nn.functional.conv2d(x, second, padding=1)
            return out.unflatten(1, (CHANNELS, 8))

        out = net(x)
        gaps = []
        for i, g in enumerate(ELEMENTS):
            back = [table[inverse[i]][k] for k in range(8)]  # the field at h came from g^-1 h
            gaps.append(float((net(turned(x, g)) - turned(out[:, :, back], g)).abs().max()))
        worst[str(dtype).removeprefix("torch.")] = max(gaps) / float(out.abs().max())
    return {
        "dihedral_float32": worst["float32"],
        "dihedral_float64": worst["float64"],
        "kernels_lifting": float(_free(table, 1)),
        "kernels_regular": float(_free(table, 8)),
    }


def _free(table: list[list[int]], d_in: int) -> int:
    """Free numbers of a 3 x 3 kernel from fields of size 1 or 8 to regular ones.

    The dimension of the kernels that stay the same when all eight elements turn the offsets and
    permute both fields: the eigenvalues 1 of the mean over the group.
    """
    import torch

    mean = np.zeros((9 * 8 * d_in,) * 2)
    offsets = torch.arange(9).view(3, 3)
    for i, g in enumerate(ELEMENTS):
        place = np.eye(9)[turned(offsets, g).flatten().numpy()]
        regular = np.eye(8)[:, table[i]]  # takes h to g h
        mean += np.kron(place, np.kron(regular, regular if d_in == 8 else np.eye(1))) / 8
    return int((np.linalg.eigvalsh((mean + mean.T) / 2) > 1 - 1e-9).sum())
