"""Convolutional networks trained by Adam, where feature learning wins (FL Fig. 7b, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies._images import image_task
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes import _setting as shared
from regimes.studies.regimes._outcomes import (
    Cell,
    cell_of,
    ensemble_gap,
    error_gap,
)
from regimes.studies.regimes.variants._figures import add_errors, curves

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from regimes.nets import ConvNet4

FINISHED = 2  # in `trial_state` of `lab.collect`
FEATURE, LAZY = 1.0, 1e3  # feature learning up to the one, lazy training from the other
NEARLY = 0.04  # training points without their margin that a run may have (PR11)
BATCH = 32
TINY = 100  # training points: below, nothing is judged
FULL = 10_000  # training points of the document's own runs


@dataclass(frozen=True)
class Params:
    """Scanned: the set of images, at, and the seeds trained side by side. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    at: tuple[float, ...] = (10.0, 1e3)
    seed: tuple[int, ...] = (0, 1, 2)
    p: int = 30
    n_test: int = 200
    shrink: int = 1  # pixels are averaged in squares of this side
    width: int = 8
    kernel_size: int = 3
    rate: float = 1e-2
    max_steps: int = 300
    look: int = 5  # steps between looks at the whole training set
    single_to: float = 1e4  # largest at that float32 resolves


CPU = Params(
    images=("mnist", "fashion_mnist"),
    at=(0.1, 1.0, 10.0, 1e2, 1e3, 1e4),
    seed=(0, 1, 2, 3),
    p=300,
    n_test=5000,
    shrink=2,
    width=16,
    rate=1e-3,
    max_steps=20_000,
    look=50,
)
PAPER = replace(
    CPU,
    images=("cifar10", "fashion_mnist"),
    at=tuple(float(f"1e{k}") for k in range(-3, 8)),
    seed=tuple(range(16)),
    p=10_000,
    n_test=50_000,
    shrink=1,
    width=50,
    kernel_size=5,
    max_steps=200_000,
    single_to=10.0,
)


