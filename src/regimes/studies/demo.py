"""A demonstration on built-in data: test error against training-set size for three kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import regimes as rg
from regimes.lab import Array, Axis, Claim, Point, TrialResult, mean_over, study

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

DIGITS = 1797  # images in the digits set
FIT_FROM = 64  # smallest n in the fit of the exponent
COMPARE_FROM = 512  # smallest n at which kernels are compared


@dataclass(frozen=True)
class Params:
    """Scanned: task, kernel, n_train and seed. Fixed: the rest."""

    task: tuple[str, ...] = ("digits", "stripe")
    kernel: tuple[str, ...] = ("laplace", "gaussian", "linear")
    n_train: tuple[int, ...] = (16, 32, 64, 128)
    seed: tuple[int, ...] = (0, 1)
    n_test: int = 200
    stripe_dimension: int = 5
    bandwidth: float = 3.0  # in units of the median distance between training points
    penalty: float = 1e4  # large, so that the machine separates the training data
    linear_penalty: float = 100.0  # a linear machine cannot separate them and need not try for long


@study(
    "demo/learning-curve",
    version=1,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            n_train=(16, 32, 64, 128, 256, 512, 1024, 2048),
            seed=tuple(range(10)),
            n_test=700,
        ),
        "paper": Params(
            n_train=(16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
            seed=tuple(range(20)),
            n_test=700,
        ),
    },
    axes=[
        Axis("task"),
        Axis("kernel"),
        Axis("n_train", unit="points"),
        Axis("seed", stacked=True),
    ],
    units={"test_error": "fraction", "support": "fraction"},
    watch={"test_error": "min"},
    judges=("DEMO-01", "DEMO-02"),
)
class LearningCurve:
    """How fast kernel machines learn: parity of handwritten digits, and the stripe model.

    A support vector machine with a Laplace, a Gaussian or a linear kernel is trained on more and
    more points. The error falls as a power of their number where the kernel suits the task.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """Train one machine a seed; the seeds are the batch of the trial."""
        errors, support = [], []
        for seed in point.seed:
            x_train, y_train, x_test, y_test = _data(params, point, seed)
            machine = _fit(params, point, _kernel(params, point.kernel, x_train, x_train), y_train)
            guesses = machine.predict(_kernel(params, point.kernel, x_test, x_train))
            errors.append(np.mean(guesses != y_test))
            support.append(len(machine.support_) / len(y_train))
        return TrialResult(
            arrays={"test_error": Array("seed", errors), "support": Array("seed", support)}
        )

    @staticmethod
    def cost(params: Params, point: Point) -> float:
        """Entries of the Gram matrices, and the making of the data, which takes as long as 1e5."""
        return len(point.seed) * (1e5 + float(point.n_train + params.n_test) * point.n_train)

    @staticmethod
    def wanted(params: Params, point: Point) -> bool:
        """There are only so many digits."""
        return bool(point.task != "digits" or point.n_train + params.n_test <= DIGITS)

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """One learning curve a task."""
        return {
            "Parity of handwritten digits": _curves(
                dataset,
                "digits",
                "Test error of a support vector machine on the parity of 8 x 8 digits, mean and "
                "standard error over seeds. Parity is not linear in the pixels: the linear kernel "
                "is soon left behind.",
            ),
            "The stripe model": _curves(
                dataset,
                "stripe",
                "The label depends on one of five directions. The Laplace kernel cannot find the "
                "direction and learns as a slow power of the number of points; the smoother "
                "Gaussian does better, and a linear one cannot represent the two interfaces.",
            ),
        }

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """Two statements of this demonstration's own; they are in no document's ledger."""
        return [_exponent_claim(dataset), _linear_claim(dataset)]


