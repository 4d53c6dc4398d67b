"""Feature against lazy training with growing training sets."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run


@pytest.fixture(scope="module")
def study():
    return find("regimes/sample-size")


def known(gaps):
    """Errors whose gap between the two scales is given for each size."""
    seeds = 0.002 * np.linspace(-1, 1, 5)
    lazy = 0.15 + seeds + np.zeros((len(gaps), 1))
    feature = lazy + np.array(gaps)[:, None] + 0.5 * seeds[::-1]
    error = np.stack([feature, lazy], axis=1)
    dims = ("n_train", "at", "seed")
    return xr.Dataset(
        {
            "error": (dims, error),
            "fitted": (dims, np.ones_like(error)),
            "ensemble_error": (dims[:2], error.mean(-1) - 0.02),
        },
        {"n_train": [100, 400, 1600][: len(gaps)], "seed": np.arange(5)},
    )


def test_the_smoke_size_runs_whole(study, tmp_path):
    summary = run(study, store=Store(tmp_path), executor=LocalExecutor(1, threads=1))
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert all(len(f.layout.meta["caption"]) > 100 for f in study.figures(summary.dataset).values())


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [((0.03, 0.02, 0.005), "reproduced"), ((0.01, 0.02, 0.03), "not reproduced"),
     ((0.03,), "inconclusive")],
)  # fmt: skip
def test_the_gap_decides(study, gaps, verdict):
    (claim,) = study.claims(known(gaps))
    assert claim.verdict.value == verdict


def test_nothing_run_is_not_judged(study):
    assert study.claims(xr.Dataset())[0].verdict.value == "inconclusive"
