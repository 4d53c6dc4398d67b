"""Learning curves of plain kernels on images, and the dimension of the images (PD sec. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Array, Axis, Claim, Point, TrialResult, study
from regimes.studies._images import image_task
from regimes.studies._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr
    from torch import Tensor

    from regimes.data import Dataset

KERNELS = ("Laplace", "Gaussian")
# Width of the kernels in units of the median distance; the document's 1000, for pixels up to 255.
# Much wider Gaussians are singular to rounding.
SIGMA = 0.4
EXPONENTS = {"mnist": (0.34, 0.46), "cifar10": (0.02, 0.12)}  # of the mean square error
DIMENSIONS = {"mnist": (11.5, 14.5), "cifar10": (24.0, 32.0)}  # at these numbers of points
WINDOWS = {"mnist": (128, 2048), "cifar10": (512, 4096)}  # sizes of the ledger's exponents
EXPECTED = "exponents 0.4 (MNIST) and 0.1 (CIFAR-10), dimensions about 14 and 30"


@dataclass(frozen=True)
class Params:
    """Scanned: images, seed. Fixed: the rest."""

    images: tuple[str, ...] = ("digits",)
    seed: tuple[int, ...] = (0, 1)
    n_train: tuple[int, ...] = (50, 100, 200)
    n_test: int = 300
    n_near: tuple[int, ...] = (200, 400, 800)  # points whose nearest neighbours are sought


@study(
    "regimes/kernel-exponents",
    version=2,
    sizes={
        "smoke": Params(),
        "cpu": Params(
            images=("mnist", "cifar10"),
            seed=tuple(range(5)),
            n_train=(128, 256, 512, 1024, 2048, 4096),
            n_test=1000,
            n_near=(1000, 2000, 4000, 8000),
        ),
        "paper": Params(
            images=("mnist", "cifar10"),
            seed=tuple(range(20)),
            n_train=(128, 512, 2048, 8192, 20_000),
            n_test=10_000,
            n_near=(1000, 4000, 16_000, 48_000),
        ),
    },
    axes=["images", Axis("seed")],
    units={"mse": "1", "distance": "1"},
    judges=("REG-65",),
    dtype="float64",
)
class KernelExponents:
    """Regression with the Laplace and the Gaussian kernel on images, for growing training sets.

    The mean square error falls as a power of the number of images that does not depend on the
    kernel, slower for photographs than for digits. The distance to the nearest neighbour shrinks as
    n^(-1/d), which gives images a dimension d far below their number of pixels.
    """

    @staticmethod
    def trial(params: Params, point: Point) -> TrialResult:
        """One draw of images: errors of both kernels, and neighbours' distances."""
        made = _pixels(point, max(params.n_train), params.n_test)
        near = _neighbours(params, point)
        errors = _errors(params.n_train, made.x_train, made.y_train, made.x_test, made.y_test)
        return TrialResult(
            arrays={
                "mse": Array(("kernel", "size"), errors),
                "n_train": Array("size", list(params.n_train)),
                "distance": Array("near", near),
                "n_near": Array("near", list(params.n_near)),
            }
        )

    @staticmethod
    def figures(dataset: xr.Dataset) -> dict[str, go.Figure]:
        """Learning curves and distances."""
        return {"Learning curves of kernels": _curves(dataset)}

    @staticmethod
    def claims(dataset: xr.Dataset) -> list[Claim]:
        """REG-65."""
        return [_exponent_claim(dataset)]


def _pixels(point: Point, n_train: int, n_test: int) -> Dataset:
    """Images as their files have them; photographs in two halves of classes, others by parity."""
    return image_task(
        point.images,
        n_train,
        n_test,
        files="split",
        centre=False,
        sphere="none",
        labels="first_half" if point.images == "cifar10" else "parity",
        flat=True,
        seed=point.seed,
        keep=False,
    )


def _neighbours(params: Params, point: Point) -> list[float]:
    """Mean distance to the nearest of n - 1 other images."""
    import torch

    x = _pixels(point, max(params.n_near), 1).x_train
    found = []
    for n in params.n_near:
        near = [
            torch.cdist(part, x[:n]).topk(2, largest=False).values[:, 1]
            for part in x[: min(n, 1000)].split(500)
        ]
        found.append(float(torch.cat(near).mean()))
    return found


