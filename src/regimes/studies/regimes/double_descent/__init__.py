"""Error and norm of the output against width, at several scales (PD Fig. 5; PR26, PR31)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _setting as setting

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.nets import Ensemble

TRAINERS = ("flow", "sgd", "decay")


@dataclass(frozen=True)
class Params:
    """Scanned: trainer, width and seed; all scales side by side. Fixed: the rest."""

    trainer: tuple[str, ...] = TRAINERS
    width: tuple[int, ...] = (2, 4, 8)
    seed: tuple[int, ...] = (0, 1)
    at: tuple[float, ...] = (30.0,)
    other_widths: tuple[int, ...] = (4,)  # those at which the other trainers run
    images: str = "digits"
    n_train: int = 30
    n_test: int = 200
    activation: str = "softplus_5"
    eps: float = 0.1
    max_steps: int = 150
    rate: float = 0.05  # of stochastic descent, in units of time
    decay: float = 1e-3  # lambda of |w - w0|^2


@study(
    "regimes/double-descent",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            width=(2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 32, 64),
            seed=tuple(range(6)),
            at=(1.0, 30.0, 1e4),
            other_widths=(4, 5, 6, 7, 8),
            images="mnist",
            n_train=200,
            n_test=4000,
            eps=3e-3,
            max_steps=20_000,
        ),
        "paper": Params(
            trainer=("flow",),
            width=tuple(round(6 * (1408 / 6) ** (k / 47)) for k in range(48)),
            seed=tuple(range(20)),
            at=(2.0**-8, 12.0, 2.0**20),
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            activation="swish_10",
            eps=1e-4,
            max_steps=60_000,
        ),
    },
    axes=["trainer", Axis("width", unit="neurons"), Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction", "output_norm": "1"},
    watch={"best_error": "min"},
    judges=("REG-56", "REG-57", "REG-62"),
    dtype="float64",
)
class DoubleDescent:
    """Narrow to wide networks at three scales: the error peaks where they begin to fit.

    Just past jamming the data are fitted at the price of a large output that differs from seed to
    seed. Averaging the seeds removes the peak, so that an ensemble of narrow networks is as good as
    wide ones; stopping early, noise or a decay towards the start remove it too.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All scales and seeds of one width, side by side."""
        from regimes import measure

        data = setting.task_at(point, params.images, params.n_train, params.n_test)
        start, alpha = setting.members_at(
            point, data, point.width, 2, params.at, point.seed, activation=params.activation
        )
        run = _train(params, point, start, data, alpha)
        assert run.outputs_test is not None
        outputs = run.outputs_test[..., 0]
        shaped = outputs.view(len(params.at), len(point.seed), -1)
        together = measure.ensemble_error(shaped.transpose(0, 1), data.y_test).cpu().numpy()
        each = {
            "error": run.test_errors,
            "fitted": setting.fitted(run),
            "unfitted": measure.unfitted(run.outputs_train[..., 0], data.y_train).double(),
            "output_norm": measure.output_norm(outputs),
            "steps": (run.steps + run.refused).double(),
        }
        arrays = {
            name: Array(("at", "seed"), setting.grid(values, params.at, point.seed))
            for name, values in each.items()
        }
        arrays["ensemble_error"] = Array("at", together)
        arrays["scale"] = Array("at", list(params.at))
        weights = sum(w[0].numel() for w in start.parameters.values())
        return TrialResult({"parameters": weights, "best_error": float(together.min())}, arrays)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """The other trainers run around jamming only."""
        return bool(point.trainer == "flow" or point.width in params.other_widths)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Arithmetic of a step and its overhead; narrow networks go on to their last step."""
        narrow = point.width**2 < params.n_train / 3 or point.trainer != "flow"
        steps = params.max_steps * (1.0 if narrow else 0.2)
        entries = params.n_train * point.width * (point.width + 40)
        return steps * (1e5 + len(params.at) * len(point.seed) * entries) / 1e9

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Errors and norms against width."""
        from regimes.studies.regimes.double_descent import _figures as figures

        return {
            "Test error against width": figures.errors(dataset),
            "Norm of the output against width": figures.norms(dataset),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Peak, ensembles and what removes it."""
        from regimes.studies.regimes.double_descent._claims import descent_claims

        return descent_claims(dataset)


def _train(params: Params, point: Point, start: Ensemble, data: Dataset, alpha: list[float]) -> Run:
    if point.trainer == "flow":
        return setting.train(
            start,
            data,
            alpha,
            eps=params.eps,
            max_steps=params.max_steps,
            checkpoint=point.checkpoint(),
        )
    from regimes import flow

    size = None if point.trainer == "decay" else max(1, params.n_train // 10)
    # `(lambda/2) |w - w0|^2` of the objective that is divided by alpha^2 (S4, S8)
    return flow.descend(
        start,
        data,
        rate=params.rate,
        optimiser="sgd",
        batch_size=size,
        weight_decay=2 * params.decay if point.trainer == "decay" else 0.0,
        loss="softhinge_20",
        alpha=alpha,
        until="fitted",
        max_steps=params.max_steps,
        check_every=20,
        subtract_init=True,
        divide_by="alpha^2",
        checkpoint=point.checkpoint(),
    )
