"""The relu study, at its smallest size and with laws that are known."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, override, run
from regimes.nets import FullyConnected, stack
from regimes.studies.regimes.relu import switched
from regimes.studies.regimes.relu._claims import slope_of_mean


@pytest.fixture(scope="module")
def study():
    return find("regimes/relu")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def known(*, switching=-0.5, smooth=-1.0, flips=-1.0):
    scale, seeds = np.array([0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]), 8
    few = np.where(scale > 1e6, 0.0, 5e4 * scale**flips)
    count = few[:, None] * (1 + 0.1 * np.cos(np.arange(seeds)))
    change = np.where(scale > 1e6, scale**smooth, scale**switching)
    change = np.where(scale <= 10, scale**-1.5, change)[:, None] * np.linspace(0.9, 1.1, seeds)
    dims = ("width", "scale", "seed")
    return xr.Dataset(
        {
            "kernel_change": (dims, change[None]),
            "flips": (dims, count[None]),
            "train_flips": (dims, count[None]),
            "fitted": (dims, np.ones((1, len(scale), seeds))),
        },
        {"width": [100], "scale": scale, "seed": range(seeds)},
    )


def verdicts(study, dataset):
    return [claim.verdict.value for claim in study.claims(dataset)]


def test_masks_flip_until_the_weights_stand_still(summary):
    data = summary.dataset.isel(width=0)
    assert data.sizes["seed"] == 3
    assert bool((data.flips.sel(scale=1e9) == 0).all())
    assert float(data.flips.sel(scale=1e3).sum()) > 0
    assert float(data.kernel_change.sel(scale=1e9).max()) < 1e-6


def test_seeds_are_different_networks_however_they_are_cut(study, tmp_path):
    settings = {"executor": InlineExecutor(), "scale": (1e9,), "seed": (7, 100, 101)}
    together = run(study, store=Store(tmp_path / "a"), **settings)
    apart = run(study, store=Store(tmp_path / "b"), seeds_per_trial=2, **settings)
    assert (together.trials, apart.trials) == (1, 2)
    found = together.dataset.kernel_change.values.ravel()
    assert len(set(found.tolist())) == 3
    np.testing.assert_allclose(apart.dataset.kernel_change.values.ravel(), found, rtol=1e-6)


def test_the_first_seeds_alone_are_trained_in_the_feature_regime(study):
    params = override(study.parameters("cpu"), ["seed=100,101,102,103,104,105,106,107"])
    feature = [c.point["seed"] for c in study.configs(params) if c.point["scale"] == 1.0]
    assert feature == [(100, 101, 102, 103)]


@pytest.mark.parametrize(
    ("size", "last"),
    [
        ("smoke", "9a55f5621ef826966aa2"),
        ("cpu", "2d932ed0e51805628c3d"),
        ("paper", "35d12eaf3f44da6b8d78"),
    ],
)
def test_batches_of_the_older_form_are_known(study, size, last):
    params = study.parameters(size)
    configs = study.configs(params)
    assert study.formerly(params, configs[-1]).key == last
    assert all(study.formerly(params, config) for config in configs)


def test_other_groups_of_seeds_had_no_older_form(study):
    params = override(study.parameters("smoke"), ["seed=1,2,3"])
    assert [study.formerly(params, config) for config in study.configs(params)] == [None, None]


def test_flips_are_pairs_of_neuron_and_pattern():
    start = stack(lambda seed: FullyConnected(2, 3, depth=1, seed=seed), [0, 1])
    x = torch.eye(2)
    weights = start.parameters["layers.0.weight"]

    class Turned:
        parameters = dict(start.parameters) | {"layers.0.weight": weights.clone()}

    Turned.parameters["layers.0.weight"][1, 0] *= -1  # one neuron, both patterns
    Turned.parameters["layers.0.weight"][0, 2, 0] *= -1  # one neuron, one pattern
    assert switched(start, Turned, x).tolist() == [1.0, 2.0]


def test_the_papers_laws_are_recognised(study):
    assert verdicts(study, known()) == ["reproduced"] * 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"switching": -1.0}, ["not reproduced", "reproduced"]),
        ({"smooth": -0.9}, ["not reproduced", "reproduced"]),
        ({"flips": -0.5}, ["reproduced", "not reproduced"]),
    ],
)
def test_other_laws_are_not_reproduced(study, change, expected):
    assert verdicts(study, known(**change)) == expected


def test_missing_trials_decide_nothing(study):
    data = known()
    for name in data.data_vars:
        data[name][0, 4] = np.nan
    assert verdicts(study, data) == ["inconclusive"] * 2
    assert verdicts(study, known().isel(scale=slice(3, 8))) == ["inconclusive", "reproduced"]


def test_runs_that_did_not_fit_are_left_out_and_told(study):
    data = known()
    data["fitted"][0, 3, 0] = 0.0
    data["kernel_change"][0, 3, 0] *= 1e3
    kernel, _ = study.claims(data)
    assert kernel.verdict == "reproduced"
    assert "1 at 100" in kernel.why


def test_rare_values_carry_the_mean():
    scale = np.array([1.0, 10.0, 100.0])
    values = np.zeros((20, 3))
    for i, count in enumerate((20, 10, 5)):
        values[:count, i] = 1.0
    found = slope_of_mean(scale, values)
    assert found.value == pytest.approx(-np.log10(4) / 2)
    assert 0 < found.error < 0.2
