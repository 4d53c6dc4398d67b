"""Eigenfunctions of handwritten digits as targets [Ortiz-Jimenez 2021, app. E.1, fig. 11]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.linearization._eigenfunctions import LABELS, trial


@dataclass(frozen=True)
class Params:
    """Scanned: images, network, optimiser and seed; side by side indices. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)  # or "mnist"
    network: tuple[str, ...] = ("mlp",)
    optimiser: tuple[str, ...] = ("momentum",)
    seed: tuple[int, ...] = (0, 1)
    index: tuple[int, ...] = (LABELS, 5, 50, 200)  # 0-based; LABELS: the images' own labels
    adam_index: tuple[int, ...] = ()
    n_train: int = 200
    n_test: int | None = 60
    epochs: int = 4
    epochs_resnet: int | None = None
    modes: int = 60
    base: int = 64
    precision: str = "float32"  # of the Gram


@study(
    "linearization/mnist",
    version=2,
    sizes={
        "smoke": Params(),
        "paper": Params(
            images=("mnist",),
            network=("mlp", "lenet"),
            seed=(0,),
            index=(LABELS, 5, 50, 200, 500, 1000),
            n_train=60_000,
            n_test=10_000,
            epochs=10,
            modes=1000,
        ),
    },
    axes=["images", "network", "optimiser", "seed", Axis("index", stacked=True)],
    units={"accuracy_network": "fraction", "accuracy_linear": "fraction"},
    dtype="float32",
)
class Mnist:
    """Networks and their linearisations on eigenfunctions of all 70,000 images of MNIST.

    On early eigenfunctions the linearisation is ahead. The paper sees the convolutional network
    overtake it near the 500th. Ten epochs of 60,000 images are 4,680 steps.

    The paper: [Ortiz-Jimenez 2021, app. E.1, fig. 11].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network at its start: its eigenfunctions, and both models on the signs of some."""
        return trial(params, point)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Passes of the network."""
        return {"mlp": 1.0, "lenet": 10.0}[point.network] * params.epochs * len(point.index)
