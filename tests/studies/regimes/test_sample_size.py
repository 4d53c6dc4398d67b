"""Feature against lazy training with growing training sets."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find


@pytest.fixture(scope="module")
def study():
    return find("regimes/sample-size")


def known(gaps):
    """Errors whose gap between the two scales is given for each size."""
    seeds = 0.002 * np.linspace(-1, 1, 5)
    lazy = 0.15 + seeds + np.zeros((len(gaps), 1))
    feature = lazy + np.array(gaps)[:, None] + 0.5 * seeds[::-1]
    error = np.stack([feature, lazy], axis=1)
    dims = ("n_train", "scale", "seed")
    return xr.Dataset(
        {
            "error": (dims, error),
            "fitted": (dims, np.ones_like(error)),
            "ensemble_error": (dims[:2], error.mean(-1) - 0.02),
        },
        {"n_train": [100, 400, 1600][: len(gaps)], "scale": [1.0, 1e3], "seed": np.arange(5)},
    )


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [((0.03, 0.02, 0.005), "reported"), ((0.01, 0.02, 0.03), "reported"),
     ((0.03,), "inconclusive")],
)  # fmt: skip
def test_the_gap_is_reported(study, gaps, verdict):
    (claim,) = study.claims(known(gaps))
    assert claim.verdict.value == verdict
    if verdict == "reported":
        assert claim.measured == pytest.approx(gaps[-1] - gaps[0])


def test_one_scale_has_no_gap(study):
    (claim,) = study.claims(known((0.03, 0.02)).sel(scale=[1.0]))
    assert (claim.verdict.value, claim.measured) == ("inconclusive", None)


def test_trials_from_before_scales_were_an_axis_have_the_keys_they_had(study):
    first = {size: study.configs(params)[0] for size, params in study.sizes.items()}
    former = {size: study.formerly(study.sizes[size], each).key for size, each in first.items()}
    assert former == {
        "smoke": "0a8eee17b30737fefd20",
        "cpu": "c68333d53311be0082fe",
        "paper": "88e78e0e866855a4bc03",
    }