def _errors(
    sizes: tuple[int, ...], x: Tensor, y: Tensor, z: Tensor, y_test: Tensor
) -> list[list[float]]:
    """Mean square errors of interpolation with both kernels."""
    import torch

    scale = SIGMA * float(torch.cdist(x[:500], x[:500]).median())
    near, far = torch.cdist(x, x), torch.cdist(z, x)
    near.fill_diagonal_(0.0)
    found = []
    for kernel in KERNELS:
        errors = []
        for n in sizes:
            gram, cross = (_kernel(kernel, r / scale) for r in (near[:n, :n], far[:, :n]))
            gram.diagonal().add_(1e-12)  # rounding only: the Gaussian's Gram is nearly singular
            weights = torch.linalg.solve(gram, y[:n].double())
            errors.append(float((cross @ weights - y_test).square().mean()))
        found.append(errors)
    return found


def _kernel(name: str, r: Tensor) -> Tensor:
    return (-r).exp() if name == "Laplace" else (-r.square() / 2).exp()


def exponents(dataset: xr.Dataset, images: str) -> tuple[list[tuple[float, float]], ...]:
    """Exponents of both kernels and the dimension, each with its error over draws."""
    from regimes.measure import power_law

    cut = dataset.sel(images=images).dropna("seed", how="all", subset=["mse"])
    sizes = cut.n_train.isel(seed=0).values
    low, high = WINDOWS.get(images, (0, np.inf))
    kept = np.flatnonzero((sizes >= low) & (sizes <= high))
    slopes = []
    for k in range(len(KERNELS)):
        errors = cut.mse.isel(kernel=k).transpose("seed", "size").values[:, kept]
        fit = power_law(sizes[kept], errors, center="mean")
        slopes.append((-fit.exponent, fit.error))
    distances = cut.distance.transpose("seed", "near").values
    fit = power_law(cut.n_near.isel(seed=0).values, distances, center="mean")
    return slopes, [(-1 / fit.exponent, fit.error / fit.exponent**2)]


def _exponent_claim(dataset: xr.Dataset) -> Claim:
    done = dataset.dropna("seed", how="any", subset=["mse"]) if "mse" in dataset else None
    if done is None or done.sizes["seed"] < 3 or any(n not in done.images for n in EXPONENTS):
        why = "needs MNIST and CIFAR-10 with three draws each"
        return Claim.unclear("REG-65", EXPECTED, why=why)
    parts = []
    for name, limits in EXPONENTS.items():
        slopes, dimension = exponents(done, name)
        for kernel, (slope, error) in zip(KERNELS, slopes, strict=True):
            parts.append(Part(f"{name}, {kernel}", slope, *limits, error))
        parts.append(
            Part(f"dimension of {name}", dimension[0][0], *DIMENSIONS[name], dimension[0][1])
        )
    why = f"mean square error of interpolation, {done.sizes['seed']} draws"
    return claim_of_parts("REG-65", parts, why=why)


def _curves(dataset: xr.Dataset) -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
    if "mse" in dataset:
        done = dataset.dropna("seed", how="all", subset=["mse"])
        for name, color in zip(done.images.values, ("#1b9e77", "#d95f02"), strict=False):
            cut = done.sel(images=name)
            sizes = cut.n_train.isel(seed=0).values
            for k, (kernel, dash) in enumerate(zip(KERNELS, ("solid", "dash"), strict=True)):
                values = cut.mse.isel(kernel=k).transpose("seed", "size").values
                figure.add_scatter(
                    x=sizes,
                    y=values.mean(0),
                    error_y={"array": values.std(0) / len(values) ** 0.5},
                    mode="lines+markers",
                    name=f"{name}, {kernel}",
                    line={"color": color, "dash": dash},
                )
            guide = 0.4 if name != "cifar10" else 0.1
            end = 0.85 * values.mean(0)[0]
            figure.add_scatter(
                x=sizes,
                y=end * (sizes / sizes[0]) ** -guide,
                mode="lines",
                name=f"slope -{guide:g} (document)",
                line={"color": "grey", "dash": "dot", "width": 1},
            )
    figure.update_xaxes(type="log", title="training images", exponentformat="power")
    figure.update_yaxes(type="log", title="mean square error (labels ±1)", dtick="D2")
    caption = (
        "Mean square error on unseen images of interpolation with two kernels, against the number "
        "of training images (means over draws). Both kernels learn at one rate, which the data "
        "set sets: digits at about n^-0.4, photographs hardly at all (n^-0.1)."
    )
    return figure.update_layout(meta={"caption": caption})
