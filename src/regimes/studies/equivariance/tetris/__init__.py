"""Tetris pieces in voxels, learned in one orientation and recognised in any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies._types import Module, Tensor

MODELS = ("steerable", "norm", "cnn")
FILTERS = ("low-pass", "stride")


@dataclass(frozen=True)
class Params:
    """Scanned: model, thinning, seed. Fixed: pieces, networks, training."""

    model: tuple[str, ...] = MODELS
    thinning: tuple[str, ...] = FILTERS
    seed: tuple[int, ...] = (0,)
    kind: str = "density"
    side: int = 8
    pitch: float = 1.25
    width: float = 0.8
    padding: int = 2
    paper_networks: bool = False  # those of the paper, else a tenth of their size
    n_rotations: int = 2
    epochs: int = 3
    constant: int = 100  # epochs before the learning rate decays by 2 % each
    rate_steerable: float = 0.1
    rate_cnn: float = 2e-3


@study(
    "equivariance/tetris",
    version=2,  # before: tested with statistics of batch norm that had not caught up
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=(0, 1, 2, 3, 4), side=16, pitch=2.5, width=1.1, n_rotations=100, epochs=100
        ),
        "paper": Params(
            seed=tuple(range(17)),
            kind="voxel",
            side=36,
            padding=4,
            paper_networks=True,
            n_rotations=100,
            epochs=250,
        ),
    },
    axes=["model", "thinning", Axis("seed")],
    units={"accuracy": "share of test pieces"},
)
class Tetris:
    """A steerable network learns eight pieces in one orientation and knows them in all others.

    Fields are thinned out behind low-pass filters, or by convolutions that step over voxels, which
    breaks equivariance. Beside it an ordinary CNN, and the same network with non-linearities of
    norms instead of gates.

    The paper: [Weiler 2018, sec. 5.1, table 2, suppl. 1.3 and 3].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One network trained on eight pieces and tested on turned ones."""
        import torch

        from regimes import data
        from regimes.nets import voxels

        made = data.tetris(
            params.kind,
            params.side,
            params.n_rotations,
            point.seed,
            pitch=params.pitch,
            width=params.width,
            centred=params.kind == "density",
        ).to(device=point.device)
        net = network(params, point)
        x = voxels.low_pass(made.x_train, 2.0)
        losses = _train(net, x, made.y_train, params, point.model)
        net.eval()
        outputs, features = [], []
        with torch.no_grad():
            for piece in made.x_test.split(100):
                found = net.features(voxels.low_pass(piece, 2.0))
                features.append(found)
                outputs.append(net.readout(found))
        guess = torch.cat(outputs).argmax(1)
        right = (guess == made.y_test).double()
        reached = [k + 1 for k, loss in enumerate(losses) if loss <= 0.1]
        every = max(1, len(losses) // 50)
        confusion = torch.zeros(8, 8)
        confusion.index_put_(
            (made.y_test.cpu(), guess.cpu()), torch.ones(len(guess)), accumulate=True
        )
        return TrialResult(
            {
                "accuracy": float(right.mean()),
                "train_loss": losses[-1],
                "epochs_to_fit": float(reached[0] if reached else params.epochs + 1),
                "spread": _spread(torch.cat(features), len(made.x_train)),
                "parameters": net.n_params,
                "side": params.side,
                "paper_networks": params.paper_networks,
            },
            {
                "loss": Array("epoch", losses[::every]),
                "epoch": Array("epoch", list(range(1, len(losses) + 1))[::every]),
                "confusion": Array(("piece", "guess"), confusion / len(guess) * 8),
            },
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Norms are compared with gates behind low-pass filters alone."""
        return bool(point.model != "norm" or point.thinning == "low-pass")

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Convolutions that step are cheap."""
        return 1.0 if point.thinning == "low-pass" else 0.2


def network(params: Params, point: Point) -> Any:
    """The network of a point, by the names of its axes."""
    from regimes.nets import voxels

    smooth, shape = point.thinning == "low-pass", (1, *[params.side] * 3)
    rest: dict[str, Any] = {"smooth": smooth, "seed": point.seed, "device": point.device}
    if params.paper_networks and point.model != "norm":
        kind = voxels.TetrisCNN if point.model == "cnn" else voxels.TetrisSteerable
        return kind(shape, 8, **rest)
    rest |= {"strides": (1, 2, 2, 1), "padding": params.padding}
    if point.model == "cnn":
        return voxels.VoxelCNN(shape, 8, channels=(18, 36, 40, 32), **rest)
    types: tuple[tuple[int, ...], ...] = ((2, 2, 2), (4, 4, 4), (8, 4, 4), (32,))
    if params.paper_networks:
        types = ((4, 4, 4, 1), (16, 16, 16), (32, 16, 16), (128,))
    act = "norm" if point.model == "norm" else "gated"
    return voxels.SteerableCNN(shape, 8, types=types, nonlinearity=act, **rest)


def _train(net: Module, x: Tensor, y: Tensor, params: Params, model: str) -> list[float]:
    """Adam on all eight pieces at once; the loss of every epoch."""
    import torch

    rate = params.rate_cnn if model == "cnn" else params.rate_steerable
    optimiser = torch.optim.Adam(net.parameters(), rate)
    losses = []
    for epoch in range(params.epochs):
        for group in optimiser.param_groups:
            group["lr"] = rate * 0.98 ** max(0, epoch + 1 - params.constant)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def _spread(features: Tensor, pieces: int) -> float:
    """How much rotations move the features of a piece, over the distance between pieces."""
    turned = features.double().view(-1, pieces, features.shape[1])
    middles = turned.mean(0)
    within = (turned - middles).square().sum(2).mean().sqrt()
    between = (middles - middles.mean(0)).square().sum(1).mean().sqrt()
    return float(within / between)
