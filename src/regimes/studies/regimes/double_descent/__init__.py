"""Error and norm of the output against width, at several scales [Geiger 2021, fig. 6]."""

from dataclasses import dataclass

from regimes.lab import Axis, Point, TrialResult, study
from regimes.studies.regimes import _runs, _setting, _training


@dataclass(frozen=True)
class Params:
    """Scanned: trainer, width, and side by side scale and seed. Fixed: the rest."""

    trainer: tuple[str, ...] = ("flow", "sgd", "decay")
    width: tuple[int, ...] = (2, 4, 8)
    scale: tuple[float, ...] = (30.0,)  # sqrt(h) alpha
    seed: tuple[int, ...] = (0, 1)
    other_widths: tuple[int, ...] = (4,)  # those at which the other trainers run
    images: str = "digits"
    n_train: int = 30
    n_test: int = 200
    activation: str = "softplus_5"
    eps: float = 0.1  # what a step of the flow may change the gradient by
    max_steps: int = 150
    other_steps: int = 150  # of the other trainers
    rate: float = 0.05  # of stochastic descent, in units of time
    decay: float = 1e-3  # lambda of |w - w0|^2


@study(
    "regimes/double-descent",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 32, 64),
            scale=(1.0, 30.0, 1e4),
            seed=tuple(range(6)),
            other_widths=(4, 5, 6, 7, 8),
            images="mnist",
            n_train=200,
            n_test=4000,
            eps=3e-3,
            max_steps=20_000,
            other_steps=100_000,  # to t = 50,000: the flow fits at 17,000 to 73,000 near jamming
            rate=0.5,
        ),
        "paper": Params(
            trainer=("flow",),
            width=tuple(round(6 * (1408 / 6) ** (k / 47)) for k in range(48)),
            scale=(2.0**-8, 12.0, 2.0**20),
            seed=tuple(range(20)),
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            activation="swish_10",
            eps=1e-4,
            max_steps=60_000,
        ),
    },
    axes=["trainer", Axis("width", unit="neurons"), *_setting.MEMBERS],
    units={"error": "fraction", "ensemble_error": "fraction", "output_norm": "1"},
    watch={"best_error": "min"},
    renamed={"at": "scale"},  # in trials from before it was an axis
)
class DoubleDescent:
    """Narrow to wide networks at three scales: the error peaks where they begin to fit.

    Just past jamming the data are fitted at the price of a large output that differs from seed to
    seed. Averaging the seeds removes the peak, so that an ensemble of narrow networks is as good as
    wide ones; stopping early, noise or a decay towards the start remove it too.

    The paper: [Geiger 2021, sec. 3 and fig. 6].
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All scales and seeds of one width, side by side."""
        data = _setting.task_at(point, params.images, params.n_train, params.n_test)
        start, alpha = _setting.members_of(point, data, point.width, activation=params.activation)
        if point.trainer == "flow":
            run = _training.train_at(point, params, start, data, alpha)
        else:
            # `(lambda/2) |w - w0|^2` is part of the objective that is divided by alpha^2
            small = {"batch_size": max(1, params.n_train // 10)}
            own = small if point.trainer == "sgd" else {"weight_decay": 2 * params.decay}
            steps = {"rate": params.rate, "max_steps": params.other_steps, "check_every": 20, **own}
            run = _training.descend(start, data, alpha, checkpoint=point.checkpoint(), **steps)
        arrays = _runs.ends(point, run, data) | _runs.ensembles_without(point, run, data)
        best = float(arrays["ensemble_error"].values.min())
        sizes = {"parameters": _setting.weights_per_member(start), "n_train": params.n_train}
        return TrialResult({**sizes, "best_error": best}, arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """The other trainers run around jamming only."""
        return bool(point.trainer == "flow" or point.width in params.other_widths)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """All but the flow of wide networks go on to their last step."""
        steps: float = params.max_steps if point.trainer == "flow" else params.other_steps
        if point.trainer == "flow" and point.width**2 >= params.n_train / 3:
            steps *= 0.2
        return _training.cost_of_steps(point, steps, params.n_train, point.width)
