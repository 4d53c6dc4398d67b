"""Exponents of kernels on images."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run


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


def test_the_smoke_size_runs_whole(study, tmp_path):
    summary = run(study, store=Store(tmp_path), executor=LocalExecutor(1, threads=1))
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.verdict.value for claim in summary.claims] == ["inconclusive"]
    assert np.all(np.diff(summary.dataset.mse.mean(["images", "seed", "kernel"])) < 0)
    assert all(len(f.layout.meta["caption"]) > 100 for f in study.figures(summary.dataset).values())


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [({}, "reproduced"), ({"mnist": 0.2}, "not reproduced"), ({"cifar": 0.3}, "not reproduced"),
     ({"dimension": 40.0}, "not reproduced")],
)  # fmt: skip
def test_known_exponents_are_judged_right(study, changed, verdict):
    assert study.claims(known(**changed))[0].verdict.value == verdict


def test_nothing_run_is_not_judged(study):
    assert study.claims(xr.Dataset())[0].verdict.value == "inconclusive"
