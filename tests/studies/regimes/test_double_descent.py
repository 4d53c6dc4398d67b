"""Double descent, with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find


@pytest.fixture(scope="module")
def study():
    return find("regimes/double-descent")


def known(fall=0.06, quiet=0.5, short=4.0, shaky=0.0):
    """Norms that diverge at N* and errors that fall; the other trainers ran at 4 and 6.

    `short` points of 100 are unfitted under noise; under decay many more. `shaky` is by how much an
    ensemble's error changes without a seed.
    """
    width = np.array([2, 4, 6, 8, 10, 16, 32, 64])
    weights = 11.0 * width + width**2
    n_star = np.exp(np.interp(np.log(24**0.5), np.log([4, 6]), np.log(weights[1:3])))
    norm = np.where(width > 4, 1 / np.abs(weights / n_star - 1), 1.0)
    norm[1] = norm[2] * 0.9
    seed = 1 + 0.05 * np.linspace(-1, 1, 5)
    error = 0.15 + fall * np.minimum(1, 6 / width) - fall * 6 / 64
    ones = np.ones((3, 8, 1, 5))
    norms = norm[None, :, None, None] * seed * ones
    norms[1:] *= quiet
    errors = error[None, :, None, None] + 0.002 * (seed - 1) * ones
    fitted = (width > 4).astype(float)[None, :, None, None] * ones
    unfitted = 3 * (1 - fitted)
    unfitted[1], unfitted[2] = short, 45.0
    for values in (norms, errors, fitted, unfitted):
        values[1:, [0, *range(3, 8)]] = np.nan
    at_ten = (width == 10)[:, None, None]
    dims = ("trainer", "width", "scale", "seed")
    return xr.Dataset(
        {
            "output_norm": (dims, norms),
            "error": (dims, errors),
            "fitted": (dims, fitted),
            "unfitted": (dims, unfitted),
            "ensemble_error": (dims[:3], np.where(np.isnan(fitted[..., 0]), np.nan, 0.14)),
            "ensemble_error_without": (
                dims,
                np.where(np.isnan(fitted), np.nan, 0.14 + 20 * shaky * (seed - 1) * at_ten),
            ),
            "n_train": (dims[:2], np.where(np.isnan(fitted[..., 0, 0]), np.nan, 100)),
            "parameters": (dims[:2], np.where(np.isnan(fitted[..., 0, 0]), np.nan, weights)),
        },
        {
            "trainer": ["flow", "sgd", "decay"],
            "width": width,
            "scale": [30.0],
            "seed": np.arange(5),
        },
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_known_curves_reproduce(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("changed", "id"),
    [({"fall": 0.01}, "REG-56"), ({"quiet": 1.3}, "REG-62")],
)
def test_other_curves_do_not(study, changed, id):
    assert verdicts(study, known(**changed))[id] == "not reproduced"


def test_what_hangs_on_a_seed_is_open(study):
    found = verdicts(study, known(shaky=0.05))
    assert (found["REG-56"], found["REG-57"]) == ("inconclusive", "inconclusive")
    calm = known(quiet=0.95)
    spread = xr.DataArray([-1.0, 1.0, -1.0, 1.0, 0.0], dims="seed")
    noise = np.exp(0.3 * spread * (calm.trainer == "sgd"))
    calm["output_norm"] = (calm.output_norm * noise).transpose(*calm.output_norm.dims)
    assert verdicts(study, calm)["REG-62"] == "inconclusive"


def test_runs_far_from_fitting_say_nothing_of_the_norm(study):
    claim = next(each for each in study.claims(known(short=30.0)) if each.id == "REG-62")
    assert claim.verdict.value == "inconclusive"
    assert "30.0, 45.0 % (flow, sgd, decay)" in claim.why


def test_a_norm_that_peaks_far_from_jamming_does_not(study):
    far = known()
    far["output_norm"] = far.output_norm.where(far.width != 16, 100.0)
    assert verdicts(study, far)["REG-56"] == "not reproduced"


def test_ensembles_worse_than_wide_networks_do_not(study):
    dataset = known()
    for name in ("ensemble_error", "ensemble_error_without"):
        dataset[name] = dataset[name] + 0.05
    assert verdicts(study, dataset)["REG-57"] == "not reproduced"


def test_what_has_not_run_is_not_judged(study):
    dataset = known()
    for name in ("fitted", "output_norm", "error"):
        dataset[name][1:] = np.nan
    found = verdicts(study, dataset)
    assert (found["REG-56"], found["REG-62"]) == ("reproduced", "inconclusive")
    wide = known().isel(width=slice(3, None))
    assert set(verdicts(study, wide).values()) == {"inconclusive"}
