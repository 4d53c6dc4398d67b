"""Does the noise of stochastic descent move the crossover? (PR31)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _setting as setting

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.data import Dataset
    from regimes.flow import Run
    from regimes.nets import Ensemble

EXPECTED = "the crossover of SGD over that of the flow, at three rates"


@dataclass(frozen=True)
class Params:
    """Scanned: rate and seed, the scales side by side. Fixed: the rest."""

    rate: tuple[float, ...] = (0.0, 1e-2)  # of the time in which the loss halves; 0: the flow
    seed: tuple[int, ...] = (0, 1)
    at: tuple[float, ...] = (1.0, 100.0)
    batch: int = 5
    images: str = "digits"
    n_train: int = 20
    n_test: int = 200
    n_kernel: int = 50
    width: int = 12
    eps: float = 0.1
    max_steps: int = 300


@study(
    "regimes/stochastic",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            rate=(0.0, 0.01, 0.03, 0.1),
            seed=tuple(range(5)),
            at=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
            batch=10,
            images="mnist",
            n_train=100,
            n_test=4000,
            n_kernel=400,
            width=48,
            eps=1e-3,
            max_steps=40_000,
        ),
        "paper": Params(
            rate=(0.0, 1e-3, 1e-2, 1e-1),
            seed=tuple(range(15)),
            at=tuple(10 ** (k / 2) for k in range(-4, 7)),
            batch=100,
            images="mnist-whole",
            n_train=5000,
            n_test=40_000,
            n_kernel=2500,
            width=400,
            eps=1e-4,
            max_steps=400_000,
        ),
    },
    axes=[Axis("rate", unit="t_half"), Axis("seed", stacked=True)],
    units={"error": "fraction", "kernel_change": "1"},
    judges=("REG-72",),
    dtype="float64",
)
class Stochastic:
    """The same networks trained by gradient flow and by stochastic descent at several rates.

    The document leaves open what the noise of small batches does to the crossover between lazy
    and feature training; here it is measured, as the scale at which the kernel changes by its norm.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """All scales and seeds side by side."""
        data = setting.task_at(point, params.images, params.n_train, params.n_test)
        start, alpha = setting.members_at(point, data, params.width, 2, params.at, point.seed)
        run = _train(params, point, start, data, alpha)
        values = {
            "kernel_change": setting.kernel_changes(
                start, run, data.x_test[: params.n_kernel], seeds=len(point.seed)
            ),
            "error": run.test_errors,
            "fitted": setting.fitted(run),
        }
        arrays = {
            name: Array(("at", "seed"), setting.grid(each, params.at, point.seed))
            for name, each in values.items()
        }
        return TrialResult(arrays=arrays | {"scale": Array("at", list(params.at))})

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Small rates take many steps."""
        return 1.0 if point.rate == 0 else min(1e-2 / point.rate, 100.0)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Kernel change and error against scale."""
        return {"Flow and stochastic descent": _curves(dataset)}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-72."""
        return [_shift(dataset)]


def _train(params: Params, point: Point, start: Ensemble, data: Dataset, alpha: list[float]) -> Run:
    if point.rate == 0:
        return setting.train(start, data, alpha, eps=params.eps, max_steps=params.max_steps)
    from regimes import flow

    # a rate means the same at every scale in units of the flow's own time
    half = setting.train(
        start, data, alpha, eps=max(params.eps, 1e-2), max_steps=params.max_steps, until="halved"
    ).event_times["halved"]
    return flow.descend(
        start,
        data,
        rate=(point.rate * half).tolist(),
        batch_size=params.batch,
        loss="softhinge_20",
        alpha=alpha,
        until="fitted",
        max_steps=params.max_steps,
        check_every=50,
        subtract_init=True,
        divide_by="alpha^2",
    )


def crossovers(dataset: xr.Dataset) -> xr.Dataset | None:
    """at* with its error at every rate that has run; None where the flow has not."""
    import xarray as xr

    from regimes.measure import phase_boundary

    if "kernel_change" not in dataset or dataset.sizes["seed"] < 3:
        return None
    done = dataset.dropna("rate", how="all", subset=["kernel_change"])
    if not done.sizes["rate"] or done.rate.values[0] != 0:
        return None
    scales = done.scale.isel(rate=0).values
    field = done.kernel_change.where(done.fitted > 0).transpose("seed", "rate", "at").values
    line = phase_boundary(done.rate.values, scales, field, 1.0)
    return xr.Dataset(
        {"at": ("rate", line.y), "spread": ("rate", line.error)}, {"rate": done.rate.values}
    )


def _shift(dataset: xr.Dataset) -> Claim:
    found = crossovers(dataset)
    if found is None or found.sizes["rate"] < 2 or not bool(np.isfinite(found["at"]).all()):
        return Claim.unclear("REG-72", EXPECTED, why="needs the flow, a rate and three seeds")
    at, spread = found["at"].values, found.spread.values
    ratio = at[1:] / at[0]
    error = ratio * np.hypot(spread[1:] / at[1:], spread[0] / at[0])
    told = ", ".join(
        f"{r:.3f} ± {e:.2g} at {rate:g} t_half"
        for r, e, rate in zip(ratio, error, found.rate.values[1:], strict=True)
    )
    unfitted = int((dataset.fitted < 1).sum())
    why = (
        f"an open question of the document, so reported and not judged: {told}; flow at "
        f"{at[0]:.3g} ± {spread[0]:.2g}; {unfitted} runs ended unfitted"
    )
    worst = int(np.abs(np.log(ratio)).argmax())
    open_ended = Claim.unclear("REG-72", EXPECTED, why=why)
    return replace(open_ended, measured=float(ratio[worst]), error=float(error[worst]))


def _curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    if "kernel_change" in dataset:
        done = dataset.dropna("rate", how="all", subset=["kernel_change"])
        shades = ("#000000", "#9ecae1", "#4292c6", "#08519c")
        for color, rate in zip(shades, done.rate.values, strict=False):
            cut = done.sel(rate=rate)
            mean = np.exp(np.log(cut.kernel_change).mean("seed")).values
            figure.add_scatter(
                x=cut.scale.values,
                y=mean,
                mode="lines+markers",
                name="gradient flow" if rate == 0 else f"SGD, steps of {rate:g} t_half",
                line={"color": color},
            )
        figure.add_hline(y=1, line={"color": "black", "width": 1, "dash": "dot"})
    figure.update_xaxes(type="log", title="scale sqrt(h) alpha", exponentformat="power")
    figure.update_yaxes(
        type="log", title="relative change of the kernel", exponentformat="power", dtick=1
    )
    caption = (
        "Change of the tangent kernel by training, for gradient flow (black) and stochastic "
        "descent with batches and three step lengths, in units of the time in which the flow "
        "halves its loss. Where a curve passes 1 is its crossover between feature learning and "
        "lazy training."
    )
    return figure.update_layout(meta={"caption": caption})