def _exponent_claim(dataset: xr.Dataset) -> Claim:
    from regimes.measure import power_law
    from regimes.theory import beta_lazy

    expected, tolerance = beta_lazy(Params.stripe_dimension), 0.1
    statement = (
        "Stripe, Laplace kernel: the error falls with the exponent d/(3d-2) of a kernel that "
        "cannot find the direction"
    )
    curve = dataset.test_error.sel(task="stripe", kernel="laplace").transpose("seed", "n_train")
    if (curve.n_train >= FIT_FROM).sum() < 3:
        why = f"fewer than three sizes from n = {FIT_FROM} on"
        return Claim.unclear("DEMO-01", f"{expected:.3f}", why=why, statement=statement)
    window = (FIT_FROM, float(curve.n_train.max()))
    fit = power_law(curve.n_train.values, curve.values, window=window, center="mean")
    return Claim.near(
        "DEMO-01",
        -fit.exponent,
        expected,
        tolerance,
        error=fit.error,
        statement=statement,
        why=(
            f"{fit.points} sizes, n from {fit.range[0]:g} to {fit.range[1]:g}, r2 {fit.r2:.3f}; "
            "the power law is asymptotic and the slope still falls with n here"
        ),
    )


def _linear_claim(dataset: xr.Dataset) -> Claim:
    statement = "Digits parity: the Laplace kernel makes less than half the linear one's errors"
    averaged = mean_over(dataset.sel(task="digits"), "test_error", "seed")["mean"]
    final = averaged.dropna("n_train", how="all").isel(n_train=-1)
    n = int(final.n_train)
    laplace, linear = (float(final.sel(kernel=name)) for name in ("laplace", "linear"))
    why = f"{laplace:.3f} against {linear:.3f} at n = {n}"
    if n < COMPARE_FROM:
        why += f", too few points: n = {COMPARE_FROM} are needed"
        return Claim.unclear("DEMO-02", "a ratio below 1/2", why=why, statement=statement)
    return Claim.holds(
        "DEMO-02",
        laplace < linear / 2,
        "a ratio below 1/2",
        measured=laplace / linear,
        statement=statement,
        why=why,
    )


def _data(params: Params, point: Point, seed: int) -> tuple[np.ndarray, ...]:
    import torch

    if point.task == "digits":
        sizes = {"n_train": point.n_train, "n_test": params.n_test, "seed": seed}
        made = rg.data.digits(**sizes).pipe(rg.data.parity(), rg.data.flatten())
    else:
        made = rg.data.stripe(
            n_train=point.n_train, n_test=params.n_test, d=params.stripe_dimension, seed=seed
        )
    dtype = getattr(torch, point.dtype)
    tensors = (made.x_train.to(dtype), made.y_train, made.x_test.to(dtype), made.y_test)
    return tuple(tensor.numpy() for tensor in tensors)


def _kernel(params: Params, name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """K(a_i, b_j); lengths are measured in median distances between the points of `b`."""
    from scipy.spatial.distance import cdist, pdist

    unit = np.median(pdist(b))
    if name == "linear":
        return a @ b.T / unit**2 + 1.0
    r = cdist(a, b) / (params.bandwidth * unit)
    return np.exp(-r) if name == "laplace" else np.exp(-(r**2) / 2)


def _fit(params: Params, point: Point, gram: np.ndarray, labels: np.ndarray) -> Any:
    from sklearn.svm import SVC

    penalty = params.linear_penalty if point.kernel == "linear" else params.penalty
    return SVC(kernel="precomputed", C=penalty).fit(gram, labels)


def _curves(dataset: xr.Dataset, task: str, caption: str) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    averaged = mean_over(dataset.sel(task=task), "test_error", "seed")
    averaged = averaged.dropna("n_train", how="all", subset=["mean"])
    for kernel in averaged.kernel.values:
        line = averaged.sel(kernel=kernel)
        figure.add_scatter(
            x=line.n_train.values,
            y=line["mean"].values,
            error_y={"array": line["error"].fillna(0.0).values, "thickness": 1},
            mode="lines+markers",
            name=str(kernel),
            hovertemplate="n = %{x}<br>error %{y:.3f}",
        )
    figure.update_xaxes(type="log", title="training points n", tickvals=averaged.n_train.values)
    figure.update_yaxes(type="log", title="test error (fraction)", dtick="D2")
    return figure.update_layout(meta={"caption": caption})
