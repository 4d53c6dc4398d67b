"""Random features: their algebra, and what each verdict rests on."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import Point, find
from regimes.studies.regimes.random_features._models import (
    apply,
    effective_ridge,
    features,
    make_task,
    minimum_norm,
)

RATIOS = (0.5, 1.0, 13 / 12, 5 / 3, 2.0, 25.0)


@pytest.fixture(scope="module")
def study():
    return find("regimes/random-features")


@pytest.fixture
def ideal():
    """A scan as [Geiger 2021b, sec. 8.1] has it."""
    seeds, members, sets = 20, 5, 4
    spread = np.exp(0.1 * np.sin(np.arange(seeds * members))).reshape(seeds, members)
    level = np.array([0.7, 300.0, 2.0, 0.4, 0.3, 0.09])
    ensemble = np.array([0.2, 20.0, 0.4, 0.11, 0.1, 0.08])
    wide = {"fitted": 0.02, "residual": 0.03, "same": 0.2, "doubt": 0.01, "root": 0.018}
    wave = 1 + 0.01 * np.sin(np.arange(sets))
    count = len(RATIOS)
    return xr.Dataset(
        {
            "error": (("ratio", "seed", "member"), level[:, None, None] * spread),
            "ensemble_error": (("ratio", "seed"), ensemble[:, None] * spread[:, 0]),
            "points": ("ratio", np.full(count, 60.0)),
            "ridge": ("ratio", np.full(count, 0.01)),
            "bias": ("ratio", np.full(count, 0.05)),
            **{
                f"ridge_{name}": (("ratio", "ridge_set"), np.full((count, sets), value) * wave)
                for name, value in wide.items()
            },
        },
        coords={"ratio": list(RATIOS)},
    )


def test_a_scan_like_the_papers_is_reproduced(study, verdicts, ideal):
    assert set(verdicts(study, ideal).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("variable", "ratio", "factor", "id"),
    [
        ("error", 1.0, 0.01, "REG-67"),  # no peak
        ("error", 25.0, 100.0, "REG-67"),  # no second descent
        ("ensemble_error", 5 / 3, 3.0, "REG-68"),  # ensembles not flat
        ("error", 5 / 3, 0.3, "REG-68"),  # nothing to flatten
        ("ridge_fitted", 2.0, 0.4, "REG-69"),  # a smaller ridge
        ("ridge_residual", 2.0, 3.0, "REG-69"),  # another predictor
        ("ridge_root", 2.0, 2.0, "REG-69"),  # another law
    ],
)
def test_wrong_numbers_are_not_reproduced(study, verdicts, ideal, variable, ratio, factor, id):
    ideal[variable].loc[{"ratio": ratio}] *= factor
    assert verdicts(study, ideal)[id] == "not reproduced"


def test_an_unfinished_scan_is_undecided(study, ideal):
    for name in ("error", "ensemble_error", "bias"):
        ideal[name].loc[{"ratio": 25.0}] = np.nan
    found = study.claims(ideal)
    assert [claim.verdict for claim in found[:2]] == ["inconclusive"] * 2
    assert "25" in found[0].why
    assert found[2].verdict == "reproduced"


def test_few_training_points_leave_everything_open(study, ideal):
    ideal["points"][:] = 12.0
    assert all("fewer than 40" in claim.why for claim in study.claims(ideal))


def test_minimum_norm_is_least_squares_and_its_errors_add_up():
    tasks = [make_task(4, 9, 50, 0.3, seed, "cpu") for seed in range(3)]
    fits = minimum_norm(tasks, [0, 1, 2], width=20, members=4, noise=0.3)
    weights = features(tasks[1].x, 20, 1, 4, "features")[2]
    labels = (tasks[1].clean + tasks[1].noise).numpy()
    readout = np.linalg.lstsq(apply(weights, tasks[1].x).numpy(), labels, rcond=None)[0]
    f = apply(weights, tasks[1].x_test).numpy() @ readout
    assert fits.error[1, 2] == pytest.approx(np.mean((f - tasks[1].y_test.numpy()) ** 2))
    assert (fits.ensemble <= fits.error.mean(1) + 1e-12).all()
    assert fits.error.shape == (3, 4)


def test_the_sources_of_error_add_up():
    """Without noise the unbiased estimates make up the mean error exactly."""
    tasks = [make_task(3, 30, 40, 0.0, seed, "cpu") for seed in range(4)]
    fits = minimum_norm(tasks, [0, 1, 2, 3], width=8, members=3, noise=0.0)
    assert fits.noise == 0.0
    total = fits.sources.bias + fits.sources.members + fits.sources.sets
    assert total == pytest.approx(fits.error.mean(), rel=1e-9)


def test_noise_adds_what_its_variance_says():
    sets = list(range(30))
    quiet = [make_task(4, 40, 50, 0.0, seed, "cpu") for seed in sets]
    loud = [make_task(4, 40, 50, 0.3, seed, "cpu") for seed in sets]
    without, noisy = (
        minimum_norm(tasks, sets, width=12, members=4, noise=level)
        for tasks, level in ((quiet, 0.0), (loud, 0.3))
    )
    added = noisy.error.mean() - without.error.mean()
    assert added == pytest.approx(noisy.noise, rel=0.25)
    assert noisy.sources.members == pytest.approx(without.sources.members)


def test_many_features_need_no_more_ridge():
    task = make_task(5, 15, 100, 0.3, 0, "cpu")
    few = effective_ridge(task, 0, width=20, draws=60, ridge=0.05)
    many = effective_ridge(task, 0, width=5000, draws=20, ridge=0.05)
    assert min(few.fitted, few.root) > 0.05
    assert many.fitted == pytest.approx(0.05, rel=0.1)
    assert many.root == pytest.approx(0.05, rel=0.01)
    assert few.residual < few.same


def test_the_ridge_follows_the_seeds(study):
    """Other seeds, other training sets; the same seeds among more, the same."""
    params = study.parameters("smoke")

    def ridges(*seeds):
        point = Point({"ratio": 2.0, "seed": seeds})
        return study.trial(params, point).arrays["ridge_fitted"].values

    assert list(ridges(0, 1, 2)) == list(ridges(0, 1))
    assert not set(ridges(100, 101)) & set(ridges(0, 1))


def test_points_lie_on_the_sphere_and_test_points_are_shared():
    one, two = (make_task(6, 10, 20, 0.3, seed, "cpu") for seed in range(2))
    torch.testing.assert_close(one.x.norm(dim=1), torch.full((10,), 6**0.5, dtype=torch.float64))
    assert bool((one.x_test == two.x_test).all())
    assert not bool((one.x == two.x).any())
