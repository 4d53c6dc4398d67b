"""Learning curves of plain kernels on images, and the images' dimension [Geiger 2021, sec. 5]."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.lab import Array, Point, TrialResult, study
from regimes.studies._images import image_task
from regimes.studies._types import Dataset, Tensor
from regimes.studies.regimes.kernel_exponents._claims import KERNELS

# Width of the kernels in units of the median distance; the paper's 1000, for pixels up to 255.
# Much wider Gaussians are singular to rounding.
SIGMA = 0.4


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
    axes=["images", "seed"],
    units={"mse": "1", "distance": "1"},
)
class KernelExponents:
    """Regression with the Laplace and the Gaussian kernel on images, for growing training sets.

    The mean square error falls as a power of the number of images that does not depend on the
    kernel, slower for photographs than for digits. The distance to the nearest neighbour shrinks as
    n^(-1/d), which gives images a dimension d far below their number of pixels.

    The papers: [Spigler 2020], [Geiger 2021, sec. 5].
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
