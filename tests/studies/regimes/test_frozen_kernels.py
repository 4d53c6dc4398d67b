"""The pieces of frozen kernels, and verdicts on numbers that are known."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import Point, find
from regimes.lab._config import digest
from regimes.studies.regimes.frozen_kernels import Convolutional, Scales
from regimes.studies.regimes.frozen_kernels._trial import Setting, train
from regimes.tangent import stacked_gram

SEEDS = 6
BLOCKS = {
    "limit": Scales(n_train=(80,), width=(60,), scale=(1e2, 1e3, 1e4, 1e5, 1e6)),
    "span": Scales(n_train=(40,), width=(60,), scale=(1e1, 1e2, 1e3, 1e4)),
    "learned": Scales(depth=(3,), n_train=(200,), width=(60,), scale=(1e-2, 0.1, 1.0, 1e3, 1e4)),
}
FORMER = {  # number and digest of the keys that the trials had as cases named in a text
    "smoke": (9, "f42f327757ea7995"),
    "cpu": (18, "20244ed4e83a436f"),
    "paper": (66, "208c51481a6bacb3"),
}


@pytest.fixture(scope="module")
def study():
    return find("regimes/frozen-kernels")


@pytest.fixture(scope="module")
def lazy():
    params = Scales(n_test=60, max_steps=400)
    place = {"depth": 2, "n_train": 12, "width": 10, "scale": 1e4, "seed": (0, 1)}
    point = Point({"block": "span", **place})
    return train(Setting.of(params, point), params, point)


def known(
    *,
    slope=1.0,  # the distance to the frozen kernel falls with the scale to this power,
    floor=0.0,  # of it, the error of two integrations
    in_step=1.0,  # the same with the same steps
    span=1.0,  # and the residual to that
    disagreement=0.0,
    lazy_gap=0.0,  # between the errors of networks and initial kernels at large scales
    final_gap=0.005,
    initial_gap=0.03,  # where features are learnt
    growth=30.0,
    contrast=2.0,  # of the final over the initial kernel
    missing=(),
    seeds=SEEDS,
):
    rows = [config.point for config in find("regimes/frozen-kernels").configs(BLOCKS)]
    wiggle = 1 + 1e-3 * np.linspace(-1, 1, seeds)
    found = {}

    def put(name, value):
        found.setdefault(name, []).append(value * wiggle)

    for row in rows:
        feature = row["scale"] <= 1
        put("network_error", 0.17)
        put("final_error", 0.17 - final_gap)
        put("initial_error", 0.17 - (initial_gap if feature else lazy_gap))
        put("initial_difference", 4.0 * row["scale"] ** -slope + floor)
        put("limit_difference", 4.0 * row["scale"] ** -in_step)
        put("initial_disagreement", disagreement)
        put("tangent_residual", 5.0 * row["scale"] ** -span)
        put("kernel_growth", growth if feature else 1.0)
        put("initial_contrast", 0.14)
        put("final_contrast", 0.14 * (contrast if feature else 1.0))
        for name in ("fitted", "initial_fitted", "final_fitted"):
            found.setdefault(name, []).append(np.ones(seeds))
    state = [0 if row["block"] in missing else 2 for row in rows]
    coords = {key: ("trial", [row[key] for row in rows]) for key in rows[0] if key != "seed"}
    made = {name: (("trial", "seed"), np.array(values)) for name, values in found.items()}
    made["trial_state"] = ("trial", state)
    return xr.Dataset(made, {"seed": np.arange(seeds), **coords})


def verdicts(study, dataset):
    return {claim.id: str(claim.verdict) for claim in study.claims(dataset)}


@pytest.mark.parametrize("size", FORMER)
def test_trials_are_found_under_the_keys_they_had_as_cases(study, size):
    params = study.parameters(size)
    former = [study.formerly(params, config) for config in study.configs(params)]
    keys = sorted(config.key for config in former)
    assert (len(keys), digest("".join(keys))[:16]) == FORMER[size]
    for block, own in params.items():
        configs = study.configs({block: own})
        assert {study.formerly({block: own}, config).key for config in configs} <= set(keys)


def test_former_cases_named_what_was_special_about_them(study):
    params = {"span": Scales(), "learned": Scales(n_shown=20)}
    params["gram"] = Convolutional(net="wide_resnet", images="cifar10", components=0)
    former = study.formerly(params, study.configs(params)[-1])
    text = "gram net=wide_resnet images=cifar10 pca=0 P=12 h=8 alpha=1"
    assert former.point == {"case": text, "seed": (0, 1)}
    assert (former.params["images"], former.params["n_shown"]) == ("digits", 20)
    other = {"limit": Scales(n_test=7)}  # of no size: the rest of its parameters is not known
    assert study.formerly(other, study.configs(other)[0]) is None


def test_a_table_of_cases_becomes_one_of_blocks(study):
    former = xr.Dataset(
        {"scale": ("case", [10.0, 8.0, 4.0]), "steps": ("case", [1, 2, 3])},
        {
            "case": ["one", "two", "three"],
            "scan": ("case", ["limit", "widths", "widths"]),
            "net": ("case", ["", "", "cnn"]),
            "pca": ("case", [0, 0, 0]),
            "L": ("case", [2, 3, 0]),
            "P": ("case", [5, 5, 5]),
            "h": ("case", [9, 16, 4]),
            "at": ("case", [10.0, np.nan, np.nan]),
            "alpha": ("case", [np.nan, 2.0, 2.0]),
        },
    )
    found = study.upgraded(former)
    coords = {"block", "depth", "n_train", "width", "scale", "alpha"}
    assert (set(found.coords), set(found.dims)) == (coords, {"trial"})
    assert found.block.values.tolist() == ["limit", "widths", "widths_cnn"]
    np.testing.assert_array_equal(found.depth, [2, 3, np.nan])
    np.testing.assert_array_equal(found.scale, [10.0, 8.0, 4.0])
    assert study.upgraded(found).identical(found)
    scales = former.isel(case=[0]).drop_vars(["alpha", "net", "pca"])  # no scan had an alpha
    assert np.isnan(study.upgraded(scales).alpha).all()


def test_known_numbers_are_reproduced(study):
    assert verdicts(study, known()) == dict.fromkeys(study.judges, "reproduced")


@pytest.mark.parametrize(
    ("change", "id"),
    [
        ({"disagreement": 0.02}, "REG-26"),
        ({"lazy_gap": 0.01}, "REG-26"),
        ({"lazy_gap": -0.01}, "REG-26"),
        ({"slope": 0.9}, "REG-27"),
        ({"floor": 1e-4}, "REG-27"),
        ({"in_step": 0.9}, "REG-27b"),
        ({"final_gap": -0.025}, "REG-48"),
        ({"final_gap": 0.025}, "REG-48"),
        ({"initial_gap": 0.001}, "REG-48"),  # the initial kernel is as near as the final one
        ({"growth": 3.0}, "REG-49"),
        ({"contrast": 1.2}, "REG-49"),
        ({"span": 0.8}, "REG-50"),
    ],
)
def test_every_verdict_can_be_a_failure(study, change, id):
    assert verdicts(study, known(**change))[id] == "not reproduced"


def test_errors_that_reach_over_a_limit_leave_it_open(study):
    shaky = known()
    tilt = xr.DataArray(np.linspace(-1, 1, SEEDS), dims="seed")
    shaky["initial_difference"] = shaky.initial_difference * shaky.scale ** (0.2 * tilt)
    shaky["initial_error"] = shaky.initial_error + 0.02 * tilt * (shaky.scale == 1e4)
    found = verdicts(study, shaky)
    assert (found["REG-26"], found["REG-27"]) == ("inconclusive", "inconclusive")
    assert found["REG-27b"] == "reproduced"


@pytest.mark.parametrize(
    ("scan", "ids"),
    [
        ("limit", {"REG-26", "REG-27", "REG-27b"}),
        ("span", {"REG-50"}),
        ("learned", {"REG-48", "REG-49"}),
    ],
)
def test_an_unfinished_scan_is_not_judged(study, scan, ids):
    found = verdicts(study, known(missing=(scan,)))
    assert {id for id, verdict in found.items() if verdict == "inconclusive"} == ids


def test_scales_left_out_decide_nothing(study):
    whole = known()
    few = whole.isel(trial=np.isin(whole.scale.values, [1e2, 1e3, 1e-2]))
    assert set(verdicts(study, few).values()) == {"inconclusive"}


def test_kernels_of_members_are_those_of_the_stack(lazy):
    found = lazy.kernels_compared(15)
    before, after = (stacked_gram(each, lazy.data.x_test[:15]) for each in lazy.stages)
    growth = after.flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1)
    assert np.allclose(found["kernel_growth"], growth)
    assert max(found["kernel_change"]) < 1e-2
    assert np.allclose(found["initial_contrast"], found["final_contrast"], rtol=0.05)


def test_a_lazy_network_is_its_initial_kernel(lazy):
    found = lazy.against_kernels(eps=1e-1, max_steps=400)
    assert (found["initial_difference"] < 1e-2).all()
    assert (found["initial_disagreement"] <= 1 / 60).all()
    assert (lazy.tangent_residuals() < 0.05).all()


def test_a_kernel_driven_by_a_flow_s_steps_follows_it(lazy):
    assert (lazy.step_by_step() < 1e-2).all()


def test_pictures_are_sorted_by_label(lazy):
    shown, positive = lazy.pictures(20), lazy.positive(20)
    assert shown.shape == (2, 20, 20)
    assert (np.diff(positive) >= 0).all()
    assert positive.sum() == int((lazy.data.y_test[:20] > 0).sum())
    assert np.allclose((shown.astype(float) ** 2).mean((1, 2)), 1.0, rtol=1e-5)


def test_wider_networks_count_for_the_lazy_limit(study):
    whole = known()
    wide = whole.isel(trial=np.isclose(whole.scale, 1e4) & (whole.block == "limit").values)
    wide = wide.assign_coords(block=("trial", ["limit_widths"]), width=("trial", [200]))
    wide["initial_disagreement"] = wide.initial_disagreement + 0.02
    found = verdicts(study, xr.concat([whole, wide], "trial"))
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == {"REG-26"}


def test_the_largest_networks_are_judged_by_their_blocks_where_they_ran(study):
    whole = known()
    gram = whole.isel(trial=[-1]).assign_coords(block=("trial", ["gram"]))
    assert verdicts(study, xr.concat([whole, gram], "trial"))["REG-49"] == "not reproduced"


def test_settings_name_networks_that_exist():
    def setting(net, width):
        point = Point({"block": "gram", "n_train": 5, "width": width, "alpha": 2.0})
        return Setting.of(Convolutional(net=net), point)

    with pytest.raises(ValueError, match="net must be one of"):
        setting("transformer", 4)
    wide = setting("wide_resnet", 64)
    assert (wide.alpha, wide.scale) == (2.0, 16.0)
    outputs = wide.network((1, 8, 8), 0, "float64", "cpu")(torch.zeros(2, 1, 8, 8).double())
    assert outputs.shape == (2, 1)
    with pytest.raises(ValueError, match="64 k channels"):
        setting("wide_resnet", 10).network((1, 8, 8), 0, "float64", "cpu")
