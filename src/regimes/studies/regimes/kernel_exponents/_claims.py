"""The verdict on exponents of kernels and the dimension of images."""

from regimes.lab import Data
from regimes.lab.judge import Claims, Missing, Parts, need, power_law, within

KERNELS = ("Laplace", "Gaussian")
EXPONENTS = {"mnist": (0.34, 0.46), "cifar10": (0.02, 0.12)}  # of the mean square error
DIMENSIONS = {"mnist": (11.5, 14.5), "cifar10": (24.0, 32.0)}  # at these numbers of points
WINDOWS = {"mnist": (128, 2048), "cifar10": (512, 4096)}  # sizes of the ledger's exponents

claim = Claims()


@claim("REG-65", "exponents 0.4 (MNIST) and 0.1 (CIFAR-10), dimensions about 14 and 30")
def _exponents(dataset: Data) -> Parts:
    done = need(dataset, "mse").dropna("seed", how="any", subset=["mse"])
    if done.sizes["seed"] < 3:
        raise Missing(f"needs three draws of each set, {done.sizes['seed']} have finished")
    for name, limits in EXPONENTS.items():
        here = draws_of(done, name)
        for kernel in KERNELS:
            errors = here.mse.sel(kernel=kernel)
            fit = power_law(errors, "size", WINDOWS[name], center="mean")
            yield within(f"{name}, {kernel}", (-fit.exponent, fit.error), *limits)
        fit = power_law(here.distance, "near", center="mean")
        dimension = (-1 / fit.exponent, fit.error / fit.exponent**2)
        yield within(f"dimension of {name}", dimension, *DIMENSIONS[name])
    return f"mean square error of interpolation, {done.sizes['seed']} draws"


def draws_of(dataset: Data, images: str) -> Data:
    """The draws of a set that have finished, with numbers of images and kernels as coordinates.

    Raises:
        Missing: there is none.
    """
    ran = need(dataset, "mse", images=images).dropna("seed", how="all", subset=["mse"])
    sizes = {"size": ran.n_train.isel(seed=0).values, "near": ran.n_near.isel(seed=0).values}
    return ran.assign_coords(**sizes, kernel=list(KERNELS))