@study(
    "regimes/convolutions",
    version=1,
    sizes={"smoke": Params(), "cpu": CPU, "paper": PAPER},
    axes=[Axis("images"), Axis("at"), Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction", "variance": "1"},
    watch={"mean_error": "min"},
    judges=("REG-31", "REG-32"),
)
class Convolutions:
    """A network of four convolutions at scales from feature learning to lazy training.

    Unlike fully connected networks (regimes/variants), convolutional ones gain from learning
    features: their error is lower at a small scale of the output.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train the networks of all seeds at one scale."""
        import torch

        from regimes import flow
        from regimes.measure import ensemble_outcomes
        from regimes.nets import stack

        dtype = "float32" if point.at <= params.single_to else "float64"
        data = image_task(
            point.images,
            params.p,
            params.n_test,
            shrink=params.shrink,
            dtype=dtype,
            device=point.device,
        )

        def network(seed: int) -> ConvNet4:
            from regimes.nets import ConvNet4

            return ConvNet4(
                data.in_shape,
                width=params.width,
                kernel_size=params.kernel_size,
                seed=seed,
                dtype=getattr(torch, dtype),
                device=point.device,
            )

        run = flow.descend(
            stack(network, list(point.seed)),
            data,
            rate=params.rate,
            optimiser="adam",
            batch_size=min(BATCH, params.p),
            loss="hinge",
            alpha=point.at / params.width**0.5,
            subtract_init=True,
            divide_by="alpha",  # Adam's epsilon is then as small beside every gradient
            until="fitted",
            check_every=params.look,
            max_steps=params.max_steps,
        )
        if run.outputs_test is None:
            raise ValueError("the task has no test points")
        missed = 1.0 - run.history["satisfied"][:, -1].numpy()
        kept = (missed < NEARLY).astype(float)
        outputs = shared.grid(run.outputs_test[..., 0], (point.at,), point.seed)
        found = vars(ensemble_outcomes(outputs, data.y_test.cpu().numpy(), kept[None]))
        arrays = {
            name: Array("seed", values[0]) for name, values in found.items() if values.ndim == 2
        }
        arrays["kept"], arrays["unfitted"] = Array("seed", kept), Array("seed", missed)
        arrays["steps"] = Array("seed", run.steps.numpy().astype(float))
        scalars = {name: float(values[0]) for name, values in found.items() if values.ndim == 1}
        scalars |= {"mean_error": float(found["error"].mean()), "p": params.p}
        return TrialResult({**scalars, "pixels": data.x_train[0].numel()}, arrays)

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """The smaller the scale, the farther the weights have to go, in steps of one length."""
        return float(min(params.max_steps, 300.0 + 3000.0 * point.at**-0.5))

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Fig. 7b for each set that has run."""
        return {"Fig. 7b: convolutional networks with Adam": _drawn(dataset)}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """The winner, and for Fashion what is seen."""
        return [_winner(dataset), _fashion(dataset)]


def _row(dataset: xr.Dataset, images: str) -> xr.Dataset:
    """One set with its scales as in `cell_of`; those that have not run hold NaN."""
    row = dataset.sel(images=images).rename_dims(at="scale")
    done = row.trial_state == FINISHED
    return row.assign(
        at=("scale", dataset["at"].values),
        ensemble_error=row.ensemble_error.where(done),
    )


def _cells(row: xr.Dataset, *, feature: bool) -> list[tuple[float, Cell]]:
    """Scales of one side with their runs."""
    scales = [float(at) for at in row["at"].values]
    chosen = [at for at in scales if (at <= FEATURE if feature else at >= LAZY)]
    found = [(at, cell_of(row, at)) for at in chosen]
    return [(at, cell) for at, cell in found if cell is not None]


def _winner(dataset: xr.Dataset) -> Claim:
    """REG-31: the first set is judged, MNIST on a CPU and CIFAR-10 at full size."""
    expected = "mean error at every at <= 1 lower than at every at >= 1000"
    images = str(dataset.images.values[0])
    if "ensemble_error" not in dataset:
        return Claim.unclear("REG-31", expected, why="nothing has run")
    row = _row(dataset, images)
    feature, lazy = _cells(row, feature=True), _cells(row, feature=False)
    if not feature or not lazy:
        return Claim.unclear(
            "REG-31", expected, why=f"{images} has not run with at <= 1 and with at >= 1000"
        )
    p = int(np.nanmax(row.p.values))
    if p < TINY:
        return Claim.unclear("REG-31", expected, why=f"{p} training points are too few to judge")
    worst = max(feature, key=lambda each: each[1].error.mean())
    best = min(lazy, key=lambda each: each[1].error.mean())
    gap, error = error_gap(best[1], worst[1])
    name = f"error(at={best[0]:g}) - error(at={worst[0]:g}) in %"
    parts = [Part(name, 100 * gap, low=0.0, error=100 * error)]
    together, spread = ensemble_gap(best[1], worst[1])
    if p >= FULL:
        parts.append(Part("of ensembles in %", 100 * together, low=0.0, error=100 * spread))
    told = [f"at={at:g}: {cell.shown}" for at, cell in (*feature, *lazy)]
    told.append(
        f"ensembles of {len(best[1].seeds)} apart by {100 * together:.2f} ± {100 * spread:.2f} %"
    )
    return claim_of_parts("REG-31", parts, why=f"{images}, P={p}; {'; '.join(told)}")


def _fashion(dataset: xr.Dataset) -> Claim:
    """REG-32: neither end of the scan is best, the optimum lies between them."""
    expected = "an optimum at an intermediate at"
    if "fashion_mnist" not in dataset.images.values or "ensemble_error" not in dataset:
        return Claim.unclear("REG-32", expected, why="Fashion-MNIST was not run")
    row = _row(dataset, "fashion_mnist")
    found = [(float(at), cell_of(row, float(at))) for at in row["at"].values]
    cells = [(at, cell) for at, cell in found if cell is not None]
    if len(cells) < 3:
        return Claim.unclear("REG-32", expected, why=f"{len(cells)} values of at have run")
    p = int(np.nanmax(row.p.values))
    if p < TINY:
        return Claim.unclear("REG-32", expected, why=f"{p} training points are too few to judge")
    best = min(cells[1:-1], key=lambda each: each[1].error.mean())
    parts = []
    for at, cell in (cells[0], cells[-1]):
        gap, error = error_gap(cell, best[1])
        name = f"error(at={at:g}) - error(at={best[0]:g}) in %"
        parts.append(Part(name, 100 * gap, low=0.0, error=100 * error))
    told = "; ".join(f"at={at:g}: {cell.shown}" for at, cell in cells)
    why = f"{told}; P={p}, {int(np.nanmax(row.pixels.values))} pixels"
    return claim_of_parts("REG-32", parts, why=why)


def _drawn(dataset: xr.Dataset) -> go.Figure:
    from plotly.subplots import make_subplots

    names = [str(name) for name in dataset.images.values]
    figure = make_subplots(cols=len(names), subplot_titles=names, horizontal_spacing=0.1)
    for column, name in enumerate(names, start=1):
        if "ensemble_error" in dataset:
            found = curves(_row(dataset, name))
            add_errors(figure, found, "", "#4c78d0", row=1, col=column, showlegend=column == 1)
    figure.update_xaxes(
        type="log", dtick=1, exponentformat="power", title="scale at = √h α (feature ← → lazy)"
    )
    figure.update_yaxes(title="test error (%)", col=1, row=1)
    caption = (
        "Four convolutions and a readout, trained with Adam on the parity of the class. Dashed: "
        "the mean error of a network; solid: the error of the mean over seeds. On digits the "
        "feature side (left) has the lower error of a network, the reverse of what fully "
        "connected networks show; averaging over seeds narrows the gap. On Fashion no side wins: "
        "an intermediate scale does. Bars are one standard error."
    )
    return figure.update_layout(
        margin={"t": 90},
        legend={"y": 1.0, "yref": "container", "yanchor": "top"},
        meta={"caption": caption},
    )
