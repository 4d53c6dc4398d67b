"""Jamming, at the smallest size and on scans that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run
from regimes.studies.regimes._jamming_claims import n_star


@pytest.fixture(scope="module")
def study():
    return find("regimes/jamming")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("jamming"))
    return run(
        study, store=place, executor=LocalExecutor(1, threads=1), n_train=(30,), width=(2, 5)
    )


def known(slope=0.75, random_slope=1.0, held=0.6, relu=0.5):
    """N* as powers of P on a fine grid of widths."""
    p, width = np.array([250, 500, 1000, 2000]), np.arange(2, 40)
    weights = 11.0 * width + width**2
    fitted = np.empty((2, 4, len(width), 3))
    for i, (scale, power) in enumerate(((100, slope), (100, random_slope))):
        stars = scale * (p / 250) ** power
        fitted[i] = (weights > stars[:, None])[..., None]
    dims = ("labels", "n_train", "width", "seed")
    error = np.broadcast_to(0.2 - 0.03 * np.arange(4)[None, :, None, None], fitted.shape)
    negative = np.broadcast_to(np.array([[relu], [0.45]]), (2, 4, len(width), 2, 5)).copy()
    negative += 1e-4 * np.arange(5)
    return xr.Dataset(
        {
            "fitted": (dims, fitted),
            "unfitted": (dims, np.where(fitted > 0, 0.0, held * weights[:, None])),
            "error": (dims, error),
            "parameters": (dims[:3], np.broadcast_to(weights, (2, 4, len(width)))),
            "negative": ((*dims[:3], "activation", "draw"), negative),
        },
        {"labels": ["parity", "random"], "n_train": p, "width": width, "seed": [0, 1, 2]},
    )


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_the_smoke_size_runs_whole(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert all(len(f.layout.meta["caption"]) > 100 for f in study.figures(summary.dataset).values())
    relu = summary.dataset.negative.isel(activation=0)
    assert np.all(np.abs(relu - 0.5) < 0.2)


def test_a_known_n_star_is_found():
    p, stars, factor = n_star(known(), "parity")
    np.testing.assert_allclose(stars, 100 * (p / 250) ** 0.75, rtol=0.1)
    assert np.all(factor < 1.15)


def test_known_scans_reproduce(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("changed", "id"),
    [({"slope": 0.3}, "REG-60"), ({"random_slope": 0.5}, "REG-60"), ({"held": 1.4}, "REG-59"),
     ({"relu": 0.4}, "REG-59")],
)  # fmt: skip
def test_others_do_not(study, changed, id):
    assert verdicts(study, known(**changed))[id] == "not reproduced"


def test_scans_that_do_not_hold_n_star_are_not_judged(study):
    wide = known().isel(width=slice(30, None))
    assert verdicts(study, wide)["REG-60"] == "inconclusive"
    assert set(verdicts(study, xr.Dataset()).values()) == {"inconclusive"}
    part = known()
    part["fitted"][:, 1:] = np.nan
    assert verdicts(study, part)["REG-60"] == "inconclusive"
