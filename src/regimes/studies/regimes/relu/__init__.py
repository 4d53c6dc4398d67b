"""What the kinks of relu add between feature learning and lazy training (FL app. F, Fig. 12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Claim, Point, TrialResult, study
from regimes.studies._summaries import merge_batches
from regimes.studies.regimes import _setting as setting
from regimes.studies.regimes.relu import _claims as claims_of

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr
    from torch import Tensor

    from regimes.flow import Run
    from regimes.lab import Results
    from regimes.nets import Ensemble

HALF_DECADES = (1e2, 316.0, 1e3, 3160.0, 1e4, 3.16e4, 1e5)


@dataclass(frozen=True)
class Params:
    """Scanned: width, at and batches of seeds. Fixed: the rest."""

    width: tuple[int, ...] = (20,)
    at: tuple[float, ...] = (1e3, 1e9)
    batch: tuple[int, ...] = (0,)
    seeds: int = 3  # trained side by side in a batch
    feature_batches: int = 1  # batches trained below at = 100: slow, and for the picture alone
    depth: int = 2
    images: str = "digits"
    components: int | None = 10
    n_train: int = 16
    n_kernel: int = 60
    eps: float = 0.05
    floor: float = 1e-2  # of spec S6: shorter steps than this share of the time are taken anyway
    max_steps: int = 500


@study(
    "regimes/relu",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(100,),
            at=(0.1, 1.0, 10.0, *HALF_DECADES, 1e6, 1e7, 1e8, 1e9),
            batch=tuple(range(8)),  # far out a switch is rare: many networks are needed
            seeds=4,
            images="mnist",
            n_train=100,
            n_kernel=400,
            eps=1e-2,
            floor=1e-3,
            max_steps=20_000,
        ),
        "paper": Params(
            width=(50, 200, 800),
            at=tuple(float(f"1e{k}") for k in range(-2, 12)),
            seeds=3,
            depth=5,
            images="mnist",
            n_train=5000,
            n_kernel=2500,
            eps=1e-4,
            floor=1e-4,
            max_steps=60_000,
        ),
    },
    axes=["width", "at", "batch"],
    units={"kernel_change": "1", "flips": "neuron-pattern pairs"},
    judges=tuple(claims_of.CLAIMS),
)
class Relu:
    """With relu the tangent kernel also changes in jumps, whenever a neuron switches on a pattern.

    Weights move by 1/at, so a share 1/at of all (neuron, pattern) pairs switches; each switch
    changes entries of the kernel by a fixed amount and at random, and the sum is the root of their
    number. The kernel changes by at^-1/2, until at is so large that nothing switches: then by 1/at,
    as with a smooth activation.
    """

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """All batches where switches are counted, fewer in the feature regime."""
        return point.at >= claims_of.FLIPPING[0] or point.batch < params.feature_batches

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Kinks make many short steps, the more the further the weights move."""
        return float(point.width**2 * (1 + max(0.0, 5 - np.log10(point.at))))

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train a batch of networks at one at; compare kernels and masks before and after."""
        data = setting.task_at(
            point, params.images, params.n_train, params.n_kernel, components=params.components
        )
        seeds = [point.batch * params.seeds + i for i in range(params.seeds)]
        start, alpha = setting.members_at(
            point, data, point.width, params.depth, [point.at], seeds, activation="relu"
        )
        run = setting.train(
            start, data, alpha, eps=params.eps, floor=params.floor, max_steps=params.max_steps
        )
        numbers = {
            "kernel_change": setting.kernel_changes(start, run, data.x_test),
            "weight_change": setting.weight_changes(start, run),
            "flips": mask_flips(start, run, data.x_test),
            "train_flips": mask_flips(start, run, data.x_train),
            "fitted": setting.fitted(run),
            "satisfied": run.history["satisfied"][:, -1].numpy(),
            "steps": run.steps.numpy().astype(float),
            "forced": run.forced.numpy().astype(float),
        }
        arrays = {name: Array("member", values) for name, values in numbers.items()}
        return TrialResult({"pairs": params.depth * point.width * params.n_kernel}, arrays)

    @staticmethod
    def summarise(results: Results) -> xr.Dataset:
        """Batches and their members on one axis of seeds."""
        return merge_batches(results)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Fig. 12 and the number of switches."""
        from regimes.studies.regimes.relu import _figures as figures

        return figures.all_figures(dataset)

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Slopes of the kernel's change and of the number of switches."""
        return [judge(dataset) for judge in claims_of.CLAIMS.values()]


def mask_flips(start: Ensemble, run: Run, x: Tensor) -> np.ndarray:
    """Number of (hidden neuron, pattern) pairs that training switched on or off, (R,)."""
    net = start.template
    _, before = net.layers_stacked(start.parameters, x)  # type: ignore[operator]
    _, after = net.layers_stacked(run.parameters, x)  # type: ignore[operator]
    flips = sum(
        ((now > 0) != (then > 0)).flatten(1).sum(1)
        for now, then in zip(after[:-1], before[:-1], strict=True)
    )
    return flips.cpu().numpy().astype(float)
