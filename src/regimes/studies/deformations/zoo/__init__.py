"""The networks of the field on one set of images: does stability to deformations tell the error?"""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.deformations import _networks, _runs, _tasks

# how long a step takes, relative to that of ResNet18
_DEAR = {"resnet50": 3.0, "resnet34": 2.0, "efficientnet_b2": 2.5, "efficientnet_b0": 1.7}


@dataclass(frozen=True)
class Params:
    """Scanned: network, seed. Fixed: the rest."""

    network: tuple[str, ...] = ("fc4", "lenet", "resnet18", "efficientnet_b0")
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_train: int = 60
    n_test: int = 40
    steps: int = 4
    probes: int = 20
    profile: int = 10  # images of the profile by depth
    base: int | None = 2  # channels, where a network has such; None: its own
    enlarge: int = 4
    precision: str = "float32"


@study(
    "deformations/zoo",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "paper": Params(
            network=(
                "fc2",
                "fc4",
                "fc6",
                "lenet",
                "alexnet",
                "vgg11",
                "vgg11bn",
                "vgg16bn",
                "vgg19bn",
                "resnet18",
                "resnet34",
                "resnet50",
                "efficientnet_b0",
                "efficientnet_b2",
            ),
            images="cifar10",
            n_train=8000,
            n_test=2000,
            steps=4000,  # with 1200, 2 of 13 networks fitted their training images
            probes=500,
            profile=200,
            base=None,
            enlarge=1,
            precision="bfloat16",
        ),
    },
    axes=["network", Axis("seed")],
    units={"error": "fraction"},
    watch={"error": "min"},
)
class Zoo:
    """Fourteen networks, fully connected to ResNets and EfficientNets: error against stability.

    All get the same number of steps on the 8,000 training images of CIFAR-10 that are at hand, and
    are probed by 500 of its 2,000 test images. The paper trains on 50,000 for 250 epochs, with five
    networks of each kind; transfer from ImageNet is left out here.

    The paper: [Petrini 2021, figs. 3 to 5, 14 to 17].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network, before and after training."""
        made = _tasks.task_at(params, point, colours=3)
        return _runs.trained(
            point.network,
            _networks.network(point.network, made, point.seed, base=params.base),
            made,
            steps=params.steps,
            probes=params.probes,
            profile=params.profile,
            mean=True,
            point=point,
            precision=params.precision,
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Deep networks first."""
        return _DEAR.get(point.network, 1.0)
