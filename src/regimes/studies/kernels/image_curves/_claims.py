"""Verdicts on the exponents of regression on images."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Values, judge
from regimes.studies._types import PowerLaw

FULL_FROM = 20_000  # training points from which a scan is judged by its last decade
KERNELS = ("laplace", "gaussian")
SPLITS = ("cifar10", "cifar10-other")

claim = judge.Claims()


def errors(dataset: Data, task: str, kernel: str) -> Values:
    """Errors (seed, size) of one kernel."""
    here = judge.where_ran(dataset, "seed", "mse", task=task, kernel=kernel)
    return here.mse.dropna("size", how="all").transpose("seed", "size")


def window(dataset: Data, task: str) -> tuple[float, float]:
    """Sizes that are fitted: the last decade of a large scan, else those of the claim."""
    last = int(errors(dataset, task, "laplace")["size"].max())
    if last >= FULL_FROM:
        return last / 10, last
    return (128, 2048) if task == "mnist" else (512, 4096 if last < 8000 else last)


def fit(dataset: Data, task: str, kernel: str) -> PowerLaw:
    """Exponent of one curve, means over seeds."""
    span = window(dataset, task)
    curve = errors(dataset, task, kernel)
    if float(curve["size"].max()) < span[1] * 0.999:
        raise judge.Missing(f"needs {task} up to n = {span[1]:g}")
    return judge.power_law(curve, "size", span, center="mean")


def told(dataset: Data, task: str) -> str:
    """Window and number of draws."""
    low, high = window(dataset, task)
    return f"n = {low:g} to {high:g}, {errors(dataset, task, 'laplace').sizes['seed']} draws"


@claim("KER-01", "MNIST: exponent of both kernels 0.40 +- 0.06")
def _mnist(dataset: Data) -> judge.Parts:
    for kernel in KERNELS:
        found = fit(dataset, "mnist", kernel)
        yield judge.near(kernel, (-found.exponent, found.error), 0.40, 0.06)
    return told(dataset, "mnist")


@claim("KER-02", "CIFAR-10: exponent of both kernels from 0.02 to 0.12, either split")
def _cifar(dataset: Data) -> judge.Parts:
    for split in SPLITS:
        for kernel in KERNELS:
            found = fit(dataset, split, kernel)
            yield judge.within(f"{split}, {kernel}", (-found.exponent, found.error), 0.02, 0.12)
    return f"{told(dataset, 'cifar10')}, of 10,000 images; the paper had 60,000"


@claim("KER-04", "MNIST: exponents of the two kernels differ by less than 0.1")
def _same(dataset: Data) -> judge.Parts:
    span = window(dataset, "mnist")
    one, other = (errors(dataset, "mnist", kernel) for kernel in KERNELS)
    chosen = ((one["size"] >= span[0] * 0.999) & (one["size"] <= span[1] * 1.001)).values
    if chosen.sum() < 3:
        raise judge.Missing(f"needs MNIST from n = {span[0]:g} to {span[1]:g}")
    most = 0.05 if span[1] >= FULL_FROM else 0.1
    x = one["size"].values[chosen]
    gap = judge.resampled(
        np.stack([one.values[:, chosen], other.values[:, chosen]], 1),
        lambda drawn: float(np.diff(np.polyfit(np.log(x), np.log(drawn.mean(0)).T, 1)[0])[0]),
    )
    yield judge.near("Laplace - Gauss", gap, 0.0, most)
    return told(dataset, "mnist")


@claim("KER-06", "exponents between 1/d and 1/2, d the number of pixels")
def _between(dataset: Data) -> judge.Parts:
    for task in ("mnist", *SPLITS):
        here = judge.need(dataset, "pixels", task=task)
        least = 1 / float(np.nanmax(here.pixels.values))
        for kernel in KERNELS:
            found = fit(dataset, task, kernel)
            yield judge.within(f"{task}, {kernel}", (-found.exponent, found.error), least, 0.5)
    return "784 pixels of MNIST, 3072 of CIFAR-10"


# exponents that the paper quotes from others: place -> (lowest, highest)
QUOTED = {
    "worst case of Lipschitz targets, d = 784": (1 / 784, 1 / 784),
    "targets in the kernel's own space": (0.5, 0.5),
    "deep networks, translation": (0.13, 0.36),
    "deep networks, language": (0.06, 0.09),
    "deep networks, speech": (0.3, 0.3),
    "deep networks, ImageNet": (0.3, 0.5),
}


@claim("KER-37", "reference lines in the figures", report=True)
def _quoted(dataset: Data) -> judge.Parts:
    found = fit(dataset, "mnist", "laplace")
    yield judge.within("MNIST, Laplace", (-found.exponent, found.error))
    said = ", ".join(
        f"{name} {low:.2g}" + (f" to {high:.2g}" if high > low else "")
        for name, (low, high) in QUOTED.items()
    )
    return f"quoted by the paper, measured elsewhere: {said}"
