"""Random deformations as a step of a data pipeline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.utils.data import get_worker_info

from regimes._check import choose, real, shown
from regimes._random import generator as seeded
from regimes.data._deform import INTERPOLATIONS, displace
from regimes.data._displacement import Field
from regimes.data._modes import cut_off, inverse_squares
from regimes.data._temperature import bijective_temperature, visible_temperature


@final
class DeformationAugment(nn.Module):
    """A fresh smooth deformation for every image, as a module for pipelines.

    It takes an image (C, n, n) or a batch (..., C, n, n) and fits between other transforms of a
    `Compose`. In the workers of a `DataLoader` each worker draws from a stream of its own, another
    one in every epoch; in one process the stream goes on from call to call.

    >>> images = torch.rand(5, 1, 28, 28)
    >>> DeformationAugment(T=1e-2, c=1)(images).shape
    torch.Size([5, 1, 28, 28])
    """

    def __init__(
        self,
        T: float | None = None,
        c: float | tuple[int, int] = 3,
        *,
        interpolation: str = "bilinear",
        mode_rule: str = "half",
        p: float = 1.0,
        seed: int = 0,
    ) -> None:
        """Say how strong and how rough the deformations are.

        Args:
            T: temperature; None draws one for each image, evenly between the one that moves pixels
                by half a pixel and the one at which half of the fields are bijective
                [Petrini 2021, eqs. 8 and 14].
            c: cut-off, or the smallest and the largest of whole numbers to draw from, evenly.
            interpolation: as in `deform`.
            mode_rule: "half" or "sharp", as in `sample_field`.
            p: probability that an image is deformed at all.
            seed: of all draws.

        Raises:
            ValueError: for settings that do not fit.
        """
        super().__init__()
        choose(interpolation, INTERPOLATIONS, "interpolation")
        choose(mode_rule, {"half": 0, "sharp": 1}, "mode rule")
        self.cuts = _cuts(c, mode_rule)
        if T is None and self.cuts[0] <= 1:
            raise ValueError(f"T=None needs cut-offs above 1, got c={c!r}")
        if T is not None and real("T", T) < 0:
            raise ValueError(f"T must not be negative, got {T!r}")
        if not 0 <= real("p", p) <= 1:
            raise ValueError(f"p is a probability, got {p!r}")
        self.T = None if T is None else float(T)
        self.interpolation, self.mode_rule = interpolation, mode_rule
        self.p, self.seed = float(p), int(seed)
        self._spread = _padded([inverse_squares(cut, mode_rule).sqrt() for cut in self.cuts])
        self._stream: tuple[object, torch.Generator] | None = None

    def forward(self, images: Tensor) -> Tensor:
        """The deformed images, shaped like the given ones."""
        if not isinstance(images, Tensor) or images.ndim < 3:
            raise ValueError(f"images must be a tensor (..., channels, n, n), got {shown(images)}")
        n, count = images.shape[-1], images.shape[:-3].numel()
        source = self._generator()
        which = torch.randint(len(self.cuts), (count,), generator=source)
        normal = torch.randn(
            count, 2, *self._spread.shape[1:], generator=source, dtype=torch.float64
        )
        lot = torch.rand(2, count, generator=source, dtype=torch.float64)
        heat = self._temperatures(n, which, lot[0]) * (lot[1] < self.p)
        found = normal * self._spread[which][:, None] * heat.sqrt()[:, None, None, None]
        return displace(images, Field(found.to(images), n), self.interpolation)

    def extra_repr(self) -> str:
        """What a printed module shows."""
        heat = "drawn" if self.T is None else f"{self.T:g}"
        cut = " to ".join(f"{cut:g}" for cut in sorted({self.cuts[0], self.cuts[-1]}))
        return f"T={heat}, c={cut}, {self.interpolation}, {self.mode_rule}, p={self.p:g}"

    def _temperatures(self, n: int, which: Tensor, lot: Tensor) -> Tensor:
        if self.T is not None:
            return torch.full_like(lot, self.T)
        low = torch.tensor([visible_temperature(c, n) for c in self.cuts], dtype=torch.float64)
        high = torch.tensor([bijective_temperature(c) for c in self.cuts], dtype=torch.float64)
        low = torch.minimum(low, high)[which]  # rough fields of few pixels have no window
        return low + lot * (high[which] - low)

    def _generator(self) -> torch.Generator:
        """The stream of this process: a worker's is its own, and new in every epoch."""
        worker = get_worker_info()
        own = (os.getpid(), None) if worker is None else (os.getpid(), worker.seed)
        if self._stream is None or self._stream[0] != own:
            name = "deformations" if worker is None else f"deformations/{worker.seed}"
            self._stream = (own, seeded(self.seed, name))
        return self._stream[1]

    def kept(self) -> dict[str, Tensor]:
        """Where the stream of this process stands, for a checkpoint."""
        return {"draws": self._generator().get_state()}

    def restore(self, kept: Mapping[str, Tensor]) -> None:
        """The inverse of `kept`."""
        self._generator().set_state(kept["draws"].clone())

    def __getstate__(self) -> dict[str, Any]:
        """A copy draws anew: streams belong to processes."""
        return {**self.__dict__, "_stream": None}


def _cuts(c: float | tuple[int, int], mode_rule: str) -> list[float]:
    if not isinstance(c, Sequence):
        found = cut_off(c, mode_rule)
        assert found is not None
        return [found]
    if len(c) != 2 or c[0] > c[1] or any(int(end) != end for end in c):
        raise ValueError(f"c must be a number or two whole numbers in order, got {c!r}")
    ends = [cut_off(end, mode_rule) for end in c]
    assert all(end is not None for end in ends)
    return [float(cut) for cut in range(int(c[0]), int(c[1]) + 1)]


def _padded(tables: list[Tensor]) -> Tensor:
    side = max(len(table) for table in tables)
    found = torch.zeros(len(tables), side, side, dtype=torch.float64)
    for row, table in zip(found, tables, strict=True):
        row[: len(table), : len(table)] = table
    return found
