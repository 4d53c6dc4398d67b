"""Networks and their linearisations on more and more images [Ortiz-Jimenez 2021, sec. 4.1]."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from regimes.lab import Point, TrialResult, study
from regimes.studies.linearization import _tasks, _training


@dataclass(frozen=True)
class Params:
    """Scanned: images, network, training images and seed. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("mlp",)
    n_train: tuple[int, ...] = (128, 256)
    seed: tuple[int, ...] = (0, 1)
    most: int = 1500  # training images at the largest size: smaller sets are the first of these
    n_test: int | None = 297
    epochs: int = 4
    base: int = 64
    precision: str = "float32"  # of the Gram


@study(
    "linearization/sample-size",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(n_train=(128, 256, 512, 1024, 1500), seed=tuple(range(20)), epochs=100),
        "paper": Params(
            images=("cifar10",),
            network=("mlp", "lenet", "resnet"),
            n_train=(128, 500, 2000, 8000),
            seed=tuple(range(3)),
            most=8000,
            n_test=2000,
            epochs=200,
        ),
    },
    axes=["images", "network", "n_train", "seed"],
    units={"accuracy_network": "fraction", "accuracy_linear": "fraction", "n_train": "images"},
    dtype="float32",
)
class SampleSize:
    """On labels that mean something the network's advantage grows with the number of images.

    Network and linearisation learn which half of the classes an image is from. With few images
    they are alike; with more the network errs less and less beside its linearisation, and moves
    farther from its start.

    The paper: [Ortiz-Jimenez 2021, sec. 4.1, fig. 5].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both models on the first so many images."""
        import torch

        import regimes as rg

        whole = _tasks.task(point.images, params.most, params.n_test, point.seed, point.dtype)
        n = point.n_train
        data = dataclasses.replace(whole, x_train=whole.x_train[:n], y_train=whole.y_train[:n])
        data, net = _tasks.start(data, params.base, point)
        protocol = _training.Protocol(params.epochs, seed=point.seed)
        network, _ = _training.train_networks(net, [data], protocol, checkpoint=point.checkpoint())
        x = torch.cat([data.x_train, data.x_test])
        gram = rg.tangent.TangentKernel(net, precision=params.precision)(x)
        y = torch.cat([data.y_train, data.y_test])[None]
        linear = _training.train_linear(gram, y, n, protocol)
        scalars = {}
        for name, found in (("network", network), ("linear", linear)):
            for what in ("accuracy", "loss", "distance"):
                scalars[f"{what}_{name}"] = float(getattr(found, what)[0])
        return TrialResult(scalars)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        own = {"mlp": 1.0, "lenet": 10.0, "resnet": 300.0}[point.network]
        return own * params.epochs * point.n_train
