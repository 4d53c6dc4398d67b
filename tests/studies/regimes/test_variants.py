"""The variants: how they differ, and numbers that are known."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find
from regimes.studies.regimes.variants._claims import variant_of
from regimes.studies.regimes.variants._settings import COMPARED, Params, setting_of

SEEDS = 4
SCALES = (0.1, 1.0, 1e3)
ALPHA = (1e-3, 0.1, 100.0)
NOISE = 1e-3 * np.array([-1.0, 1.0, 2.0, -2.0])  # of the seeds


@pytest.fixture(scope="module")
def study():
    return find("regimes/variants")


def known(changes=None, *, p=200, without=(), variants=(*COMPARED, "flow:mnist", "adam:cifar10")):
    """Numbers like those of the ledger; `changes` (variant, scale number) -> other numbers."""
    error = {name: [0.18, 0.17, 0.15] for name in variants}
    variance = {name: [0.1, 0.2, 0.3] for name in variants}
    error["f"] = error["f-f0"] = [0.2, 0.2, 0.24]
    error["f"] = [0.2, 0.202, 0.35]
    variance["deep"] = [0.2, 0.4, 0.5]
    for (name, scale), (wrong, spread) in (changes or {}).items():
        error[name][scale], variance[name][scale] = wrong, spread
    count = len(variants)
    shape = (count, 3, SEEDS)
    mean = np.array([error[name] for name in variants])
    var = np.array([variance[name] for name in variants])
    own = np.array(SCALES) / 60**0.5
    alpha = np.array([ALPHA if name in ("f", "f-f0") else own for name in variants])
    state = np.full(count, 2)
    data = xr.Dataset(
        {
            "p": ("variant", np.full(count, p)),
            "d": ("variant", np.full(count, 10)),
            "depth": ("variant", np.full(count, 3)),
            "width": ("variant", np.full(count, 60)),
            "alpha": (("variant", "scale"), alpha),
            "error": (("variant", "scale", "seed"), mean[..., None] + NOISE),
            "ensemble_error": (("variant", "scale"), mean - 0.01),
            "ensemble_error_without": (
                ("variant", "scale", "seed"),
                mean[..., None] - 0.01 + 0.3 * NOISE,
            ),
            "variance": (("variant", "scale"), var),
            "variance_without": (("variant", "scale", "seed"), var[..., None] * (1 + 10 * NOISE)),
            "kept": (("variant", "scale", "seed"), np.ones(shape)),
            "sample": (("variant", "scale", "seed", "point"), np.ones((*shape, 5))),
            "trial_state": ("variant", state),
        },
        {"variant": list(variants), "seed": np.arange(SEEDS)},
    )
    lost = np.isin(data.variant.values, without)
    data["trial_state"][lost] = 0
    for name in ("error", "ensemble_error", "alpha", "p", "sample"):
        data[name] = data[name].where(data.trial_state == 2)
    return data


def test_variants_differ_in_what_they_say(smoke):
    data = smoke("regimes/variants").dataset
    plain = data.sel(variant="plain")
    assert int(data.depth.sel(variant="deep")) > int(plain.depth)
    for name in ("deep", "soft", "biases"):
        assert not np.allclose(data["sample"].sel(variant=name), plain["sample"])
    offset = data.error.sel(variant="f") - data.error.sel(variant="f-f0")
    assert float(offset.isel(scale=-1).mean()) > 0
    assert int(data.d.sel(variant="flow:digits")) == 64
    change = data.kernel_change.sel(variant="plain").mean("seed").values
    assert change[0] > 10 * change[-1]


def test_scales_of_a_variant_are_its_own(smoke):
    data = smoke("regimes/variants").dataset
    assert variant_of(data, "plain").scale.values == pytest.approx([1.0, 1e3])
    assert variant_of(data, "f").scale.values == pytest.approx([0.4, 40.0])  # 4 alpha


def test_an_older_summary_held_the_scales(study):
    new = known()
    old = new.assign(at=new.alpha * new.width**0.5)
    assert study.upgraded(old).equals(new)
    assert study.upgraded(new).equals(new)


def test_numbers_of_the_ledger_reproduce(study, verdicts):
    assert set(verdicts(study, known()).values()) == {"reproduced"}
    assert "EMNIST is not at hand" in study.claims(known())[0].why


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("REG-29", {("flow:mnist", 2): (0.19, 0.3)}),  # lazy worse
        ("REG-29b", {("flow:pca", 2): (0.19, 0.3)}),
        ("REG-33", {("adam:pca", 0): (0.14, 0.1)}),  # feature better
        ("REG-34", {("deep", 2): (0.15, 0.31)}),  # fluctuates no more
        ("REG-35", {("soft", 1): (0.21, 0.2)}),  # another error
        ("REG-41", {("f", 1): (0.24, 0.1)}),  # hurts at small alpha already
        ("REG-41", {("f", 2): (0.25, 0.1)}),  # does not hurt at large alpha
        ("REG-42", {("biases", 0): (0.21, 0.1)}),
        ("REG-42", {("biases", 2): (0.15, 0.6)}),  # the variance doubles
    ],
)
def test_every_claim_can_fail(study, verdicts, id, changes):
    found = verdicts(study, known(changes))
    assert found.pop(id) == "not reproduced"
    assert set(found.values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("id", "lost"),
    [
        ("REG-29", "flow:mnist"),
        ("REG-29b", "flow:pca"),
        ("REG-33", "adam:pca"),
        ("REG-34", "deep"),
        ("REG-35", "soft"),
        ("REG-41", "f"),
        ("REG-41", "f-f0"),
        ("REG-42", "biases"),
    ],
)
def test_a_missing_variant_decides_nothing(study, verdicts, id, lost):
    found = verdicts(study, known(without=(lost,)))
    assert found.pop(id) == "inconclusive"
    assert set(found.values()) == {"reproduced"}


def test_every_named_set_is_judged_and_no_other(study, verdicts):
    sets = (*COMPARED, "flow:mnist", "flow:fashion_mnist", "flow:kmnist", "adam:cifar10")
    assert verdicts(study, known(variants=sets))["REG-29"] == "reproduced"
    worse = {("flow:fashion_mnist", 2): (0.19, 0.3)}
    assert verdicts(study, known(worse, variants=sets))["REG-29"] == "not reproduced"
    other = {("flow:kmnist", 2): (0.19, 0.3)}  # the papers do not name it
    assert verdicts(study, known(other, variants=sets))["REG-29"] == "reproduced"
    level = {("flow:fashion_mnist", 2): (0.18, 0.3)}
    close = known(level, variants=sets)
    tilt = xr.DataArray([1.0, -1.0, 1.0, -1.0], dims="seed")
    close["ensemble_error_without"] = close.ensemble_error_without + 0.01 * tilt * (
        close.variant == "flow:fashion_mnist"
    ) * xr.DataArray([0, 0, 1], dims="scale")
    assert verdicts(study, close)["REG-29"] == "inconclusive"


def test_at_full_size_ensembles_of_deep_networks_are_judged(study, verdicts):
    shallow = known({("deep", 2): (0.13, 0.5)}, p=10_000)  # the ensemble gains by depth
    assert verdicts(study, shallow)["REG-34"] == "not reproduced"


def test_names_of_variants():
    params = replace(Params(), shrink=2, shrink_cifar10=4, images="mnist")
    assert setting_of(params, "plain").images == "mnist"
    assert setting_of(params, "soft").memory == 1000.0
    assert not setting_of(params, "f").subtract_init
    assert setting_of(params, "f").scale[-1] == pytest.approx(10.0 * 4.0)  # alpha sqrt(16)
    cifar = setting_of(params, "adam:cifar10")
    assert (cifar.shrink, cifar.components, cifar.adam, cifar.loss) == (4, None, True, "hinge")
    assert setting_of(params, "flow:emnist").images == "emnist"
    for wrong in ("flow:svhn", "sgd:mnist", "thin"):
        with pytest.raises(ValueError, match="variant must be one of"):
            setting_of(params, wrong)
