"""Where the energy of labels lies while a network learns [Ortiz-Jimenez 2021, sec. 4.2]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._types import Tensor
from regimes.studies.linearization import _tasks, _training

TOP = (5, 10, 50)  # eigenvectors that the labels' energy is looked for on
DRAWS = 20  # of random labels


@dataclass(frozen=True)
class Params:
    """Scanned: images, network and seed. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("mlp",)
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 200
    n_test: int | None = 60
    epochs: int = 4
    looks: tuple[int, ...] = (0, 2, 4)  # epochs after which the kernel is taken
    base: int = 64
    precision: str = "float32"  # of the Grams


@study(
    "linearization/concentration",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            n_train=1500,
            n_test=297,
            epochs=200,
            looks=(0, 1, 2, 5, 10, 20, 50, 100, 200),
        ),
        "paper": Params(
            images=("cifar10",),
            network=("mlp", "lenet", "resnet"),
            seed=(0, 1),
            n_train=8000,
            n_test=2000,
            epochs=200,
            looks=(0, 5, 20, 50, 200),
            precision="tf32",
        ),
    },
    axes=["images", "network", "seed"],
    units={"accuracy_network": "fraction", "accuracy_linear": "fraction"},
    dtype="float32",
)
class Concentration:
    """The energy of the labels on the top eigenvectors of the tangent kernel grows with training.

    A network learns which half of the classes an image is from, and its kernel turns while it does:
    more and more of the labels lies on the 50 strongest eigenvectors. What the linearisation at the
    start learns in as many steps stands beside it.

    The paper: [Ortiz-Jimenez 2021, sec. 4.2, fig. 6, table 1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one network, and take its kernel on the way."""
        import torch

        import regimes as rg

        data = _tasks.task(point.images, params.n_train, params.n_test, point.seed, point.dtype)
        data, net = _tasks.start(data, params.base, point)
        protocol = _training.Protocol(params.epochs, seed=point.seed)
        found, kept = _training.train_networks(
            net, [data], protocol, keep=params.looks, checkpoint=point.checkpoint()
        )
        x, y, n = torch.cat([data.x_train, data.x_test]), data.y_train, data.n_train
        whole = _tasks.kernel(net, params.precision, len(x))(x)
        both = torch.cat([y, data.y_test])[None]
        linear = _training.train_linear(whole, both, n, protocol)
        shares, aligned, traces = [], [], []
        for epoch in params.looks:
            kernel = _tasks.kernel(kept[0][epoch], params.precision, n)
            gram = whole[:n, :n] if epoch == 0 else kernel(data.x_train)
            top = rg.measure.gram_eigs(gram.contiguous(), min(n, max(TOP)))
            if epoch == 0:
                chance = _shares(top.vectors, _random_labels(point, n).to(y))
            shares.append(_shares(top.vectors, y[None])[:, 0])
            aligned.append(rg.measure.target_alignment(gram, y))
            traces.append(gram.diagonal().double().mean())
        arrays = {
            "epoch": Array("epoch", np.array(params.looks)),
            "top": Array("top", np.array(TOP)),
            "share": Array(("epoch", "top"), torch.stack(shares)),
            "chance": Array("top", chance.square().mean(1).sqrt()),
            "alignment": Array("epoch", torch.stack(aligned)),
            "trace": Array("epoch", torch.stack(traces)),
            "course": Array("each_epoch", found.course[0].float()),
        }
        scalars = {
            "accuracy_network": float(found.accuracy[0]),
            "accuracy_linear": float(linear.accuracy[0]),
            "loss_network": float(found.loss[0]),
            "loss_linear": float(linear.loss[0]),
            "points": n,
        }
        return TrialResult(scalars, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        return {"mlp": 1.0, "lenet": 10.0, "resnet": 300.0}[point.network] * params.epochs


def _shares(vectors: Tensor, targets: Tensor) -> Tensor:
    """|Phi_K y| / |y| for each K of TOP and each target (k, n)."""
    import torch

    import regimes as rg

    found = [
        rg.measure.energy_concentration(vectors, targets, min(K, len(vectors))).value for K in TOP
    ]
    return torch.stack(found)


def _random_labels(point: Point, n: int) -> Tensor:
    import torch

    from regimes._random import generator

    draws = generator(point.seed, "linearization/random-labels")
    return 2.0 * torch.randint(2, (DRAWS, n), generator=draws) - 1.0
