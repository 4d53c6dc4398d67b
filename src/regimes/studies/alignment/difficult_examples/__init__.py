"""Easy and difficult examples, at several depths [Baratin 2021, figs. 4 and 13]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies.alignment import _descents, _tasks


@dataclass(frozen=True)
class Params:
    """Scanned: kind of difficult examples, depth and seed. Fixed: the rest."""

    kind: tuple[str, ...] = ("random", "shuffled")
    depth: tuple[int, ...] = (3, 6)  # weight matrices
    seed: tuple[int, ...] = (0, 1)
    other_depth: int = 6  # at which other kinds than "random" run
    easy: str = "digits"
    n_easy: int = 200
    n_difficult: int = 40
    n_test: int = 200
    probe: int = 20
    width: int = 8
    rate: float = 0.02
    batch: int = 100
    steps: int = 15


@study(
    "alignment/difficult-examples",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            depth=(3, 6, 9),
            seed=tuple(range(8)),
            n_easy=1000,
            n_difficult=100,
            n_test=500,
            probe=100,
            width=60,
            steps=1500,
        ),
        "paper": Params(
            kind=("random", "kmnist"),
            depth=(3, 6, 9, 12),
            seed=(0, 1, 2, 3, 4),
            easy="mnist",
            n_easy=10_000,
            n_difficult=1000,
            n_test=1000,
            probe=100,
            width=60,
            steps=20_000,
        ),
    },
    axes=["kind", "depth", "seed"],
    units={"steps": "steps"},
)
class DifficultExamples:
    """The kernel aligns with easy examples first and most, the more so the deeper the network.

    Some training examples are difficult: their labels are random, or their pixels are in another
    order than those of all others. At log-spaced steps the alignment of the kernel with the labels
    of 100 easy and of 100 difficult training points.

    The paper: [Baratin 2021, secs. 3.4 and 3.5, figs. 4 and 13].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One training run, observed on both kinds of points."""
        import torch

        from regimes import data, observe

        made = data.easy_difficult(
            point.kind,
            easy=params.easy,
            n_easy=params.n_easy,
            n_difficult=params.n_difficult,
            n_test=params.n_test,
            n_probe=params.probe,
            seed=point.seed,
        )
        made = made.pipe(data.flatten()).to(getattr(torch, point.dtype), point.device)
        made = _tasks.standardised(made)
        width = {"depth": point.depth, "width": params.width}
        net = _tasks.network("mlp", made, seed=point.seed, **width)
        parts = {"easy": slice(params.n_easy), "difficult": slice(params.n_easy, None)}
        watch = observe.KernelObserver(
            net,
            {name: (points.x, points.y) for name, points in made.probes.items()},
            path=False,
            wanted=observe.Wanted(ratios=(), layers=False),
            also={
                f"accuracy_{name}": _descents.accuracy(made.x_train[part], made.y_train[part])
                for name, part in parts.items()
            },
        )
        _descents.descend(
            net,
            made,
            rate=params.rate,
            steps=params.steps,
            batch=params.batch,
            seed=point.seed,
            each_step=watch.step,
        )
        names = {f"{part}/alignment": f"alignment_{part}" for part in parts}
        names |= {f"accuracy_{part}": f"accuracy_{part}" for part in parts}
        arrays: dict[str, Array] = _descents.arrays_of(watch.finish(), names)
        return TrialResult({"images": params.easy}, arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Depths are compared with random labels only."""
        return bool(point.kind == "random" or point.depth == params.other_depth)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Looks at the kernel take most of the time."""
        return float(params.steps * point.depth)
