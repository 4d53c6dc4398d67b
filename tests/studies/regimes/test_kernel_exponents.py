"""Exponents of kernels on images."""

import re

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find


@pytest.fixture(scope="module")
def study():
    return find("regimes/kernel-exponents")


def known(mnist=0.4, cifar=0.08, dimension=13.0):
    sizes, near = np.array([128, 512, 1024, 4096]), np.array([1000, 2000, 8000])
    seeds = np.exp(0.01 * np.linspace(-1, 1, 5))[:, None, None]
    mse = np.stack([seeds * sizes**-slope * np.ones((5, 2, 1)) for slope in (mnist, cifar)])
    distance = np.stack([near ** (-1 / d) * seeds[:, 0] for d in (dimension, 28.0)])
    return xr.Dataset(
        {
            "mse": (("images", "seed", "kernel", "size"), mse),
            "distance": (("images", "seed", "near"), distance),
            "n_train": (("images", "seed", "size"), np.broadcast_to(sizes, (2, 5, 4))),
            "n_near": (("images", "seed", "near"), np.broadcast_to(near, (2, 5, 3))),
        },
        {"images": ["mnist", "cifar10"], "seed": np.arange(5)},
    )


def test_errors_fall_with_the_number_of_images(smoke):
    data = smoke("regimes/kernel-exponents").dataset
    assert np.all(np.diff(data.mse.mean(["images", "seed", "kernel"])) < 0)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [({}, "reproduced"), ({"mnist": 0.2}, "not reproduced"), ({"cifar": 0.3}, "not reproduced"),
     ({"dimension": 40.0}, "not reproduced")],
)  # fmt: skip
def test_known_exponents_are_judged_right(study, changed, verdict):
    assert study.claims(known(**changed))[0].verdict.value == verdict


def test_draws_that_share_their_images_have_the_error_of_one(study):
    tilted = known(cifar=0.025)
    size = tilted.n_train.isel(images=0, seed=0, drop=True)
    tilt = xr.DataArray([-2.0, -1.0, 0.0, 1.0, 2.0], dims="seed")
    by = xr.where(tilted.images == "cifar10", size ** (0.004 * tilt), 1.0)
    tilted["mse"] = (tilted.mse * by).transpose(*tilted.mse.dims)
    (claim,) = study.claims(tilted)  # 0.025 +- 0.003 for a mean of five, +- 0.006 for one
    assert claim.verdict.value == "inconclusive"
    assert re.search(r"cifar10, Laplace 0.02\d+ ± 0.00[5-7]", claim.why)


def test_one_draw_has_no_error(study):
    same = known()
    same["distance"][1] = same.distance[1, 0]
    (claim,) = study.claims(same)
    assert "dimension of cifar10 28," not in claim.why
    assert "dimension of cifar10 28;" in claim.why
    assert claim.verdict.value == "reproduced"


def test_draws_that_have_not_finished_are_left_out(study):
    some = known()
    some["mse"][1, 1] = np.nan
    assert study.claims(some)[0].verdict.value == "reproduced"
    some["mse"][1, 2:4] = np.nan
    (claim,) = study.claims(some)
    assert claim.verdict.value == "inconclusive"
    assert "2 have finished" in claim.why
