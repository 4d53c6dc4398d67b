"""Learning curves of the stripe: features, and the kernels before and after learning them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies import _stripe
from regimes.studies._former_keys import numbered_batch
from regimes.studies._types import Dataset, Learned, Tensor
from regimes.studies.compression import _frozen
from regimes.studies.compression.learning_curves._figures import CURVES

if TYPE_CHECKING:
    Neurons: TypeAlias = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Params:
    """Scanned: d, n_train and seed, trained side by side. Fixed: the rest."""

    d: tuple[int, ...] = (5,)
    n_train: tuple[int, ...] = (8, 12)
    seed: tuple[int, ...] = (0, 1)
    seeds_per_trial: int = 0  # all: a GPU takes one large trial; cores share small ones
    width: int = 20
    alpha: float = 1e-6
    n_test: int = 1000
    max_steps: int = 20_000


@study(
    "compression/learning-curves",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(128, 256, 512),
            seed=tuple(range(10)),
            seeds_per_trial=1,
            width=300,
            n_test=10_000,
            max_steps=300_000,
        ),
        "paper": Params(
            d=(5, 10),
            n_train=(128, 256, 512, 1024, 2048, 4096, 8192),
            seed=tuple(range(20)),
            width=10_000,
            n_test=20_000,
            max_steps=1_000_000,
        ),
    },
    axes=[
        "d",
        Axis("n_train", unit="points"),
        Axis("seed", stacked=True, batch="seeds_per_trial"),
    ],
    units={**dict.fromkeys(CURVES, "fraction"), "t_star": "tau", "peak_time": "t*"},
    watch={"feature_error": "min"},
    dtype="float32",
    renamed={"member": "seed"},
)
class LearningCurves:
    """Learning a stripe, with features or with a kernel that does not move.

    Networks with one hidden layer are trained by gradient flow from a small initial scale until
    they fit. Beside each stand kernel machines: with the kernel at initialisation, with the same
    kernel on data whose irrelevant directions are shrunk by what the network reached at t*, and
    with the kernel after training, on points that network never saw. The kernel at initialisation
    is that of infinite width; the one of the network's own width is shown too.

    The paper: [Paccolat 2021, sec. 3.1 and fig. 2].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds together, then one machine per kernel and seed."""
        import torch

        p = point.n_train
        sets = [
            rg.data.stripe(p, params.n_test, point.d, seed, n_kernel=p, dtype=torch.float64)
            for seed in point.seed
        ]
        seen = {"amplification": _stripe.amplification_observer(per_decade=100)}
        run = _stripe.train_at(point, params, sets, observe=seen)
        t_star = run.event_times["t_star"]
        at_t_star = run.recordings["amplification"].at(t_star)
        largest, peak_time = _stripe.peaks(run)
        place = {"dtype": point.dtype, "device": point.device}
        first = _stripe.start(point.d, params.width, point.seed, **place)
        machines = [
            _machines(made.to(device=point.device), before, after, float(factor))
            for made, before, after, factor in zip(
                sets,
                zip(*_stripe.neurons(first), strict=True),
                zip(*_stripe.neurons(run.parameters), strict=True),
                at_t_star,
                strict=True,
            )
        ]
        arrays = {
            "feature_error": run.test_errors,
            "amplification_star": at_t_star,
            "amplification_max": largest,
            "peak_time": peak_time,
            "t_star": t_star / rg.theory.stripe_tau(params.width, point.d),
            "fitted": run.fitted,
            "steps": run.steps,
            "final_unfitted": [kernels["final_error"].unfitted for kernels in machines],
            **{name: [kernels[name].error for kernels in machines] for name in machines[0]},
        }
        return TrialResult(arrays={name: Array("seed", value) for name, value in arrays.items()})

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the masks of a step, and what a step costs whatever its size."""
        return 5e5 + float(len(point.seed) * params.width * point.n_train)

    formerly = staticmethod(numbered_batch)


def _machines(
    made: Dataset, before: Neurons, after: Neurons, amplification: float
) -> dict[str, Learned]:
    """One machine per frozen kernel, on one data set."""
    learn, kernel = rg.kernels.hard_margin, _frozen.initial_kernel
    small = made.pipe(rg.data.compress(amplification))
    fresh = made.probes["kernel"]
    return {
        "initial_error": learn(kernel, made.train, made.test),
        "own_error": learn(_frozen.network_kernel(*before), made.train, made.test),
        "compressed_error": learn(kernel, small.train, small.test),
        "final_error": learn(_frozen.network_kernel(*after), fresh, made.test),
    }
