"""The end of training at infinite width: its formula, and what is left of the initial function."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.landscape import _tasks


@dataclass(frozen=True)
class Params:
    """A seed is a network that is linearised and trained, and a set of functions at the start."""

    seed: tuple[int, ...] = (0, 1)
    points: tuple[int, ...] = (5, 10)  # P at which the residual is taken
    trained_points: int = 5  # P of the network that is trained
    width: int = 30
    depth: int = 1
    functions: int = 20  # initial functions of a seed
    images: str = "digits"
    n_test: int = 100
    steps: int = 150


@study(
    "landscape/predictor",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(8)),
            points=(10, 40, 160),
            trained_points=10,
            width=500,
            functions=100,
            images="mnist",
            n_test=1000,
            steps=10_000,
        ),
        "paper": Params(
            seed=tuple(range(20)),
            points=(10, 40, 160, 640, 2560),
            trained_points=20,
            width=2000,
            functions=200,
            images="mnist",
            n_test=5000,
            steps=30_000,
        ),
    },
    axes=[Axis("seed")],
)
class Predictor:
    """What a network that moves little ends at, without training it.

    Least squares under a kernel that does not move ends at `f_0(x) - Theta_x Theta^-1 f_0(X) +
    Theta_x Theta^-1 y`. What the first two terms leave of the initial function vanishes on the
    training points, and on others the more points there are.

    The paper: [Geiger 2020b, S.I. D].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """A linearised network trained and predicted; residuals of initial functions."""
        import torch

        import regimes as rg

        place = {"dtype": getattr(torch, point.dtype), "device": point.device}

        def network(seed: int) -> torch.nn.Module:
            return rg.nets.FullyConnected(
                _tasks.COMPONENTS, params.width, params.depth, seed=seed, **place
            )

        def data_of(n: int) -> rg.data.Dataset:
            return _tasks.parity_task(
                params.images, n, params.n_test, dtype=point.dtype, device=point.device
            )

        data, net = data_of(params.trained_points), network(point.seed)
        kernel = rg.tangent.TangentKernel(net)
        gram, cross = kernel(data.x_train), kernel(data.x_test, data.x_train)
        with torch.no_grad():
            first = [net(x)[:, 0] for x in (data.x_train, data.x_test)]
        top = float(torch.linalg.eigvalsh(gram)[-1])
        run = rg.flow.descend(
            rg.tangent.linearize(net),
            data,
            rate=params.trained_points / top,  # of the mean of (1/2)(y - f)^2
            optimiser="gd",
            loss="mse",
            subtract_init=False,
            divide_by="1",
            until=None,
            events=(),
            max_steps=params.steps,
            check_every=params.steps,
        )
        predicted = first[1] + cross @ torch.linalg.solve(gram, data.y_train - first[0])
        found = run.test_predictions[0]
        gap = (found - predicted).abs().max() / predicted.abs().max()

        numbers = [point.seed * params.functions + k for k in range(params.functions)]
        many = rg.nets.stack(network, numbers)
        left, left_train = [], []
        for n in params.points:
            task = data_of(n)
            theta = rg.theory.infinite_width(task.x_train, depth=params.depth).ntk
            across = rg.theory.infinite_width(task.x_test, task.x_train, depth=params.depth).ntk
            start, test = many(task.x_train)[..., 0], many(task.x_test)[..., 0]
            weights = torch.linalg.solve(theta, start.mT)  # (n, R)
            residual = test - (across @ weights).mT
            left.append(float(residual.square().mean().sqrt()))
            left_train.append(float((start - (theta @ weights).mT).abs().max()))
        return TrialResult(
            {"gap": float(gap), "initial": float(test.square().mean().sqrt())},
            {
                "size": Array("size", [float(n) for n in params.points]),
                "residual": Array("size", left),
                "residual_train": Array("size", left_train),
            },
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """All networks cost the same."""
        return 1.0
