"""Spectrum and alignment of the kernel in training [Baratin 2021, figs. 2, 3, 11, 12 and 14]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Point, TrialResult, study
from regimes.studies.alignment import _descents, _tasks

SETTINGS = {"clean": 0.0, "slow": 0.0, "noisy20": 0.2, "noisy50": 0.5}  # share of labels redrawn
NUMBERS = (
    "max",
    "mean",
    "median",
    "effective_rank",
    "trace_ratio_40",
    "trace_ratio_80",
    "trace_ratio_160",
    "alignment",
    "alignment_uncentred",
    "layer_alignment",
)
PROBES = ("train", "test")
OTHERS = ("accuracy_train", "accuracy_test", "loss_train")


@dataclass(frozen=True)
class Params:
    """Scanned: network, setting and seed. Fixed: the rest."""

    network: tuple[str, ...] = ("mlp",)
    setting: tuple[str, ...] = ("clean", "slow", "noisy50")
    seed: tuple[int, ...] = (0, 1)
    images: str = "digits"
    n_train: int = 200
    n_test: int = 200
    probe: int = 20
    width: int = 8  # of the MLP
    base: int = 64  # channels of the first stage of convolutional networks
    rate: float = 0.02
    slow_rate: float = 0.005
    batch: int = 100
    steps: int = 15
    slow_steps: int = 15
    noisy_steps: int = 15
    spacing: float = 1.15  # ratio of successive log points


@study(
    "alignment/evolution",
    version=1,
    dtype="float32",
    sizes={
        "smoke": Params(),
        "cpu": Params(
            seed=tuple(range(12)),
            n_train=1000,
            n_test=797,
            probe=100,
            width=80,
            steps=300,
            slow_steps=1200,
            noisy_steps=2500,
        ),
        "paper": Params(
            network=("vgg19", "resnet18"),
            setting=("clean", "slow", "noisy50"),
            seed=(0, 1),
            images="cifar10",
            n_train=8000,
            n_test=2000,
            probe=100,
            width=80,
            rate=0.01,
            slow_rate=0.003,
            steps=3000,
            slow_steps=5000,
            noisy_steps=8000,
            spacing=1.25,
        ),
    },
    axes=["network", "setting", "seed"],
    units={"steps": "steps", "accuracy_test": "fraction", "accuracy_train": "fraction"},
)
class Evolution:
    """The tangent kernel turns towards the labels and its spectrum sharpens while a network learns.

    Descent with momentum on the cross-entropy, with true labels, with a small rate, and with half
    of the labels drawn at random; at log-spaced steps the kernels of 100 training and 100 test
    points, whole and of every layer.

    The paper: [Baratin 2021, sec. 3, figs. 2, 3, 11, 12 and 14].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One training run, observed."""
        from regimes import observe

        deep = point.network in _tasks.CONVOLUTIONAL
        made = _tasks.task(
            params.images,
            params.n_train,
            params.n_test,
            noise=SETTINGS[point.setting],
            flat=not deep,
            seed=point.seed,
            dtype=point.dtype,
            device=point.device,
        )
        width = params.base if deep else params.width
        net = _tasks.network(point.network, made, seed=point.seed, width=width)
        n = params.probe
        few = slice(2000)  # of many training points, for the accuracy
        watch = observe.KernelObserver(
            net,
            {
                "train": (made.x_train[:n], made.y_train[:n]),
                "test": (made.x_test[:n], made.y_test[:n]),
            },
            when=observe.LogSteps(5, params.spacing),
            path=False,
            wanted=observe.Wanted(ratios=[k for k in (40, 80, 160) if k < 10 * n]),
            also={
                "accuracy_train": _descents.accuracy(made.x_train[few], made.y_train[few]),
                "accuracy_test": _descents.accuracy(made.x_test, made.y_test),
                "loss_train": _descents.loss(made.x_train[few], made.y_train[few]),
            },
        )
        slow = point.setting == "slow"
        _descents.descend(
            net,
            made,
            rate=params.slow_rate if slow else params.rate,
            steps=_steps(params, point.setting),
            batch=params.batch,
            seed=point.seed,
            each_step=watch.step,
        )
        record = watch.finish()
        names = {f"{probe}/{name}": f"{name}_{probe}" for probe in PROBES for name in NUMBERS}
        names = {old: new for old, new in names.items() if old in record.numbers}
        arrays = _descents.arrays_of(record, names | {name: name for name in OTHERS})
        return TrialResult({"images": params.images}, arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """Networks beside the first run once, without the small rate."""
        first = point.network == params.network[0]
        return bool(first or (point.setting != "slow" and point.seed == params.seed[0]))

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Steps, and looks at the kernel."""
        heavy = 1000.0 if point.network in _tasks.CONVOLUTIONAL else 1.0
        return heavy * _steps(params, point.setting)


def _steps(params: Params, setting: str) -> int:
    if setting == "slow":
        return params.slow_steps
    return params.noisy_steps if setting.startswith("noisy") else params.steps
