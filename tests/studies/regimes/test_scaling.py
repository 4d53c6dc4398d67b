"""The scaling study, at its smallest size and with laws that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, find, run
from regimes.studies.regimes.scaling import DECADES
from regimes.studies.regimes.scaling._claims import layer_shares

DEPTHS, WIDTHS, MAIN = (1, 2, 3, 5), (30, 60, 120, 240), 60
PAIRS = {(2, 30), (2, 120), (3, 240)} | {(depth, MAIN) for depth in DEPTHS}


@pytest.fixture(scope="module")
def study():
    return find("regimes/scaling")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


def known(*, power=None, share=None, kernel=None, spread=1.0, plateau=0.0, drop=1.5):
    """A scan that follows the paper's laws but for what is changed.

    `power` maps a depth to its kernel exponent, `share` to that of the weights; `kernel` is the
    lazy exponent, `spread` a factor between widths, `plateau` a power of the scale in t_half/scale.
    """
    scale, seeds = np.array(DECADES), 4
    shape = (len(DEPTHS), len(WIDTHS), len(scale), seeds)
    names = ("kernel_change", "weight_change", "t_90", "t_half", "t_10", "fitted")
    data = {name: np.full(shape, np.nan) for name in names}
    layers = np.full((*shape, 6), np.nan)
    hidden = np.full((*shape, 5), np.nan)
    noise = np.exp(0.01 * np.cos(np.arange(seeds)))
    for i, depth in enumerate(DEPTHS):
        for j, width in enumerate(WIDTHS):
            if (depth, width) not in PAIRS:
                continue
            here = data["kernel_change"][i, j]
            a = (power or {}).get(depth, 2 / (1 + 1 / depth))
            b = (share or {}).get(depth, 1 / (depth + 1) + 0.02 * (depth > 2))
            lazy = scale[:, None] ** (kernel or -1.0)
            between = spread ** (np.log2(width / MAIN))
            here[:] = between * np.where(scale < 1, scale ** (-a), 0.0)[:, None] * 30 * noise
            here[:] += between * np.where(scale >= 1, 1.0, 0.0)[:, None] * 3 * lazy * noise
            weights = np.where(scale < 1, scale ** (-b), 1 / scale)[:, None] * noise / width**0.5
            data["weight_change"][i, j] = weights
            half = np.where(scale < 1, 2.5 * scale ** (1 + plateau), 2.5)[:, None] * noise
            data["t_half"][i, j] = half
            wide = np.where(scale < 1, drop, 200.0)[:, None]
            data["t_90"][i, j], data["t_10"][i, j] = half / wide**0.5, half * wide**0.5
            data["fitted"][i, j] = 1.0
            inner = (np.arange(depth + 1) % depth > 0) if depth > 1 else np.zeros(2, bool)
            falls = np.where(inner, width**-0.5, 1.0)
            layers[i, j, :, :, : depth + 1] = between * falls / scale[:, None, None]
            hidden[i, j, :, :, :depth] = between / scale[:, None, None]
            if (depth, width) == (5, MAIN):
                for values in (*data.values(), layers, hidden):
                    values[i, j, 0] = np.nan  # the deepest networks start at 1e-3
    dims = ("depth", "width", "scale", "seed")
    variables = {name: (dims, values) for name, values in data.items()}
    variables["layer_change"] = ((*dims, "layer"), layers)
    variables["preact_change"] = ((*dims, "hidden"), hidden)
    variables["main_width"] = (dims[:3], np.where(np.isnan(data["fitted"][..., 0]), np.nan, MAIN))
    variables["loss_curve"] = ((*dims[:3], "moment"), np.ones((*shape[:3], 121)))
    coords = {"depth": list(DEPTHS), "width": list(WIDTHS), "scale": scale, "seed": range(seeds)}
    return xr.Dataset(variables, coords)


def verdicts(study, dataset):
    return {claim.id: claim.verdict.value for claim in study.claims(dataset)}


def test_feature_networks_move_and_lazy_ones_do_not(summary):
    runs = summary.dataset.sel(depth=3, width=6).mean("seed")
    feature, lazy = runs.isel(scale=0), runs.isel(scale=-1)
    assert float(feature.kernel_change) > 1 > 100 * float(lazy.kernel_change)
    assert float(feature.weight_change) > 100 * float(lazy.weight_change)
    assert float(feature.t_10 / feature.t_90) < float(lazy.t_10 / lazy.t_90)
    assert bool((runs.t_90 < runs.t_half).all() and (runs.t_half < runs.t_10).all())
    assert bool((runs.loss_curve.isel(moment=0) > 0.9).all())


def test_only_wanted_places_are_trained(study):
    params = study.parameters("cpu")
    places = {(c.point["depth"], c.point["width"]) for c in study.configs(params)}
    assert places == PAIRS
    deep = [c.point["at"] for c in study.configs(params) if c.point["depth"] == 5]
    assert min(deep) == 1e-3


def test_the_papers_laws_are_recognised(study):
    assert set(verdicts(study, known()).values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({"kernel": -0.9}, {"REG-10"}),
        ({"spread": 1.3}, {"REG-11", "REG-17"}),
        ({"power": {2: 1.6}}, {"REG-12", "REG-13"}),
        ({"power": {5: 2.1}}, {"REG-12", "REG-13"}),
        ({"share": {3: 0.4}}, {"REG-16"}),
        ({"plateau": 0.2}, {"REG-19"}),
        ({"drop": 5.0}, {"REG-21"}),
    ],
)
def test_other_laws_are_not_reproduced(study, change, fails):
    found = verdicts(study, known(**change))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == fails


def test_other_times_and_weights_are_not_reproduced(study):
    data = known()
    lazy = data.scale >= 1
    data["t_half"] = data.t_half.where(~lazy, data.t_half * data.scale**0.05)
    data["weight_change"] = data.weight_change.where(~lazy, data.weight_change * data.scale**0.05)
    found = verdicts(study, data)
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == {
        "REG-15",
        "REG-18",
        "REG-20",
    }


def test_noise_makes_exponents_inconclusive(study):
    data = known()
    tilt = xr.DataArray([-0.5, -0.2, 0.2, 0.5], dims="seed")
    data["kernel_change"] = data.kernel_change * data.scale**tilt
    found = verdicts(study, data)
    assert found["REG-10"] == found["REG-12"] == "inconclusive"


@pytest.mark.parametrize(
    ("name", "width", "scale", "factor", "id"),
    [
        ("kernel_change", 120, 1e4, 2.4, "REG-11"),  # the most over h is 2.5
        ("t_half", 240, 1e4, 1.12, "REG-18"),  # 15 %
        ("t_half", 240, 1e-2, 1.12, "REG-19"),
    ],
)
def test_widths_that_scatter_leave_their_comparison_open(study, name, width, scale, factor, id):
    calm, shaky = known(), known()
    scatter = xr.DataArray([-0.4, 0.4, -0.4, 0.4], dims="seed")
    for data, noise in ((calm, 0 * scatter), (shaky, scatter)):
        here = (data.width == width) & (data.scale == scale)
        data[name] = data[name].where(~here, data[name] * factor * np.exp(noise))
    assert verdicts(study, calm)[id] == "reproduced"
    assert verdicts(study, shaky)[id] == "inconclusive"


def test_an_exponent_is_judged_on_its_whole_window_or_not_at_all(study):
    """Networks that do not fit at the smallest scale take no part, the scale stays."""
    data = known()
    here = (data.depth == 1) & (data.scale == 1e-4)
    data["fitted"] = data.fitted.where(~(here & (data.seed < 2)), 0.0)
    found = verdicts(study, data)
    assert found["REG-12"] == found["REG-16"] == "reproduced"
    told = next(claim.why for claim in study.claims(data) if claim.id == "REG-16")
    assert "2 at L=1, scale 0.0001" in told
    data["fitted"] = data.fitted.where(~(here & (data.seed < 3)), 0.0)
    found = verdicts(study, data)
    assert found["REG-12"] == found["REG-16"] == "inconclusive"


def test_an_exponent_of_the_weights_may_be_open(study):
    data = known()
    tilt = xr.DataArray([-0.2, -0.1, 0.1, 0.2], dims="seed")
    data["weight_change"] = data.weight_change * data.scale**tilt
    assert verdicts(study, data)["REG-16"] == "inconclusive"


@pytest.mark.parametrize("scale", DECADES)
def test_a_missing_trial_is_no_error(study, scale):
    data = known()
    gone = (data.scale == scale) & (data.width == MAIN)
    data = data.where(~gone)
    found = verdicts(study, data)
    assert "inconclusive" in found.values() or scale in (1.0, 10.0, 1e2)
    assert "not reproduced" not in found.values()
    assert len(study.figures(data)) == 6


def test_shares_of_layers_know_which_are_inner():
    shares = layer_shares(known(), 3, 240, 1e4)
    assert list(shares) == ["z1", "z2", "z3", "W0", "W1", "W2", "W3"]
    for values in shares.values():
        np.testing.assert_allclose(values, 1.0)
