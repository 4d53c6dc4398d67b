"""Signs of the kernel's eigenfunctions as targets [Ortiz-Jimenez 2021, sec. 3.1, app. E.1]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.linearization._eigenfunctions import (
    LABELS,
    RESNETS,
    chosen,
    epochs,
    trial,
)


@dataclass(frozen=True)
class Params:
    """Scanned: images, network, optimiser and seed; side by side indices. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("mlp",)
    optimiser: tuple[str, ...] = ("momentum", "adam")
    seed: tuple[int, ...] = (0, 1)
    index: tuple[int, ...] = (LABELS, 2, 5, 20, 50)  # 0-based; LABELS: the images' own labels
    adam_index: tuple[int, ...] = (LABELS, 5, 50)  # those that Adam is tried on
    n_train: int = 200
    n_test: int | None = 60
    epochs: int = 4
    epochs_resnet: int | None = None  # of the residual network, if fewer; with two seeds
    modes: int = 60  # eigenfunctions whose norms and alignments are noted
    base: int = 64  # channels of the residual network
    precision: str = "float32"  # of the Gram


@study(
    "linearization/eigenfunctions",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            index=(LABELS, 0, 2, 5, 10, 20, 50, 100, 200, 400),
            n_train=1500,
            n_test=297,
            epochs=100,
            modes=400,
            precision="float64",
        ),
        "paper": Params(
            images=("cifar10",),
            network=("mlp", "lenet", "resnet"),
            optimiser=("momentum",),
            seed=(0, 1),
            index=(LABELS, 5, 20, 60, 150, 400, 1000),
            adam_index=(LABELS, 5, 20, 60, 150, 400, 1000),
            n_train=8000,
            n_test=2000,
            epochs=100,
            epochs_resnet=20,
            modes=1000,
            precision="tf32",
        ),
    },
    axes=["images", "network", "optimiser", "seed", Axis("index", stacked=True)],
    units={"accuracy_network": "fraction", "accuracy_linear": "fraction"},
    dtype="float32",
)
class Eigenfunctions:
    """Networks and their linearisations on targets made of the tangent kernel's eigenfunctions.

    The sign of eigenfunction j of the kernel at the start is a task of two classes. Both models
    find it harder as j grows, the network more so: on these tasks a linear model is better. The
    labels of the images themselves are the other way round.

    The paper: [Ortiz-Jimenez 2021, sec. 3.1, figs. 2, 3 and 10 to 13].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network at its start: its eigenfunctions, and both models on the signs of some."""
        return trial(params, point)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """The residual network, dearer than all others, is tried on two seeds."""
        return bool(point.network != "resnet" or point.seed in params.seed[:RESNETS])

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        own = {"mlp": 1.0, "lenet": 10.0, "resnet": 300.0}[point.network]
        return own * epochs(params, point) * len(chosen(params, point))
