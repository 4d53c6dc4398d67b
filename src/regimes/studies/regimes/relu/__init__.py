"""What the kinks of relu add between feature learning and lazy training [Geiger 2020, app. F]."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import regimes as rg
from regimes.lab import Axis, Point, TrialConfig, TrialResult, study
from regimes.studies._former_keys import numbered_batch
from regimes.studies._types import Ensemble, Run, Tensor
from regimes.studies.regimes import _runs, _setting, _training
from regimes.studies.regimes.relu._claims import FLIPPING

HALF_DECADES = (1e2, 316.0, 1e3, 3160.0, 1e4, 3.16e4, 1e5)


@dataclass(frozen=True)
class Params:
    """Scanned: width, scale and seed. Fixed: the rest."""

    width: tuple[int, ...] = (20,)
    scale: tuple[float, ...] = (1e3, 1e9)
    seed: tuple[int, ...] = (0, 1, 2)
    seeds_per_trial: int = 3  # trained side by side
    feature_seeds: int = 3  # the first ones are trained below 100: slow, and for the picture alone
    depth: int = 2
    images: str = "digits"
    components: int | None = 10
    n_train: int = 16
    n_kernel: int = 60
    eps: float = 0.05
    floor: float = 1e-2  # shorter steps than this share of the time are taken anyway
    max_steps: int = 500


@study(
    "regimes/relu",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(100,),
            scale=(0.1, 1.0, 10.0, *HALF_DECADES, 1e6, 1e7, 1e8, 1e9),
            seed=tuple(range(32)),  # far out a switch is rare: many networks are needed
            seeds_per_trial=4,
            feature_seeds=4,
            images="mnist",
            n_train=100,
            n_kernel=400,
            eps=1e-2,
            floor=1e-3,
            max_steps=20_000,
        ),
        "paper": Params(
            width=(50, 200, 800),
            scale=tuple(float(f"1e{k}") for k in range(-2, 12)),
            depth=5,
            images="mnist",
            n_train=5000,
            n_kernel=2500,
            eps=1e-4,
            floor=1e-4,
            max_steps=60_000,
        ),
    },
    axes=["width", "scale", Axis("seed", stacked=True, batch="seeds_per_trial")],
    units={"kernel_change": "1", "flips": "neuron-pattern pairs"},
    renamed={"at": "scale", "member": "seed"},
)
class Relu:
    """With relu the tangent kernel also changes in jumps, whenever a neuron switches on a pattern.

    Weights move by 1/scale, so a share 1/scale of all (neuron, pattern) pairs switches; each switch
    changes entries of the kernel by a fixed amount and at random, and the sum is the root of their
    number. The kernel changes by scale^-1/2, until the scale is so large that nothing switches:
    then by 1/scale, as with a smooth activation.

    The paper: [Geiger 2020, app. F and fig. 12].
    """

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """All seeds where switches are counted, fewer in the feature regime."""
        few = params.seed[: params.feature_seeds]
        return point.scale >= FLIPPING[0] or point.seed[0] in few

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Kinks make many short steps, the more the further the weights move."""
        return float(point.width**2 * (1 + max(0.0, 5 - np.log10(point.scale))))

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train networks side by side at one scale; compare kernels and masks before and after."""
        data = _setting.task_at(
            point, params.images, params.n_train, params.n_kernel, components=params.components
        )
        start, alpha = _setting.members_at(
            point, data, point.width, params.depth, [point.scale], point.seed, activation="relu"
        )
        run = _training.train_at(point, params, start, data, alpha, floor=params.floor)
        numbers = {
            "kernel_change": _runs.kernel_changes(start, run, data.x_test),
            "weight_change": _runs.weight_changes(start, run),
            "flips": switched(start, run, data.x_test),
            "train_flips": switched(start, run, data.x_train),
            "fitted": run.fitted.double(),
            "satisfied": run.history["satisfied"][:, -1],
            "steps": run.steps.double(),
            "forced": run.forced.double(),
        }
        pairs = params.depth * point.width * params.n_kernel
        return TrialResult({"pairs": pairs}, _runs.by_seed(numbers))

    @staticmethod
    def formerly(params: Params, config: TrialConfig) -> TrialConfig | None:
        """The same networks when seeds came in numbered batches and the scale was called `at`."""
        former, size = numbered_batch(params, config), len(config.point["seed"])
        if former is None or config.params["feature_seeds"] % size:
            return None
        fixed, point = dict(former.params), dict(former.point)
        fixed["feature_batches"] = fixed.pop("feature_seeds") // size
        point["at"] = point.pop("scale")
        return replace(former, params=fixed, point=point)


def switched(start: Ensemble, run: Run, x: Tensor) -> Tensor:
    """Number of (hidden neuron, pattern) pairs that training switched on or off, (R,)."""
    import torch

    layers = [rg.measure.mask_flips(now, then) for now, then in _runs.hidden_layers(start, run, x)]
    return torch.stack(layers).sum(0).double()
