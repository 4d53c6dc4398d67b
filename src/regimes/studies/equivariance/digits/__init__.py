"""Digits on the sphere: a spherical and a planar network, trained and tested upright and turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Module

TESTED = ("NR", "R")  # not rotated, rotated


@dataclass(frozen=True)
class Params:
    """Scanned: network, what it is trained on, seed. Fixed: data and training of each network."""

    network: tuple[str, ...] = ("spherical", "planar")
    trained: tuple[str, ...] = ("NR", "R")
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    spherical_images: tuple[int, ...] = (64, 40)  # training, test
    spherical_epochs: int = 1
    spherical_rate: float = 2e-2
    bandwidths: tuple[int, ...] = (6, 4, 3)
    channels: tuple[int, ...] = (2, 3)
    max_beta_eighths: float = 2.0  # reach of the filters, in units of pi/8
    brightest: float = 20.0  # value of a white pixel
    planar_images: tuple[int, ...] = (64, 40)
    planar_epochs: int = 1
    planar_rate: float = 1e-3
    planar_b: int = 10
    planar_channels: tuple[int, ...] = (4, 4)
    planar_stride: int = 2
    planar_brightest: float = 1.0
    batch: int = 32


@study(
    "equivariance/digits",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2),
            images="mnist",
            spherical_images=(10_000, 2000),
            spherical_epochs=6,
            bandwidths=(16, 8, 5),
            channels=(10, 20),
            planar_images=(4000, 1000),
            planar_epochs=12,
            planar_b=20,
            planar_channels=(16, 32),
        ),
        "paper": Params(
            seed=(0,),
            images="mnist",
            spherical_images=(60_000, 10_000),
            spherical_epochs=20,
            spherical_rate=5e-3,
            bandwidths=(30, 10, 6),
            channels=(20, 40),
            max_beta_eighths=1.0,
            brightest=255.0,
            planar_images=(60_000, 10_000),
            planar_epochs=20,
            planar_rate=5e-4,
            planar_b=30,
            planar_channels=(32, 64),
            planar_stride=3,
            planar_brightest=255.0,
        ),
    },
    axes=["network", "trained", Axis("seed")],
)
class Digits:
    """A network that is equivariant by its layers knows turned digits it has never seen.

    MNIST digits are put on the sphere, upright (NR) or each turned by a random rotation (R). A
    spherical network trained on upright ones does nearly as well on turned ones; an ordinary
    network on the image of angles falls to chance, and even trained on turned ones it is poor.

    The paper: [Cohen 2018, section 5.2, table 1].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one network, test it upright and turned."""
        from regimes import data, flow
        from regimes.data import Dataset

        spherical = point.network == "spherical"
        n_train, n_test = params.spherical_images if spherical else params.planar_images
        b = params.bandwidths[0] if spherical else params.planar_b
        white = params.brightest if spherical else params.planar_brightest
        made = data.load(params.images, n_train=n_train, n_test=n_test, seed=point.seed)

        def placed(images: Any, turned: bool, part: int) -> Any:
            seed = 2 * point.seed + part
            x = data.spherical_mnist(images, b, turned, seed=seed)
            return (white * x).to(point.device)

        task = Dataset(
            placed(made.x_train, point.trained == "R", 0),
            made.y_train.to(point.device),
            placed(made.x_test, False, 1),
            made.y_test.to(point.device),
            name="digits on the sphere",
        )
        net = _network(params, point).to(point.device)
        epochs = params.spherical_epochs if spherical else params.planar_epochs
        run = flow.train_images(
            net,
            task,
            steps=epochs * (n_train // params.batch),
            rate=params.spherical_rate if spherical else params.planar_rate,
            optimiser="adam",
            weight_decay=0.0,
            schedule="constant",
            batch_size=params.batch,
            evaluate=min(n_train, 2000),
            channels_last=False,
            checkpoint=point.checkpoint(),
            seed=point.seed,
        )
        turned = placed(made.x_test, True, 1)
        wrong = _error(net, turned, task.y_test)
        return TrialResult(
            {
                "train_error": run.train_error,
                "train_loss": run.train_loss,
                "parameters": sum(each.numel() for each in net.parameters()),
                "seconds_per_step": run.seconds / max(run.steps, 1),
                **_paper_sizes(),
            },
            {"accuracy": Array("tested", [1 - run.test_error, 1 - wrong])},
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Spherical networks take longer."""
        return 10.0 if point.network == "spherical" else 1.0


def _network(params: Params, point: Point) -> Module:
    import math

    from regimes.nets import sphere

    if point.network == "spherical":
        reach = params.max_beta_eighths * math.pi / 8
        return sphere.SphericalMNIST(
            params.bandwidths, params.channels, max_beta=reach, seed=point.seed
        )
    if point.network != "planar":
        raise ValueError(f"network must be 'spherical' or 'planar', got {point.network!r}")
    return sphere.PlanarBaseline(
        2 * params.planar_b, params.planar_channels, params.planar_stride, seed=point.seed
    )


def _paper_sizes() -> dict[str, int]:
    """Parameters of the two networks of the paper, as built here."""
    from regimes.nets import sphere

    made = {"spherical": sphere.SphericalMNIST(), "planar": sphere.PlanarBaseline()}
    return {
        f"paper_{name}": sum(each.numel() for each in net.parameters())
        for name, net in made.items()
    }


def _error(net: Module, x: Any, y: Any) -> float:
    import torch

    with torch.no_grad():
        parts = zip(x.split(500), y.split(500), strict=True)
        return float(sum((net(a).argmax(1) != b).sum() for a, b in parts)) / len(x)
