"""The crossover under stochastic descent."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run


@pytest.fixture(scope="module")
def study():
    return find("regimes/stochastic")


def known(shift):
    at = np.geomspace(0.1, 1000, 9)
    seeds = np.exp(0.02 * np.linspace(-1, 1, 5))[:, None]
    change = np.stack([10 * seeds / at, 10 * shift * seeds / at])  # (rate, seed, at)
    return xr.Dataset(
        {
            "kernel_change": (("rate", "seed", "at"), change),
            "fitted": (("rate", "seed", "at"), np.ones_like(change)),
            "scale": (("rate", "at"), np.stack([at, at])),
        },
        {"rate": [0.0, 0.01], "seed": np.arange(5)},
    )


def test_the_smoke_size_runs_whole(study, tmp_path):
    summary = run(study, store=Store(tmp_path), executor=LocalExecutor(1, threads=1))
    assert summary.complete
    assert summary.failed == 0
    assert [claim.verdict.value for claim in summary.claims] == ["inconclusive"]
    assert all(len(f.layout.meta["caption"]) > 100 for f in study.figures(summary.dataset).values())


@pytest.mark.parametrize("shift", [0.8, 1.5])
def test_a_known_shift_is_measured_and_not_judged(study, shift):
    (claim,) = study.claims(known(shift))
    assert claim.measured == pytest.approx(shift, rel=0.02)
    assert claim.verdict.value == "inconclusive"
    assert "not judged" in claim.why


def test_without_the_flow_nothing_is_judged(study):
    part = known(1.0)
    part["kernel_change"][0] = np.nan
    assert study.claims(part)[0].verdict.value == "inconclusive"
    assert study.claims(xr.Dataset())[0].verdict.value == "inconclusive"
