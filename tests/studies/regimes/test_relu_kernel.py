"""The relu study, at its smallest size and with laws that are known."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run
from regimes.nets import FullyConnected, stack
from regimes.studies.regimes.relu import mask_flips
from regimes.studies.regimes.relu._claims import slope_of_mean


@pytest.fixture(scope="module")
def study():
    return find("regimes/relu")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    return run(study, store=Store(tmp_path_factory.mktemp("relu")), executor=InlineExecutor())


def known(*, switching=-0.5, smooth=-1.0, flips=-1.0):
    at, seeds = np.array([0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]), 8
    few = np.where(at > 1e6, 0.0, 5e4 * at**flips)
    count = few[:, None] * (1 + 0.1 * np.cos(np.arange(seeds)))
    change = np.where(at > 1e6, at**smooth, at**switching)
    change = np.where(at <= 10, at**-1.5, change)[:, None] * np.linspace(0.9, 1.1, seeds)
    dims = ("width", "at", "seed")
    return xr.Dataset(
        {
            "kernel_change": (dims, change[None]),
            "flips": (dims, count[None]),
            "train_flips": (dims, count[None]),
            "fitted": (dims, np.ones((1, len(at), seeds))),
        },
        {"width": [100], "at": at, "seed": range(seeds)},
    )


def verdicts(study, dataset):
    return [claim.verdict.value for claim in study.claims(dataset)]


def test_the_smoke_size_judges_every_claim(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert all(claim.why for claim in summary.claims)


def test_masks_flip_until_the_weights_stand_still(summary):
    data = summary.dataset.isel(width=0)
    assert data.sizes["seed"] == 3
    assert bool((data.flips.sel(at=1e9) == 0).all())
    assert float(data.flips.sel(at=1e3).sum()) > 0
    assert float(data.kernel_change.sel(at=1e9).max()) < 1e-6


def test_batches_hold_different_networks(study, tmp_path):
    place = Store(tmp_path)
    data = run(study, store=place, executor=InlineExecutor(), at=(1e9,), batch=(0, 1)).dataset
    assert data.sizes["seed"] == 6
    assert len(set(data.kernel_change.values.ravel().tolist())) == 6


def test_flips_are_pairs_of_neuron_and_pattern():
    start = stack(lambda seed: FullyConnected(2, 3, depth=1, seed=seed), [0, 1])
    x = torch.eye(2)
    weights = start.parameters["layers.0.weight"]

    class Turned:
        parameters = dict(start.parameters) | {"layers.0.weight": weights.clone()}

    Turned.parameters["layers.0.weight"][1, 0] *= -1  # one neuron, both patterns
    Turned.parameters["layers.0.weight"][0, 2, 0] *= -1  # one neuron, one pattern
    assert mask_flips(start, Turned, x).tolist() == [1.0, 2.0]


def test_the_documents_laws_are_recognised(study):
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
    assert verdicts(study, known().isel(at=slice(3, 8))) == ["inconclusive", "reproduced"]
    assert study.figures(data)
    bare = xr.Dataset(coords={"width": [100], "at": [1e3], "batch": [0]})
    assert verdicts(study, bare) == ["inconclusive"] * 2
    assert study.figures(bare) == {}


def test_runs_that_did_not_fit_are_left_out_and_told(study):
    data = known()
    data["fitted"][0, 3, 0] = 0.0
    data["kernel_change"][0, 3, 0] *= 1e3
    kernel, _ = study.claims(data)
    assert kernel.verdict == "reproduced"
    assert "1 at 100" in kernel.why


def test_rare_values_carry_the_mean():
    at = np.array([1.0, 10.0, 100.0])
    values = np.zeros((20, 3))
    for i, count in enumerate((20, 10, 5)):
        values[:count, i] = 1.0
    found, error = slope_of_mean(at, values)
    assert found == pytest.approx(-np.log10(4) / 2)
    assert 0 < error < 0.2


def test_figures_tell_what_is_seen(study, summary):
    for dataset in (known(), summary.dataset):
        figures = study.figures(dataset)
        assert len(figures) == 2
        assert all(len(figure.layout.meta["caption"]) > 100 for figure in figures.values())
