"""Verdicts on ensembles whose laws are known, and what an ensemble is measured by."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import Point, find
from regimes.lab._config import digest
from regimes.studies.regimes.fluctuations import Scan
from regimes.studies.regimes.fluctuations._claims import measured

SEEDS = 10
FORMER = {  # number and digest of the keys that the trials had as cases named in a text
    "smoke": (12, "10a3c86d22ea3e6b"),
    "cpu": (61, "8c461ea51df2956a"),
    "paper": (267, "dcbeb72c097e5433"),
}
BLOCKS = {
    "widths": Scan(n_train=(50,), width=(32, 64, 128, 256)),
    "scales": Scan(n_train=(100,), width=(30, 100), scale=(1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3, 1e4)),
    "sizes": Scan(n_train=(25, 50, 100, 200), width=(128,), scale=(1e5,)),
    "small": Scan(depth=(3,), n_train=(100,), width=(60,), scale=(1e-6, 1e-4, 1e-2)),
}


@pytest.fixture(scope="module")
def study():
    return find("regimes/fluctuations")


def known(
    *,
    width=1.0,  # exponents: of 1/h in the variance,
    size=0.5,  # of n in it,
    excess=1.0,  # of 1/h in the error's excess over the ensemble's
    shift=1.0,  # of sqrt(h/30) in the scale of half height
    ensemble_slope=0.0,  # of the ensemble's error with log2 h
    rise=3.0,  # of the variance at the smallest scale
    missing=(),
    seeds=SEEDS,
):
    """A table of ensembles that obey given laws, with a little noise between members."""
    rows = [config.point for config in find("regimes/fluctuations").configs(BLOCKS)]
    noise = np.linspace(-1, 1, seeds) * 1e-4
    found = {"variance": [], "ensemble_error": [], "test_error": [], "parameters": []}
    for row in rows:
        h, n, scale = row["width"], row["n_train"], row["scale"]
        variance = 10.0 * h**-width * (n / 50) ** size
        ensemble = 0.16 + ensemble_slope * np.log2(h / 32)
        if row["block"] == "scales":
            ensemble += 0.03 / (1 + scale / (3 * (h / 30) ** (shift / 2 - 0.5)))
        if row["block"] == "small" and scale < 1e-4:
            variance *= rise
        found["variance"].append(variance)
        found["ensemble_error"].append(ensemble)
        found["test_error"].append(ensemble + 0.03 * (h / 32.0) ** -excess + noise)
        found["parameters"].append(10 * h + h * h + h)
    made = {name: np.array(values) for name, values in found.items()}
    wiggle = 1 + 1e-3 * np.linspace(-1, 1, seeds)
    state = np.array([0 if row["block"] in missing else 2 for row in rows])
    coords = {key: ("trial", [row[key] for row in rows]) for key in rows[0] if key != "seed"}
    return xr.Dataset(
        {
            "variance": ("trial", made["variance"]),
            "ensemble_error": ("trial", made["ensemble_error"]),
            "parameters": ("trial", made["parameters"]),
            "test_error": (("trial", "seed"), made["test_error"]),
            "variance_without": (("trial", "seed"), made["variance"][:, None] * wiggle),
            "ensemble_error_without": (
                ("trial", "seed"),
                np.repeat(made["ensemble_error"][:, None], seeds, 1),
            ),
            "fitted": (("trial", "seed"), np.ones((len(rows), seeds))),
            "trial_state": ("trial", state),
        },
        {"seed": np.arange(seeds), **coords},
    )


def verdicts(study, dataset):
    return {claim.id: str(claim.verdict) for claim in study.claims(dataset)}


def former_cases(dataset):
    """The table as it was when texts named the trials."""
    names = {"block": "scan", "depth": "L", "n_train": "P", "width": "h", "scale": "at"}
    texts = [f"case {i}" for i in range(dataset.sizes["trial"])]
    return dataset.rename({"trial": "case", **names}).assign_coords(case=texts)


@pytest.mark.parametrize("size", FORMER)
def test_trials_are_found_under_the_keys_they_had_as_cases(study, size):
    params = study.parameters(size)
    former = [study.formerly(params, config) for config in study.configs(params)]
    keys = sorted(config.key for config in former)
    assert (len(keys), digest("".join(keys))[:16]) == FORMER[size]
    alone = {"small": params["small"]}
    assert {study.formerly(alone, config).key for config in study.configs(alone)} <= set(keys)


def test_a_trial_that_no_text_could_name_had_no_former_key(study):
    params = {"widths": Scan(scale=(1 / 3,)), "small": Scan()}
    assert study.formerly(params, study.configs(params)[0]) is None
    other = {"widths": Scan(n_test=201)}  # of no size: the rest of its parameters is not known
    assert study.formerly(other, study.configs(other)[0]) is None


def test_a_table_of_cases_becomes_one_of_blocks(study):
    present = known()
    assert study.upgraded(former_cases(present)).identical(present)
    assert study.upgraded(present).identical(present)


def test_known_laws_are_reproduced(study):
    found = verdicts(study, known())
    asked = dict.fromkeys(study.judges, "reproduced")
    assert found == asked | dict.fromkeys(("REG-28", "REG-40"), "reported")


def test_what_is_reported_has_its_numbers(study):
    found = {claim.id: claim.measured for claim in study.claims(known(shift=5.0, rise=0.5))}
    assert found["REG-28"] > 4.0
    assert found["REG-40"] == pytest.approx(0.5)


def test_ensembles_that_hang_on_a_seed_leave_their_spread_open(study):
    shaky = known(ensemble_slope=0.007)  # 0.021 for 0.025
    wide = (shaky.block == "widths") & (shaky.width == shaky.width.max())
    off = xr.DataArray(np.linspace(-1, 1, shaky.sizes["seed"]), dims="seed")
    shaky["ensemble_error_without"] = shaky.ensemble_error_without + 0.01 * off * wide
    assert verdicts(study, known(ensemble_slope=0.007))["REG-38"] == "reproduced"
    assert verdicts(study, shaky)["REG-38"] == "inconclusive"


def test_noise_leaves_the_size_of_the_excess_open(study):
    noisy = known(excess=-0.01)
    tilt = xr.DataArray(np.linspace(-1, 1, noisy.sizes["seed"]), dims="seed")
    noisy["test_error"] = noisy.test_error + 0.01 * tilt * np.log(noisy.width / 64)
    claim = next(each for each in study.claims(noisy) if each.id == "REG-61")
    assert "(lazy) -" in claim.why.partition("B0 of ")[2]
    assert " (inconclusive)" in claim.why.partition("B0 of ")[2].partition(";")[0]


@pytest.mark.parametrize(
    ("change", "id"),
    [
        ({"excess": -0.3}, "REG-25"),  # the error rises with the width
        ({"width": 0.5}, "REG-36"),
        ({"size": 0.0}, "REG-37"),
        ({"ensemble_slope": 0.01}, "REG-38"),
        ({"excess": 0.4}, "REG-61"),
        ({"width": 0.5}, "REG-61"),
    ],
)
def test_every_verdict_can_be_a_failure(study, change, id):
    assert verdicts(study, known(**change))[id] == "not reproduced"


@pytest.mark.parametrize(
    ("scan", "ids"),
    [
        ("widths", {"REG-25", "REG-36", "REG-38", "REG-61"}),
        ("scales", {"REG-28"}),
        ("sizes", {"REG-37"}),
        ("small", {"REG-40"}),
    ],
)
def test_an_unfinished_scan_is_not_judged(study, scan, ids):
    found = verdicts(study, known(missing=(scan,)))
    assert {id for id, verdict in found.items() if verdict == "inconclusive"} == ids


def test_too_few_seeds_decide_nothing(study):
    assert set(verdicts(study, known(seeds=3)).values()) == {"inconclusive"}


def test_seeds_of_another_block_are_not_counted(study):
    dataset = known()
    each = [name for name, values in dataset.items() if "seed" in values.dims]
    few = dataset[each].where((dataset.block != "sizes") | (dataset.seed < 3))
    found = verdicts(study, dataset.assign(few))
    assert {id for id, verdict in found.items() if verdict == "inconclusive"} == {"REG-37"}


def test_the_excess_of_the_error_comes_with_a_jackknife_error():
    errors, others = np.array([0.2, 0.25, 0.3]), np.array([0.1, 0.12, 0.11])
    row = xr.Dataset(
        {
            "test_error": ("seed", errors),
            "ensemble_error": 0.1,
            "ensemble_error_without": ("seed", others),
        }
    )
    excess = measured(row, "excess")
    assert excess.value == pytest.approx(0.15)
    assert excess.error > 0
    with pytest.raises(ValueError, match="no measure"):
        measured(row, "height")


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_networks_are_an_ensemble_too(study, seeds):
    blocks = {"sizes": Scan(n_train=(6,), width=(8,), scale=(1e5,), seed=tuple(range(seeds)))}
    point = study.configs(blocks)[0].point
    found = study.trial(blocks["sizes"], Point(point))
    assert np.isnan(found.scalars["variance"]) == (seeds == 1)
    assert np.isfinite(found.scalars["ensemble_error"])
    assert found.arrays["test_error"].values.shape == (seeds,)
    assert np.isnan(found.arrays["variance_without"].values).all()
