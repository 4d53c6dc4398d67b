"""Double descent, with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find


@pytest.fixture(scope="module")
def study():
    return find("regimes/double-descent")


def known(fall=0.06, quiet=0.5):
    """Norms that diverge at N* and errors that fall; the other trainers ran at 4 and 6."""
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
    for values in (norms, errors, fitted):
        values[1:, [0, *range(3, 8)]] = np.nan
    dims = ("trainer", "width", "scale", "seed")
    return xr.Dataset(
        {
            "output_norm": (dims, norms),
            "error": (dims, errors),
            "fitted": (dims, fitted),
            "unfitted": (dims, 10 * (1 - fitted)),
            "ensemble_error": (dims[:3], np.where(np.isnan(fitted[..., 0]), np.nan, 0.14)),
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


def test_ensembles_worse_than_wide_networks_do_not(study):
    dataset = known()
    dataset["ensemble_error"] = dataset.ensemble_error + 0.05
    assert verdicts(study, dataset)["REG-57"] == "not reproduced"


def test_what_has_not_run_is_not_judged(study):
    dataset = known()
    for name in ("fitted", "output_norm", "error"):
        dataset[name][1:] = np.nan
    found = verdicts(study, dataset)
    assert (found["REG-56"], found["REG-62"]) == ("reproduced", "inconclusive")
    wide = known().isel(width=slice(3, None))
    assert set(verdicts(study, wide).values()) == {"inconclusive"}


def test_trials_from_before_scales_were_an_axis_have_the_keys_they_had(study):
    first = {size: study.configs(params)[0] for size, params in study.sizes.items()}
    former = {size: study.formerly(study.sizes[size], each).key for size, each in first.items()}
    assert former == {
        "smoke": "61e39d9eff8c23b5e222",
        "cpu": "e3efe5f6dc0ee7d2411c",
        "paper": "279737cb01a791ea6b87",
    }
