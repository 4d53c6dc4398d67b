"""The verdict on exponents of kernels and the dimension of images."""

from regimes.lab import Data, judge

KERNELS = ("Laplace", "Gaussian")
EXPONENTS = {"mnist": (0.34, 0.46), "cifar10": (0.02, 0.12)}  # of the mean square error
DIMENSIONS = {"mnist": (11.5, 14.5), "cifar10": (24.0, 32.0)}  # at these numbers of points
WINDOWS = {"mnist": (128, 2048), "cifar10": (512, 4096)}  # sizes in the fits
FEW_IMAGES = "cifar10"  # 8000 training images are at hand, draws of 4096 share half of them

claim = judge.Claims()


@claim("REG-65", "exponents 0.4 (MNIST) and 0.1 (CIFAR-10), dimensions about 14 and 30")
def _exponents(dataset: Data) -> judge.Parts:
    done = judge.need(dataset, "mse").dropna("seed", how="any", subset=["mse"])
    if done.sizes["seed"] < 3:
        raise judge.Missing(f"needs three draws of each set, {done.sizes['seed']} have finished")
    for name, limits in EXPONENTS.items():
        here = draws_of(done, name)
        for kernel in KERNELS:
            errors = here.mse.sel(kernel=kernel)
            fit = judge.power_law(errors, "size", WINDOWS[name], center="mean")
            found = (-fit.exponent, fit.error * _shared(here, name))
            yield judge.within(f"{name}, {kernel}", found, *limits)
        fit = judge.power_law(here.distance, "near", center="mean")
        error = fit.error * _shared(here, name) / fit.exponent**2
        one_draw = bool((here.distance == here.distance.isel(seed=0)).all())
        dimension = (-1 / fit.exponent, None if one_draw else error)
        yield judge.within(f"dimension of {name}", dimension, *DIMENSIONS[name])
    return (
        f"mean square error of interpolation, {done.sizes['seed']} draws. The {FEW_IMAGES} images "
        "at hand are too few for independent draws: the scatter of one draw is the error of their "
        "exponents, and their dimension, of all images every time, has none"
    )


def _shared(here: Data, images: str) -> float:
    """What the error of a mean over draws is multiplied by: draws that share images are one."""
    return float(here.sizes["seed"] ** 0.5) if images == FEW_IMAGES else 1.0


def draws_of(dataset: Data, images: str) -> Data:
    """The draws of a set that have finished, with numbers of images and kernels as coordinates.

    Raises:
        Missing: there is none.
    """
    ran = judge.need(dataset, "mse", images=images).dropna("seed", how="all", subset=["mse"])
    sizes = {"size": ran.n_train.isel(seed=0).values, "near": ran.n_near.isel(seed=0).values}
    return ran.assign_coords(**sizes, kernel=list(KERNELS))
