"""Relative stability against the number of training images, at a constant number of steps."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.deformations import _networks, _runs, _tasks


@dataclass(frozen=True)
class Params:
    """Scanned: network, n_train, seed. Fixed: the rest."""

    network: tuple[str, ...] = ("fc4", "mini8")
    n_train: tuple[int, ...] = (20, 40)
    seed: tuple[int, ...] = (0, 1)
    full: tuple[int, ...] = (20,)  # sizes for fully connected networks,
    others: tuple[int, ...] = (20, 40)  # and for the others
    images: str = "digits"
    n_test: int = 40
    probes: int = 30
    steps: int = 6
    full_steps: int = 10  # of fully connected networks
    enlarge: int = 2
    base: int | None = None
    precision: str = "float32"


@study(
    "deformations/sample-size",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(100, 300, 500, 1000, 2000, 3000, 10_000),
            seed=(0, 1, 2, 3),
            full=(500, 2000, 10_000),
            others=(100, 300, 1000, 3000, 10_000),
            images="mnist",
            n_test=2000,
            probes=400,
            steps=800,
            full_steps=600,
            enlarge=1,
        ),
        "paper": Params(
            network=("lenet", "resnet18", "efficientnet_b0"),
            n_train=(100, 250, 800, 2500, 8000),
            full=(),
            others=(100, 250, 800, 2500, 8000),
            images="cifar10",
            n_test=2000,
            probes=500,
            steps=1200,
            full_steps=1200,
            enlarge=1,
            precision="bfloat16",
        ),
    },
    axes=["network", Axis("n_train", unit="images"), Axis("seed")],
    units={"error": "fraction"},
)
class SampleSize:
    """Stability to deformations is learned from data: R_f falls with the number of images P.

    Networks get the same number of steps for every P, on nested training sets. The small size has a
    small ResNet and a fully connected network on MNIST; the large one LeNet, ResNet18 and
    EfficientNet B0 on CIFAR-10, up to the 8,000 images that are at hand, where the paper has 50,000
    and sixteen networks a point.

    The paper: [Petrini 2021, secs. 3 and 5, figs. 3, 4, 6, 13, 18 and 22].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network on so many images, before and after training."""
        made = _tasks.task(
            params.images,
            point.n_train,
            params.n_test,
            seed=point.seed,
            device=point.device,
            enlarge=params.enlarge,
        )
        net = _networks.network(point.network, made, point.seed, base=params.base)
        return _runs.trained(
            point.network,
            net,
            made,
            steps=params.full_steps if _is_full(point) else params.steps,
            probes=params.probes,
            point=point,
            precision=params.precision,
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Kinds of networks have sizes of their own."""
        return point.n_train in (params.full if _is_full(point) else params.others)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Fully connected networks and LeNet are cheap."""
        return 0.1 if _is_full(point) or point.network == "lenet" else 1.0


def _is_full(point: Point) -> bool:
    return bool(point.network.startswith("fc"))
