"""Learning curves of the kernel at initialisation, on data as they are and compressed."""

from __future__ import annotations

from dataclasses import dataclass

import regimes as rg
from regimes.lab import Array, Axis, Point, TrialResult, study
from regimes.studies.compression import _frozen
from regimes.studies.compression.kernel_curves._tasks import FACTORS, ROOT, TASKS


@dataclass(frozen=True)
class Params:
    """Scanned: task, compression, n_train and seed. Fixed: the rest."""

    task: tuple[str, ...] = tuple(TASKS)
    compression: tuple[str, ...] = (*FACTORS, ROOT)
    n_train: tuple[int, ...] = (50, 100)
    seed: tuple[int, ...] = (0, 1)
    n_test: int = 500
    gain_at: int = 100  # n_train at which fixed factors are scanned


@study(
    "compression/kernel-curves",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(250, 500, 1000, 2000, 4000),
            seed=tuple(range(16)),
            n_test=40_000,
            gain_at=1000,
        ),
        "paper": Params(
            n_train=(250, 500, 1000, 2000, 4000, 8000, 16_000, 20_000, 32_000),
            seed=tuple(range(20)),
            n_test=100_000,
            gain_at=20_000,
        ),
    },
    axes=[
        Axis("task"),
        Axis("compression"),
        Axis("n_train", unit="points"),
        Axis("seed", stacked=True),
    ],
    units={"error": "fraction", "support": "fraction", "unfitted": "fraction"},
    watch={"error": "min"},
)
class KernelCurves:
    """Why compression helps: a kernel that does not move, on data with and without it.

    A machine with the tangent kernel of an infinitely wide network at initialisation learns the
    stripe and the cylinder. It learns slowly, because distances along irrelevant directions blur
    the kernel. Shrinking these by hand, by the factor that networks reach on their own, gives it
    the exponent of networks that learn features.

    The paper: [Paccolat 2021, secs. 3.1 and 4, figs. 2 and 7].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One machine per seed."""
        import torch

        task = TASKS[point.task]
        factor = task.factor(point.compression, point.n_train)
        learned = []
        for seed in point.seed:
            draw = rg.data.stripe if task.d_par == 1 else rg.data.cylinder
            made = draw(point.n_train, params.n_test, task.d, seed, dtype=torch.float64)
            small = made.pipe(rg.data.compress(factor, informative=task.d_par))
            small = small.to(getattr(torch, point.dtype), point.device)
            learned.append(_frozen.lazily(small))
        names = ("error", "support", "unfitted")
        return TrialResult(
            arrays={n: Array("seed", [getattr(one, n) for one in learned]) for n in names}
        )

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """The gain is scanned at one size of the training set."""
        return bool(point.compression in ("1", ROOT) or point.n_train == params.gain_at)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the Gram matrices."""
        return float(point.n_train * (point.n_train + params.n_test / 4))
