"""Which directions in parameter space move the function [Baratin 2021, fig. 7]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._types import Tensor
from regimes.studies.alignment import _descents, _tasks


@dataclass(frozen=True)
class Params:
    """Scanned: seed. Fixed: the rest."""

    seed: tuple[int, ...] = (0, 1)
    network: str = "mlp"
    images: str = "digits"
    n_train: int = 200
    n_test: int = 100
    width: int = 8
    rate: float = 0.02
    steps: int = 10
    batch: int = 100
    samples: int = 10  # whose features give the directions, and on which f is looked at
    directions: int = 5
    random: int = 20
    eps: tuple[float, ...] = (1e-3, 1e-1)


@study(
    "alignment/perturbation",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(8)),
            n_train=1000,
            n_test=797,
            width=80,
            steps=200,
            samples=50,
            directions=50,
            random=200,
        ),
        "paper": Params(
            seed=(0, 1, 2),
            network="vgg11",
            images="cifar10",
            n_train=8000,
            n_test=2000,
            width=64,
            rate=0.01,
            steps=800,
            samples=50,
            directions=50,
            random=50,
        ),
    },
    axes=["seed"],
)
class Perturbation:
    """A step along the top singular vectors of the tangent features moves f; others do nothing.

    A trained network, its features on some test points, steps of fixed length along their top right
    singular vectors and along random directions.

    The paper: [Baratin 2021, app. A.4, fig. 7].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One trained network."""
        import torch

        from regimes import measure
        from regimes._functional import functional_call
        from regimes.tangent import TangentKernel

        flat = params.network not in _tasks.CONVOLUTIONAL
        made = _tasks.task(
            params.images,
            params.n_train,
            params.n_test,
            flat=flat,
            seed=point.seed,
            dtype=point.dtype,
            device=point.device,
        )
        net = _tasks.network(params.network, made, seed=point.seed, width=params.width)
        _descents.descend(
            net,
            made,
            rate=params.rate,
            steps=params.steps,
            batch=params.batch,
            seed=point.seed,
            each_step=lambda: None,
        )
        net.eval()
        x = made.x_test[: params.samples]
        features = TangentKernel(net).features(x)
        top = measure.principal_directions(features, params.directions)
        drawn = measure.random_directions(
            params.random, features.shape[-1], seed=point.seed, like=features
        )
        directions = torch.cat([top.directions, drawn])
        values = dict(net.named_parameters())

        def moved(delta: Tensor) -> Tensor:
            parts, used = {}, 0
            for name, p in values.items():
                parts[name] = p.detach() + delta[used : used + p.numel()].view_as(p)
                used += p.numel()
            with torch.no_grad():
                outputs: Tensor = functional_call(net, parts, (x,))
            return outputs

        arrays = {}
        for eps in params.eps:
            probe = measure.perturbation_probe(moved, directions, features, eps=eps)
            arrays[f"rate_{eps:g}"] = Array("direction", probe.rates)
            arrays["linear"] = Array("direction", probe.linear)
        trace = float(features.double().square().sum())
        return TrialResult(
            {
                "mean_square": trace / features.shape[-1],
                "directions": params.directions,
                "accuracy": _descents.accuracy(made.x_test, made.y_test)(net),
            },
            {**arrays, "singular_values": Array("top", top.singular_values)},
        )
