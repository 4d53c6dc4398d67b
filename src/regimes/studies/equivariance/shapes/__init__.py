"""Shapes seen from a sphere: a spherical and a planar network, tested upright and turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Module, Tensor

TESTED = ("aligned", "turned")
SCORES = ("P@N", "R@N", "F1", "mAP", "NDCG")


@dataclass(frozen=True)
class Params:
    """Scanned: network, seed. Fixed: solids, networks and their training."""

    network: tuple[str, ...] = ("spherical", "planar")
    seed: tuple[int, ...] = (0, 1)
    n_train: int = 20
    n_test: int = 12
    classes: int = 4
    bandwidths: tuple[int, ...] = (6, 4, 3)
    channels: tuple[int, ...] = (6, 3, 4)
    spherical_epochs: int = 2
    spherical_rate: float = 1e-2
    planar_channels: tuple[int, ...] = (4, 4)
    planar_stride: int = 1
    planar_epochs: int = 2
    planar_rate: float = 1e-3
    batch: int = 10


@study(
    "equivariance/shapes",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3, 4),
            n_train=100,
            n_test=400,
            classes=10,
            bandwidths=(16, 8, 5),
            channels=(6, 5, 10),
            spherical_epochs=25,
            planar_channels=(16, 32),
            planar_stride=2,
            planar_epochs=50,
            batch=25,
        ),
        "paper": Params(
            seed=(0, 1, 2),
            n_train=1000,
            n_test=1000,
            classes=10,
            bandwidths=(64, 32, 22, 7),
            channels=(6, 50, 70, 350),
            spherical_epochs=60,
            planar_channels=(32, 64),
            planar_stride=3,
            planar_epochs=60,
            batch=16,
        ),
    },
    axes=["network", Axis("seed")],
)
class Shapes:
    """A network of correlations knows a solid however it is turned; an ordinary one does not.

    Solids of ten families, in place of the shapes of SHREC17, are seen from a sphere around them.
    A spherical and a planar network are trained on aligned solids and tested on others, aligned
    and turned at random. The scores of retrieval are those of the challenge.

    The paper: [Cohen 2018, section 5.3, table 2].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one network on aligned solids, test it on aligned and turned ones."""
        from regimes import data, flow, measure

        spherical = point.network == "spherical"
        aligned, turned = (
            data.spherical_shapes(
                params.n_train if rotate == "none" else 1,
                params.n_test,
                params.bandwidths[0],
                point.seed,
                classes=params.classes,
                rotate=rotate,
            )
            for rotate in ("none", "test")
        )
        net = _network(params, point).to(point.device)
        epochs = params.spherical_epochs if spherical else params.planar_epochs
        run = flow.train_images(
            net,
            aligned,
            steps=epochs * (params.n_train // params.batch),
            rate=params.spherical_rate if spherical else params.planar_rate,
            optimiser="adam",
            weight_decay=0.0,
            schedule="cosine",
            batch_size=params.batch,
            evaluate=min(params.n_train, 1000),
            channels_last=False,
            checkpoint=point.checkpoint(),
            seed=point.seed,
        )
        net.eval()
        accuracy, scores = [], []
        for task in (aligned, turned):
            logits, labels = _logits(net, task.x_test.to(point.device)), task.y_test
            accuracy.append(float((logits.argmax(1) == labels).double().mean()))
            found = measure.retrieval(measure.class_lists(logits), labels)
            scores.append([list(found.micro), list(found.macro)])
        arrays = {
            "accuracy": Array("tested", accuracy),
            "scores": Array(("tested", "mean", "score"), scores),
        }
        if spherical and point.seed == min(params.seed):
            arrays["seen"] = Array(("solid", "beta", "alpha"), aligned.x_test[: params.classes, 0])
            arrays["seen_turned"] = Array(
                ("solid", "beta", "alpha"), turned.x_test[: params.classes, 0]
            )
        return TrialResult(
            {
                "train_error": run.train_error,
                "train_loss": run.train_loss,
                "parameters": sum(each.numel() for each in net.parameters()),
                "seconds_per_step": run.seconds / max(run.steps, 1),
            },
            arrays,
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Spherical networks take longer."""
        return 10.0 if point.network == "spherical" else 1.0


def _network(params: Params, point: Point) -> Module:
    from regimes.nets import sphere

    if point.network == "spherical":
        return sphere.SphericalShapes(
            params.bandwidths, params.channels, params.classes, seed=point.seed
        )
    if point.network != "planar":
        raise ValueError(f"network must be 'spherical' or 'planar', got {point.network!r}")
    return sphere.PlanarBaseline(
        2 * params.bandwidths[0],
        params.planar_channels,
        params.planar_stride,
        params.classes,
        c_in=params.channels[0],
        seed=point.seed,
    )


def _logits(net: Module, x: Tensor) -> Any:
    import torch

    with torch.no_grad():
        return torch.cat([net(part) for part in x.split(100)]).cpu()
