"""Studies of images: data that follow the laws are reproduced, what breaks one is told alone."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find

SEEDS = np.exp(0.02 * np.linspace(-1, 1, 6))
SIZES = np.array([128, 256, 512, 1024, 2048, 4096])
TASKS = ["mnist", "cifar10", "cifar10-other"]


def law(exponents, x, *shift):
    """Curves (..., seed, x) that fall with exponents (...)."""
    falls = x.astype(float) ** -np.asarray(exponents)[..., None, None]
    return falls * SEEDS[:, None]


def curves(mnist=(0.38, 0.41), cifar=(0.06, 0.05)):
    mse = np.stack([law(mnist, SIZES), law(cifar, SIZES), law(cifar, SIZES)])
    return xr.Dataset(
        {
            "mse": (("task", "kernel", "seed", "size"), mse),
            "pixels": (("task", "seed"), np.repeat([[784], [3072], [3072]], 6, 1)),
        },
        {"task": TASKS, "kernel": ["laplace", "gaussian"], "seed": np.arange(6), "size": SIZES},
    )


@pytest.mark.parametrize(
    ("changed", "failed"),
    [
        ({}, set()),
        ({"mnist": (0.30, 0.33)}, {"KER-01"}),
        ({"mnist": (0.35, 0.455)}, {"KER-04"}),
        ({"mnist": (0.55, 0.57)}, {"KER-01", "KER-06"}),
        ({"cifar": (0.15, 0.1)}, {"KER-02"}),
        ({"cifar": (-0.01, 0.05)}, {"KER-02", "KER-06"}),
    ],
)
def test_exponents_of_regression(verdicts, changed, failed):
    found = verdicts(find("kernels/image-curves"), curves(**changed))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == failed
    assert found["KER-37"] == "reported"


def test_a_large_scan_is_fitted_on_its_last_decade():
    sizes = np.array([128, 1024, 5000, 16_000, 50_000])
    bent = np.where(sizes < 5000, sizes**-0.1, 5000.0**0.3 * sizes**-0.4)
    data = xr.Dataset(
        {"mse": (("task", "kernel", "seed", "size"), np.broadcast_to(bent, (1, 2, 6, 5)) *
                 SEEDS[:, None])},
        {"task": ["mnist"], "kernel": ["laplace", "gaussian"], "seed": np.arange(6), "size": sizes},
    )  # fmt: skip
    claims = {claim.id: claim for claim in find("kernels/image-curves").claims(data)}
    assert claims["KER-01"].verdict.value == "reproduced"
    assert "n = 5000 to 50000" in claims["KER-01"].why
    assert claims["KER-02"].verdict.value == "inconclusive"  # no photographs have run


def machines(laplace=0.43, gaussian=0.53, regression=0.4, cifar=0.07):
    sizes = SIZES[:-1]
    error = np.stack([law((laplace, gaussian), sizes), law((cifar, cifar), sizes)])
    mse = np.stack([law((regression, regression), sizes), law((cifar, cifar), sizes)])
    dims = ("task", "kernel", "seed", "size")
    return xr.Dataset(
        {"error": (dims, error), "mse": (dims, mse), "violation": (dims, np.full(mse.shape, 1e-4))},
        {"task": TASKS[:2], "kernel": ["laplace", "gaussian"], "seed": np.arange(6), "size": sizes},
    )


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "reproduced"),
        ({"laplace": 0.3, "regression": 0.3}, "not reproduced"),
        ({"gaussian": 0.7}, "not reproduced"),
        ({"regression": 0.5}, "not reproduced"),  # slower than regression
    ],
)
def test_exponents_of_machines(verdicts, changed, verdict):
    assert verdicts(find("kernels/machines"), machines(**changed)) == {"KER-03": verdict}


def spectra(tail=0.38, steeper=0.0, mse=0.4, cifar=0.06, off=(0.01, 0.08, 0.5, 0.9)):
    """`off`: log of eigenvalues of 1500 points over those of 4500 at ranks 1, 10, 100; and that of
    CIFAR-10 at rank 100."""
    points, ranks = np.array([1500, 3000, 4500]), np.arange(1, 301)
    sizes = SIZES[:-1]
    rows = np.stack([law((slope, slope, slope), ranks) for slope in (tail, cifar, cifar)])
    rows[0, 0] *= ranks**-steeper
    rows[0, 2] *= ranks**steeper
    first, tenth, last, photographs = off
    log_off = np.interp(np.log10(ranks), [0, 1, 2, 2.5], [first, tenth, last, last])
    other = np.interp(np.log10(ranks), [0, 1, 2, 2.5], [first, tenth, photographs, photographs])
    share = np.log(4500 / points) / np.log(3)
    values = np.stack([np.exp(share[:, None] * each) / ranks for each in (log_off, other, other)])
    return xr.Dataset(
        {
            "tail": (("task", "points", "seed", "rank"), rows),
            "eigenvalue": (("task", "points", "seed", "rank"), values[:, :, None] *
                           SEEDS[:, None]**0.01),
            "mse": (("task", "seed", "size"), law((mse, cifar, cifar), sizes)),
        },
        {"task": TASKS, "points": points, "seed": np.arange(6), "rank": ranks, "size": sizes},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "failed"),
    [
        ({"steeper": 0.02}, set()),
        ({"steeper": -0.02}, {"KER-25"}),  # tails must fall with the points
        ({"tail": 0.55, "steeper": 0.02, "mse": 0.55}, {"KER-25"}),
        ({"cifar": 0.15, "steeper": 0.02}, {"KER-26"}),
        ({"mse": 0.6, "steeper": 0.02}, {"KER-27"}),
        ({"off": (0.05, 0.08, 0.5, 0.9), "steeper": 0.02}, {"KER-30"}),
        ({"off": (0.01, 0.2, 0.5, 0.9), "steeper": 0.02}, {"KER-30"}),
        ({"off": (0.01, 0.08, 0.05, 0.9), "steeper": 0.02}, {"KER-30"}),
        ({"off": (0.01, 0.08, 0.5, 0.3), "steeper": 0.02}, {"KER-30"}),
    ],
)
def test_spectra(verdicts, changed, failed):
    found = verdicts(find("kernels/image-spectra"), spectra(**changed))
    assert {id for id, verdict in found.items() if verdict != "reproduced"} == failed


def clouds(**dimensions):
    """Distances on clouds of known dimensions, as far as 10,000 points tell them."""
    told = {"sphere-2": 2.0, "sphere-5": 5.0, "sphere-15": 13.5, "sphere-35": 26.5}
    told |= {"mnist": 13.0, "cifar10": 28.0}
    told |= {name.replace("_", "-"): d for name, d in dimensions.items()}
    sizes = np.array([1000, 2000, 4000, 8000, 10_000])
    distance = np.stack([law(1 / d, sizes) for d in told.values()])
    return xr.Dataset(
        {"distance": (("cloud", "seed", "size"), distance)},
        {"cloud": list(told), "seed": np.arange(6), "size": sizes},
    )


@pytest.mark.parametrize(
    ("changed", "failed"),
    [
        ({}, set()),
        ({"sphere_2": 2.2}, {"KER-20"}),
        ({"mnist": 11.0}, {"KER-28"}),
        ({"mnist": 14.4, "sphere_15": 12.85}, {"KER-28"}),  # far from the sphere's own
        ({"cifar10": 35.0}, {"KER-29"}),
        ({"cifar10": 31.0, "sphere_35": 25.0}, {"KER-29"}),
    ],
)
def test_dimensions(verdicts, changed, failed):
    found = verdicts(find("kernels/dimension"), clouds(**changed))
    assert {id for id, verdict in found.items() if verdict != "reproduced"} == failed
