"""The crossover under stochastic descent."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find


@pytest.fixture(scope="module")
def study():
    return find("regimes/stochastic")


def known(shift):
    scale = np.geomspace(0.1, 1000, 9)
    seeds = np.exp(0.02 * np.linspace(-1, 1, 5))[:, None]
    change = np.stack([10 * seeds / scale, 10 * shift * seeds / scale])
    dims = ("rate", "seed", "scale")
    return xr.Dataset(
        {"kernel_change": (dims, change), "fitted": (dims, np.ones_like(change))},
        {"rate": [0.0, 0.01], "seed": np.arange(5), "scale": scale},
    )


@pytest.mark.parametrize("shift", [0.8, 1.5])
def test_a_known_shift_is_measured_and_not_judged(study, shift):
    (claim,) = study.claims(known(shift))
    assert claim.measured == pytest.approx(shift, rel=0.02)
    assert claim.verdict.value == "reported"
    assert "an open question" in claim.why


def test_without_the_flow_nothing_is_judged(study):
    part = known(1.0)
    part["kernel_change"][0] = np.nan
    (claim,) = study.claims(part)
    assert (claim.verdict.value, claim.measured) == ("inconclusive", None)


def test_trials_from_before_scales_were_an_axis_have_the_keys_they_had(study):
    first = {size: study.configs(params)[0] for size, params in study.sizes.items()}
    former = {size: study.formerly(study.sizes[size], each).key for size, each in first.items()}
    assert former == {
        "smoke": "89ef6d56ee925d6c3d0f",
        "cpu": "653a312bd3949a07fa69",
        "paper": "66fa55a670bbdf63f52c",
    }
