"""Chains of alpha carbons told apart by steerable and ordinary residual networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies._types import Module, Tensor
from regimes.studies.equivariance._rates import late_fall

WIDTHS = {"cnn": 1, "cnn/4": 4, "cnn/16": 16}  # channels are divided by these
MODELS = ("steerable", *WIDTHS)


@dataclass(frozen=True)
class Params:
    """Scanned: model, chains per class, augmentation, seed. Fixed: the rest."""

    model: tuple[str, ...] = MODELS
    per_class: tuple[int, ...] = (2, 4)
    turned: tuple[bool, ...] = (True, False)  # whether a chain is turned each time it is shown
    seed: tuple[int, ...] = (0,)
    narrow_at: int = 4  # chains per class at which narrow CNNs are trained
    still_at: int = 2  # and at which chains are also shown as they are
    classes: int = 5
    n_test: int = 2  # of every class
    side: int = 8
    step: float = 5.0  # Angstrom
    channels: tuple[int, ...] = (16, 32)
    counts: tuple[int, ...] = (1, 1)
    blocks: tuple[int, ...] = (1, 1)
    features: int = 16
    max_order: int = 1
    batch: int = 4
    steps: int = 2
    rate_steerable: float = 0.1
    rate_cnn: float = 2e-3


@study(
    "equivariance/proteins",
    version=2,  # before: tested with statistics of batch norm that had not caught up
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            per_class=(20, 80),
            seed=(0, 1, 2),
            narrow_at=80,
            still_at=20,
            n_test=40,
            side=20,
            step=2.5,
            channels=(16, 32, 64),
            counts=(2, 4, 8),
            blocks=(1, 1, 1),
            features=64,
            max_order=2,
            batch=16,
            steps=200,
        ),
        "paper": Params(
            per_class=(31, 62, 124, 249, 498),
            seed=(0, 1, 2),
            narrow_at=498,
            still_at=31,
            classes=10,
            n_test=142,
            side=50,
            step=2.0,
            channels=(32, 64, 128, 256),
            counts=(2, 4, 8, 16),
            blocks=(3, 4, 6, 3),
            features=256,
            max_order=3,
            batch=16,
            steps=31_000,
            rate_cnn=5e-4,
        ),
    },
    axes=["model", "per_class", "turned", Axis("seed")],
    units={"accuracy": "share of test chains"},
)
class Proteins:
    """A steerable network tells architectures of chains apart with a hundredth of the parameters.

    Generated chains of alpha carbons in random orientations, a Gaussian for each on a grid of
    voxels; a residual CNN, its steerable twin, and narrower CNNs. Training takes as many steps
    whatever the number of chains.

    The paper: [Weiler 2018, sec. 5.5, fig. 4, suppl. 2 and 5].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network."""
        import torch

        from regimes import data

        train = data.protein_like(params.classes, point.per_class, point.seed)
        # a stream of its own: test chains of one seed are the training chains of none
        test = data.protein_like(params.classes, params.n_test, 100_000 + point.seed)
        net = network(params, point)
        loss = _train(net, train, params, point)
        net.eval()
        x = data.voxelize_points(test, params.side, params.step).to(point.device)
        with torch.no_grad():
            guess = torch.cat([net(part) for part in x.split(50)]).argmax(1).cpu()
        confusion = torch.zeros(params.classes, params.classes)
        confusion.index_put_((test.labels, guess), torch.ones(len(guess)), accumulate=True)
        return TrialResult(
            {
                "accuracy": float((guess == test.labels).double().mean()),
                "train_loss": loss,
                "parameters": net.n_params,
            }
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Narrow CNNs at one number of chains, chains that stay as they are at another."""
        if point.model in ("cnn/4", "cnn/16"):
            return bool(point.turned and point.per_class == params.narrow_at)
        return bool(point.turned or point.per_class == params.still_at)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Wide networks take longest."""
        return 1.0 / WIDTHS.get(point.model, 1)


def network(params: Params, point: Point) -> Any:
    """The network of a point."""
    from regimes.nets import voxels

    shape = (1, *[params.side] * 3)
    rest: dict[str, Any] = {"blocks": params.blocks, "seed": point.seed, "device": point.device}
    if point.model == "steerable":
        return voxels.CathSteerable(
            shape,
            params.classes,
            counts=params.counts,
            features=params.features,
            max_order=params.max_order,
            **rest,
        )
    channels = [max(1, each // WIDTHS[point.model]) for each in params.channels]
    return voxels.CathCNN(shape, params.classes, channels=channels, dropout=0.01, **rest)


def _train(net: Module, train: Any, params: Params, point: Point) -> float:
    """Adam, with a rate that falls late."""
    import torch

    rate = params.rate_steerable if point.model == "steerable" else params.rate_cnn
    optimiser = torch.optim.Adam(net.parameters(), rate)
    last: list[float] = []
    for step, (x, y) in enumerate(_batches(train, params, point)):
        for group in optimiser.param_groups:
            group["lr"] = late_fall(rate, step, params.steps)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        last = [*last[-9:], float(loss.detach())]
    return sum(last) / len(last)


def _batches(train: Any, params: Params, point: Point) -> Any:
    """Batches in random order, epoch after epoch, each chain turned anew where that is asked."""
    import torch

    from regimes import data
    from regimes._random import generator
    from regimes._rotations import haar_rotations

    source = generator(point.seed, "proteins/batches")
    order = torch.empty(0, dtype=torch.int64)
    for _ in range(params.steps):
        if len(order) < params.batch:
            order = torch.cat([order, torch.randperm(len(train), generator=source)])
        picked, order = order[: params.batch], order[params.batch :]
        chains = train.take(picked)
        if point.turned:
            chains = chains.rotated(haar_rotations(len(picked), source))
        x: Tensor = data.voxelize_points(chains, params.side, params.step)
        yield x.to(point.device), chains.labels.to(point.device)
