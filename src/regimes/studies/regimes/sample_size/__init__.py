"""Does learning features pay with more data? Ten components of MNIST (FL Fig. 7a; PR10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies.regimes import _setting as setting

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


@dataclass(frozen=True)
class Params:
    """Scanned: n_train and seed, the scales side by side. Fixed: the rest."""

    n_train: tuple[int, ...] = (20, 40)
    seed: tuple[int, ...] = (0, 1)
    at: tuple[float, ...] = (1.0, 1e3)  # feature learning and lazy training
    images: str = "digits"
    n_test: int = 200
    width: int = 10
    depth: int = 3
    eps: float = 0.1
    max_steps: int = 200


@study(
    "regimes/sample-size",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(100, 400, 1500),
            seed=tuple(range(6)),
            images="mnist",
            n_test=5000,
            width=60,
            eps=3e-3,
            max_steps=20_000,
        ),
        "paper": Params(
            n_train=(500, 2000, 10_000),
            seed=tuple(range(20)),
            images="mnist-whole",
            n_test=50_000,
            width=100,
            eps=1e-4,
            max_steps=100_000,
        ),
    },
    axes=[Axis("n_train", unit="images"), Axis("seed", stacked=True)],
    units={"error": "fraction", "ensemble_error": "fraction"},
    judges=("REG-30",),
    dtype="float64",
)
class SampleSize:
    """Errors of feature and lazy training on ten components of digits, for growing training sets.

    With few points lazy training of a fully connected network is better. The document finds the
    opposite, slightly, with 5000 and 10,000 points of this data set: the gap should close as the
    training set grows.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Both scales and all seeds side by side."""
        from regimes import measure

        data = setting.task_at(point, params.images, point.n_train, params.n_test)
        start, alpha = setting.members_at(
            point, data, params.width, params.depth, params.at, point.seed
        )
        run = setting.train(start, data, alpha, eps=params.eps, max_steps=params.max_steps)
        assert run.outputs_test is not None
        outputs = run.outputs_test[..., 0].view(len(params.at), len(point.seed), -1)
        together = measure.ensemble_error(outputs.transpose(0, 1), data.y_test)
        return TrialResult(
            arrays={
                "error": Array(
                    ("at", "seed"), setting.grid(run.test_errors, params.at, point.seed)
                ),
                "fitted": Array(
                    ("at", "seed"), setting.grid(setting.fitted(run), params.at, point.seed)
                ),
                "ensemble_error": Array("at", together.cpu().numpy()),
                "scale": Array("at", list(params.at)),
            }
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Points times steps, which grow with the points."""
        return float(point.n_train) ** 1.5 * len(point.seed)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Errors against the number of images."""
        return {"Feature and lazy training against data": _curves(dataset)}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-30."""
        return [_gap_claim(dataset)]


def _gap_claim(dataset: xr.Dataset) -> Claim:
    expected = "error(at = 1) less error(at = 1e3) shrinks with the training set"
    done = dataset.dropna("n_train", how="all", subset=["error"]) if "error" in dataset else None
    if done is None or done.sizes["n_train"] < 2 or done.sizes["seed"] < 3:
        return Claim.unclear("REG-30", expected, why="needs two sizes and three seeds")
    error = done.error.transpose("at", "n_train", "seed").values
    gap = error[0] - error[-1]
    change = gap[-1] - gap[0]  # the same networks, so seeds are paired
    spread = float(change.std(ddof=1) / np.sqrt(len(change)))
    told = ", ".join(
        f"{100 * g.mean():.2f} ± {100 * g.std(ddof=1) / len(g) ** 0.5:.2f} % at {int(p)}"
        for p, g in zip(done.n_train.values, gap, strict=True)
    )
    ensembles = done.ensemble_error.transpose("at", "n_train").values
    of_means = ", ".join(f"{100 * g:.2f} %" for g in ensembles[0] - ensembles[-1])
    unfitted = int((done.fitted < 1).sum())
    why = f"gaps {told}; of ensembles {of_means}; {unfitted} runs ended unfitted"
    return Claim.between("REG-30", float(change.mean()), -1.0, 0.0, error=spread, why=why)


def _curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure, p = go.Figure(), dataset.n_train.values
    if "error" in dataset:
        names = ("feature learning, sqrt(h) alpha = 1", "lazy, sqrt(h) alpha = 1000")
        for k, (name, color) in enumerate(zip(names, ("#1b9e77", "#d95f02"), strict=True)):
            values = 100 * dataset.error.isel(at=k).transpose("n_train", "seed").values
            figure.add_scatter(
                x=p,
                y=values.mean(1),
                error_y={"array": values.std(1) / values.shape[1] ** 0.5},
                mode="lines+markers",
                name=f"{name}: single",
                line={"color": color, "dash": "dash"},
            )
            figure.add_scatter(
                x=p,
                y=100 * dataset.ensemble_error.isel(at=k).values,
                mode="lines+markers",
                name=f"{name}: ensemble",
                line={"color": color},
            )
    figure.update_xaxes(type="log", title="training images", tickvals=p)
    figure.update_yaxes(type="log", title="test error (%)", dtick="D2")
    caption = (
        "Test error on odd and even digits reduced to ten components, of fully connected networks "
        "trained in the feature and in the lazy regime: means over seeds with standard errors "
        "(dashed) and ensembles (solid). With few images lazy training is ahead; the gap closes "
        "as images are added, and the document finds feature learning slightly ahead at 5000."
    )
    return figure.update_layout(meta={"caption": caption})
