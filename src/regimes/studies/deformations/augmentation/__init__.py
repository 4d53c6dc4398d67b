"""What augmentation of the training images does to relative stability."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.deformations import _networks, _runs, _tasks, _training

KINDS = ("none", "shift", "deformation")


@dataclass(frozen=True)
class Params:
    """Scanned: augment, seed. Fixed: the rest."""

    augment: tuple[str, ...] = KINDS
    seed: tuple[int, ...] = (0, 1)
    cuts: tuple[float, ...] = (3.0,)  # c of the deformations that probe
    images: str = "digits"
    network: str = "mini8"
    n_train: int = 60
    n_test: int = 40
    probes: int = 30
    steps: int = 6
    enlarge: int = 2


@study(
    "deformations/augmentation",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3),
            cuts=(3.0, 5.0, 15.0),
            images="mnist",
            n_train=2000,
            n_test=2000,
            probes=400,
            steps=250,
            enlarge=1,
        ),
    },
    axes=["augment", Axis("seed")],
    units={"error": "fraction"},
)
class Augmentation:
    """Training on deformed images makes a network stable to deformations; shifts hardly do.

    A small ResNet on 2,000 images of MNIST, which are left as they are, shifted by up to four
    pixels, or smoothly deformed anew at every step (T = 0.01, c = 1).

    The paper: [Petrini 2021, fig. 12].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network, before and after training."""
        made = _tasks.task(
            params.images,
            params.n_train,
            params.n_test,
            seed=point.seed,
            device=point.device,
            enlarge=params.enlarge,
        )
        return _runs.trained(
            params.network,
            _networks.network(params.network, made, point.seed),
            made,
            steps=params.steps,
            probes=params.probes,
            cuts=params.cuts,
            point=point,
            augment=_training.augmentation(point.augment, point.seed),
        )
