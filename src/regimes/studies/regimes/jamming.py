"""How many parameters fit how many points, and what the landscape is like there (PR27)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _setting as setting

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.data import Dataset

LABELS = ("parity", "random")
GUESS = {"parity": (110.0, 300.0, 0.75), "random": (0.42, 1.0, 1.0)}  # N* ~ a (P/b)^c, to aim at
ACTIVATIONS = ("relu", "tanh")


@dataclass(frozen=True)
class Params:
    """Scanned: labels, n_train, width and seed. Fixed: the rest."""

    labels: tuple[str, ...] = LABELS
    n_train: tuple[int, ...] = (30, 60)
    width: tuple[int, ...] = (2, 3, 5)
    seed: tuple[int, ...] = (0, 1)
    around: float = 100.0  # widths whose N is within this factor of the expected N* are run
    images: str = "digits"
    n_test: int = 200
    at: float = 10.0
    eps: float = 0.1
    max_steps: int = 100
    hessian_width: int = 4  # of the networks whose Hessian is taken
    hessian_seeds: int = 1


@study(
    "regimes/jamming",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(250, 500, 1000, 2000),
            width=(3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 30),
            seed=(0, 1, 2),
            around=1.9,
            images="mnist",
            n_test=4000,
            eps=1e-2,
            max_steps=10_000,
            hessian_width=12,
            hessian_seeds=8,
        ),
        "paper": Params(
            n_train=(500, 1000, 2000, 5000, 10_000),
            width=tuple(round(5 * 1.15**k) for k in range(24)),
            seed=tuple(range(5)),
            around=2.5,
            images="mnist-whole",
            n_test=40_000,
            eps=1e-4,
            max_steps=60_000,
            hessian_width=20,
            hessian_seeds=20,
        ),
    },
    axes=[
        "labels",
        Axis("n_train", unit="points"),
        Axis("width", unit="neurons"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction"},
    judges=("REG-59", "REG-60"),
    dtype="float64",
)
class Jamming:
    """The narrowest network that fits P points, for digits and for random labels.

    Random labels need a number of parameters N* in proportion to P, structured ones fewer, and ever
    fewer for each further point. Just below N* the points that are not fitted are about as many as
    the parameters: each parameter is held by one constraint.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Networks of one width, some seeds, to their end."""
        from regimes import measure

        data = _data(params, point)
        start, alpha = setting.members_at(point, data, point.width, 2, [params.at], point.seed)
        run = setting.train(start, data, alpha, eps=params.eps, max_steps=params.max_steps)
        short = measure.unfitted(run.outputs_train[..., 0], data.y_train).double()
        arrays = {
            "fitted": setting.fitted(run),
            "unfitted": short.cpu().numpy(),
            "loss": run.losses[:, -1].cpu().numpy(),
            "error": run.test_errors.cpu().numpy(),
        }
        weights = sum(w[0].numel() for w in start.parameters.values())
        negative = _negative_shares(params, data, point.dtype)
        return TrialResult(
            {"parameters": weights},
            {name: Array("seed", values) for name, values in arrays.items()}
            | {"negative": Array(("activation", "draw"), negative)},
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Widths around the expected N*."""
        scale, unit, power = GUESS[point.labels]
        expected = scale * (point.n_train / unit) ** power
        weights = point.width * (setting.COMPONENTS + point.width + 1)
        return bool(1 / params.around <= weights / expected <= params.around)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step and its overhead."""
        entries = point.n_train * point.width * (point.width + 40)
        return params.max_steps * (1e5 + len(point.seed) * entries) / 1e9

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """N* against P, and unfitted points a parameter against N/N*."""
        from regimes.studies.regimes import _jamming_figures as figures

        return {
            "Parameters needed to fit": figures.needed(dataset),
            "Unfitted points at jamming": figures.unfitted(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-59 and REG-60."""
        from regimes.studies.regimes._jamming_claims import jamming_claims

        return jamming_claims(dataset)


def _data(params: Params, point: Point) -> Dataset:
    """The digits with their parity, or Gaussian points of as many components, labels at random."""
    import torch

    from regimes import data

    if point.labels == "parity":
        return setting.task_at(point, params.images, point.n_train, params.n_test)
    made = data.random_labels(
        point.n_train, params.n_test, setting.COMPONENTS, dtype=torch.float64
    ).pipe(data.sphere())
    return made.to(getattr(torch, point.dtype), point.device)


def _negative_shares(params: Params, data: Dataset, dtype: str) -> np.ndarray:
    """Share of negative eigenvalues of Hp = sum_mu l'_mu Hessian f(x_mu) at initialisation.

    C0 of spec `landscape` (LAND-17, LAND-23), (activation, draw); exact zeros are not counted.
    """
    import torch
    from torch.func import functional_call, hessian

    x, y = data.x_train[:100].cpu(), data.y_train[:100].cpu()
    shares = np.empty((len(ACTIVATIONS), params.hessian_seeds))
    for i, activation in enumerate(ACTIVATIONS):
        for seed in range(params.hessian_seeds):
            net = setting.network(
                x.shape[1], params.hessian_width, 2, seed, dtype=dtype, activation=activation
            )
            names = [name for name, _ in net.named_parameters()]
            shapes = [value.shape for value in net.parameters()]
            flat = torch.cat([value.detach().flatten() for value in net.parameters()])

            def pulled(
                w: torch.Tensor,
                net: torch.nn.Module = net,
                names: list[str] = names,
                shapes: list[torch.Size] = shapes,
            ) -> torch.Tensor:
                parts = w.split([shape.numel() for shape in shapes])
                named = {n: p.view(s) for n, p, s in zip(names, parts, shapes, strict=True)}
                return -(functional_call(net, named, (x,))[:, 0] * y).mean()

            values = torch.linalg.eigvalsh(hessian(pulled)(flat))
            cut = 1e-10 * float(values.abs().max())
            negative, positive = int((values < -cut).sum()), int((values > cut).sum())
            shares[i, seed] = negative / (negative + positive)
    return shares
