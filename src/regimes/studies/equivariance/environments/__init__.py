"""Twenty rigid surroundings told apart by steerable and ordinary convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.equivariance._rates import late_fall


@dataclass(frozen=True)
class Params:
    """Scanned: model, seed. Fixed: the rest."""

    model: tuple[str, ...] = ("steerable", "cnn")
    seed: tuple[int, ...] = (0,)
    classes: int = 20
    n_train: int = 2  # of every class
    n_test: int = 1
    side: int = 8
    step: float = 2.5  # Angstrom
    types: tuple[str, ...] = ("2x0 + 2x1", "4x0 + 4x1", "8x0")
    batch: int = 10
    steps: int = 2
    rate_steerable: float = 0.02
    rate_cnn: float = 2e-3


@study(
    "equivariance/environments",
    version=3,  # before: tested with statistics of batch norm that had not caught up
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2),
            n_train=20,
            n_test=20,
            side=16,
            step=1.25,
            types=("4x0 + 4x1 + 2x2", "8x0 + 8x1 + 4x2", "64x0"),
            batch=20,
            steps=80,
        ),
    },
    axes=["model", Axis("seed")],
    units={"accuracy": "share of test surroundings"},
)
class Environments:
    """Steerable convolutions in place of ordinary ones, with as many fields as channels.

    A check of the pipeline for surroundings of amino acids, on twenty random templates of atoms in
    a fixed frame: what a network with steerable convolutions needs in parameters, and that both
    learn. It says nothing about proteins.

    The paper: [Weiler 2018, sec. 5.4].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network."""
        import torch

        from regimes import data
        from regimes._random import generator

        train = data.environment_like(params.n_train, params.classes, 2 * point.seed)
        test = data.environment_like(params.n_test, params.classes, 2 * point.seed + 1)
        x, z = (
            data.voxelize_points(each, params.side, params.step, width=0.6).to(point.device)
            for each in (train, test)
        )
        net = _network(params, point, x.shape[1])
        steerable = point.model == "steerable"
        rate = params.rate_steerable if steerable else params.rate_cnn
        optimiser = torch.optim.Adam(net.parameters(), rate)
        source = generator(point.seed, "environments/batches")
        labels = train.labels.to(point.device)
        for step in range(params.steps):
            for group in optimiser.param_groups:
                group["lr"] = late_fall(rate, step, params.steps)
            picked = torch.randint(len(x), (params.batch,), generator=source).to(point.device)
            loss = torch.nn.functional.cross_entropy(net(x[picked]), labels[picked])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        net.eval()
        with torch.no_grad():
            guess = torch.cat([net(part) for part in z.split(50)]).argmax(1).cpu()
        return TrialResult(
            {
                "accuracy": float((guess == test.labels).double().mean()),
                "train_loss": float(loss.detach()),
                "parameters": net.n_params,
            }
        )


def _network(params: Params, point: Point, kinds: int) -> Any:
    """Three convolutions; the ordinary network has a channel for every field of the other."""
    from regimes.nets import voxels

    shape, strides = (kinds, *[params.side] * 3), (1, 2, 2)
    rest: dict[str, Any] = {"strides": strides, "padding": 2, "seed": point.seed}
    rest |= {"batch_norm": True, "smooth": True, "device": point.device}
    if point.model == "steerable":
        return voxels.SteerableCNN(shape, params.classes, types=params.types, **rest)
    channels = [voxels.FieldType.of(each).count for each in params.types]
    return voxels.VoxelCNN(shape, params.classes, channels=channels, **rest)
