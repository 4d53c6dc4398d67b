"""Growth of the output, at its smallest size and with courses that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, find, run
from regimes.studies.regimes.output_growth import moments


@pytest.fixture(scope="module")
def study():
    return find("regimes/output-growth")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def known(*, early=1.0, grown=0.5, late=0.5):
    """Outputs that grow as t^early, by h^grown at t_1; by h^late for t > t_1."""
    depths, widths, scale = [2, 3], [40, 160], np.array([2e-3, 2e-2, 1e5])
    t, seeds = moments(10.0), 4
    noise = np.exp(0.01 * np.cos(np.arange(seeds)))[:, None]
    change = np.empty((2, 2, 3, seeds, len(t)))
    for j, width in enumerate(widths):
        curve = np.where(t < 0.3, 0.1 * (t / 0.3) ** early, t**2)
        growth = np.where(t > 1.05, width**late, width**grown)
        change[:, j] = growth * curve * noise / scale[:, None, None]
    dims = ("depth", "width", "scale", "seed", "moment")
    return xr.Dataset(
        {
            "change": (dims, change),
            "norm": (dims, change),
            "typical_norm": (dims[:3], np.ones((2, 2, 3))),
        },
        {"depth": depths, "width": widths, "scale": scale, "seed": range(seeds), "moment": t},
    )


def verdicts(study, dataset):
    return [claim.verdict.value for claim in study.claims(dataset)]


def test_the_output_grows_from_nothing_to_what_the_loss_asks_for(summary):
    runs = summary.dataset.sel(scale=2e-2)
    change = runs.change.transpose(..., "moment").values
    assert (np.diff(change[..., :100]) > 0).all()
    early = change[..., 40] / change[..., 0]  # a decade of time
    np.testing.assert_allclose(early, 10.0, rtol=0.2)
    at_half = runs.change.sel(moment=1.0, method="nearest") * 2e-2 / runs.width**0.5
    assert bool(((at_half > 0.1) & (at_half < 3)).all())  # alpha |f - f0| = O(1) at t_1
    start = summary.dataset.norm.isel(moment=0)
    np.testing.assert_allclose(start, summary.dataset.start_norm, rtol=0.2)


def test_the_papers_growth_is_recognised(study):
    assert verdicts(study, known()) == ["reproduced"] * 3


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"early": 1.2}, ["not reproduced", "reproduced", "reproduced"]),
        ({"grown": 0.1, "late": 0.5}, ["reproduced", "not reproduced", "not reproduced"]),
        ({"late": 0.9}, ["reproduced", "reproduced", "not reproduced"]),
    ],
)
def test_other_growth_is_not_reproduced(study, change, expected):
    assert verdicts(study, known(**change)) == expected


def test_missing_trials_decide_nothing(study):
    data = known()
    data["change"][0, 0, 1] = np.nan
    data["norm"][0, 0, 1] = np.nan
    assert verdicts(study, data) == ["inconclusive"] * 3
    assert verdicts(study, known().isel(width=[0])) == ["inconclusive"] * 3
