"""Small networks on grey images, before and after training, probed in every way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Dataset, Module
from regimes.studies.deformations import _networks, _tasks, _training

WHEN = ("start", "end")
ELSEWHERE = ((2.0, 3.0), (1.0, 5.0))  # (delta, c) beside (1, 3)
_STEPS = {"fc": "fc_steps", "le": "lenet_steps", "mi": "mini_steps"}


@dataclass(frozen=True)
class Params:
    """Scanned: images, network, seed. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    network: tuple[str, ...] = ("fc4", "lenet", "mini8")
    seed: tuple[int, ...] = (0, 1)
    thorough: tuple[str, ...] = ("fc4", "lenet", "mini8")  # probed in every way,
    thorough_images: tuple[str, ...] = ("digits", "mnist")  # on these images
    colour_networks: tuple[str, ...] = ("lenet",)  # those that learn images in colour
    n_train: int = 100
    n_test: int = 60
    probes: int = 30
    fc_steps: int = 20
    lenet_steps: int = 20
    mini_steps: int = 10
    enlarge: int = 2
    deltas: tuple[float, ...] = (0.1, 1.0)
    noises: tuple[float, ...] = (0.01, 0.1, 1.0)


@study(
    "deformations/networks",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            images=("mnist", "fashion_mnist", "cifar10"),
            network=("fc2", "fc4", "fc6", "lenet", "mini4", "mini8"),
            seed=(0, 1, 2, 3, 4),
            n_train=20_000,
            n_test=2000,
            probes=400,
            fc_steps=600,
            lenet_steps=400,
            mini_steps=250,
            enlarge=1,
            deltas=(0.1, 0.3, 1.0, 2.0),
            noises=(0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 100.0, 1000.0),
        ),
    },
    axes=["images", "network", Axis("seed")],
)
class Networks:
    """Convolutional networks become more stable to deformations than to noise, others do not.

    R_f compares how much a network's output changes when an image is smoothly deformed by a pixel,
    and when it gets noise of the same size. It is about one before training, falls below one where
    networks learn well, and grows in fully connected ones. Six small networks on MNIST, and LeNet
    on CIFAR-10, probed by 400 test images.

    The paper: [Petrini 2021, secs. 3 to 5, figs. 3 to 5, 11 and 14 to 17].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network, before and after training."""
        n_train = min(params.n_train, 8000) if point.images == "cifar10" else params.n_train
        made = _tasks.task(
            point.images,
            n_train,
            params.n_test,
            seed=point.seed,
            device=point.device,
            enlarge=params.enlarge,
        )
        net = _networks.network(point.network, made, point.seed)
        probes, seed = made.x_test[: params.probes], point.seed
        thorough = point.network in params.thorough and point.images in params.thorough_images
        start = _training.three(net, probes, seed)
        deep = point.network != "lenet"  # its layers are in deformations/zoo
        first = _training.profile(net, probes, seed) if deep else [start["R"]]
        shaken = [_shaken(net, params, made, point)] if thorough else []
        run = _training.train(
            point.network,
            net,
            made,
            steps=getattr(params, _STEPS[point.network[:2]]),
            point=point,
        )
        end = _training.three(net, probes, seed)
        arrays = {name: Array("when", [start[name], end[name]]) for name in (*_training.THREE, "V")}
        last = _training.profile(net, probes, seed) if deep else [end["R"]]
        arrays["profile"] = Array(("when", "layer"), [first, last])
        if thorough:
            shaken.append(_shaken(net, params, made, point))
            arrays |= _in_every_way(net, params, made, point)
            arrays["shaken"] = Array(("when", "noise"), shaken)
            arrays["noise"] = Array("noise", params.noises)
        return TrialResult(
            {
                "error": run.test_error,
                "train_loss": run.train_loss,
                "train_error": run.train_error,
                "parameters": sum(each.numel() for each in net.parameters()),
                "image_norm": float(probes.flatten(1).norm(dim=1).median()),
            },
            arrays,
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Images in colour are learned by some networks only."""
        return bool(point.images != "cifar10" or point.network in params.colour_networks)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Small ResNets take most of the time."""
        return 20.0 if point.network.startswith("mini") else 1.0


def _shaken(net: Module, params: Params, made: Dataset, point: Point) -> list[float]:
    """The change under noise of each size, in absolute units: the median of |f(x+eta) - f(x)|^2."""
    found = []
    for radius in params.noises:
        at = _training.three(net, made.x_test[: params.probes], point.seed, radius=radius)
        found.append(at["G"] * at["V"])
    return found


def _in_every_way(net: Module, params: Params, made: Dataset, point: Point) -> dict[str, Array]:
    """R_f with means, at other displacements and cut-offs, and with both interpolations."""
    probes = made.x_test[: params.probes]

    def ratio(**settings: object) -> float:
        return _training.three(net, probes, point.seed, **settings)["R"]

    return {
        "R_mean": Array((), np.array(ratio(statistic="mean"))),
        "R_elsewhere": Array("setting", [ratio(delta=delta, c=c) for delta, c in ELSEWHERE]),
        "R_interpolated": Array(
            ("interpolation", "delta"),
            [
                [ratio(delta=delta, interpolation=kind) for delta in params.deltas]
                for kind in ("bilinear", "gaussian")
            ],
        ),
        "delta": Array("delta", params.deltas),
    }
