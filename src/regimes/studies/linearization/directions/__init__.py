"""Neural anisotropy directions [Ortiz-Jimenez 2021, sec. 3.2, app. C]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Tensor
from regimes.studies.linearization import _tasks, _training

SHOWN = 10  # directions kept as pictures
OVERLAPS = (5, 20)  # sizes of the subspaces compared


@dataclass(frozen=True)
class Params:
    """Scanned: network and seed; side by side indices. Fixed: the rest."""

    network: tuple[str, ...] = ("lenet",)
    seed: tuple[int, ...] = (0, 1)
    index: tuple[int, ...] = (0, 5, 20)  # 0-based
    side: int = 12  # of the images, of one channel
    features: tuple[int, ...] = (4, 8, 32, 16)  # sizes of LeNet's layers
    base: int = 64
    n_train: int = 200
    n_test: int = 200
    batch: int = 100
    epochs: int = 2
    average: int = 20  # inputs that the other kind of directions is an average over


@study(
    "linearization/directions",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            index=(0, 2, 5, 10, 20, 50, 100, 140),
            n_train=2000,
            n_test=2000,
            epochs=15,
            average=100,
        ),
        "paper": Params(
            network=("lenet", "resnet"),
            seed=(0, 1, 2),
            index=(0, 10, 30, 100, 300, 600, 1000),
            side=32,
            features=(6, 16, 120, 84),
            n_train=10_000,
            n_test=10_000,
            batch=128,
            epochs=100,
            average=100,
        ),
    },
    axes=["network", "seed", Axis("index", stacked=True)],
    units={"accuracy_network": "fraction", "accuracy_linear": "fraction", "frequency": "1/pixel"},
    dtype="float32",
)
class Directions:
    """Directions in input space along which a convolutional network sees well, or hardly.

    They are the right singular vectors of d^2 f / (d theta d x) at the start. Points that one of
    them separates are easy for the network where its singular value is large, and beyond its reach
    where it is small; the linearisation does worse on all of them.

    The paper: [Ortiz-Jimenez 2021, sec. 3.2, figs. 4 and 9, app. C].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """The directions of one network at its start, and both models on points along some."""
        import torch

        import regimes as rg

        shape = (1, params.side, params.side)
        net = _tasks.network(
            point.network, shape, point.seed, activation="gelu", features=params.features,
            base=params.base, dtype=point.dtype, device=point.device,
        )  # fmt: skip
        own = rg.tangent.anisotropy_directions(net, input_shape=shape)
        draws = torch.randn(
            params.average, *shape, generator=_generator(point.seed), dtype=torch.float64
        )
        mean = rg.tangent.anisotropy_directions(net, draws.to(own.directions))
        protocol = _training.Protocol(params.epochs, batch=params.batch, seed=point.seed)
        sets = [
            rg.data.linearly_separable(
                own.directions[i].cpu(), params.n_train, n_test=params.n_test,
                seed=1000 * point.seed + i, dtype=getattr(torch, point.dtype),
            ).to(device=point.device)
            for i in point.index
        ]  # fmt: skip
        network, _ = _training.train_networks(net, sets, protocol, checkpoint=point.checkpoint())
        linear = []
        for data in sets:
            gram = rg.tangent.TangentKernel(net)(torch.cat([data.x_train, data.x_test]))
            y = torch.cat([data.y_train, data.y_test])[None]
            found = _training.train_linear(gram, y, data.n_train, protocol)
            linear.append(float(found.accuracy[0]))
        flat = own.directions.double().flatten(1).cpu()
        other = mean.directions.double().flatten(1).cpu()
        overlaps = [float((flat[:k] @ other[:k].T).square().sum()) / k for k in OVERLAPS]
        spectra, radius = _spectra(own.directions.double().cpu()[:, 0])
        energy = spectra.flatten(1)
        frequency = (energy * radius.flatten()).sum(1) / energy.sum(1)
        ends = [*range(SHOWN)]
        arrays = {
            "accuracy_network": Array("index", network.accuracy),
            "accuracy_linear": Array("index", np.array(linear)),
            "alignment": Array("direction", own.alignments.cpu()),
            "alignment_average": Array("direction", mean.alignments.cpu()),
            "frequency": Array("direction", frequency),
            "overlap": Array("subspace", np.array(overlaps)),
            "subspace": Array("subspace", np.array(OVERLAPS)),
        }
        if point.seed == min(point.seed, 0):  # pictures of one network are enough
            arrays["picture"] = Array(
                ("shown", "row", "column"), own.directions[ends, 0].float().cpu()
            )
            arrays["spectrum"] = Array(("shown", "row", "column"), spectra[ends].sqrt().float())
        return TrialResult(arrays=arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        return {"lenet": 1.0, "resnet": 50.0}[point.network] * params.epochs * params.n_train


def _generator(seed: int) -> Any:
    from regimes._random import generator

    return generator(seed, "linearization/average")


def _spectra(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Squared magnitudes of the Fourier transforms (k, side, side), and |frequency| (side, side).

    Frequencies are in cycles a pixel, the constant in the middle.
    """
    import torch

    side = pictures.shape[-1]
    place = torch.fft.fftshift(torch.fft.fftfreq(side, dtype=torch.float64))
    found = torch.fft.fftshift(torch.fft.fft2(pictures), dim=(1, 2)).abs().square()
    return found, (place[:, None] ** 2 + place**2).sqrt()
