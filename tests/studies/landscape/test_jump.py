"""Verdicts on the jump, on runs that follow the papers and on such that do not."""

import numpy as np
import pytest
import xarray as xr

import regimes as rg
from regimes.lab import find, rows
from regimes.studies.landscape.jump import _scans as scans

RATIOS = (2.0, 2.2, 2.4, 2.5, 2.6, 2.7, 2.8, 3.0, 3.2, 3.4, 3.6, 4.2, 4.5, 5.5, 6.5, 8.0)
SEEDS = 6
BLOCKS = [  # block, network, N, r*, its ratios, rate, batch
    ("random", "2x14", 406, 2.75, RATIOS[:11], np.nan, np.nan),
    ("deep", "3x12", 444, 2.75, RATIOS[:11], np.nan, np.nan),
    ("tanh", "3x10", 310, 3.3, (2.4, 2.8, 3.2, 3.6, 4.2), np.nan, np.nan),
    ("parity", "2x9", 180, 6.0, (4.5, 5.5, 6.5, 8.0), np.nan, np.nan),
    ("single", "2x14", 406, 2.75, (2.4, 2.5, 2.6, 2.7, 2.8, 3.0), np.nan, np.nan),
    ("margin", "2x14", 406, 2.75, RATIOS[:10], np.nan, np.nan),
    *(
        (block, "2x14", 406, 2.7, (2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 3.2), rate, batch)
        for rate in (1e-3, 3e-4)
        for block, batch in (("optimiser", 1.0), ("batches", 0.5))
    ),
]


@pytest.fixture(scope="module")
def study():
    return find("landscape/jump")


def known():
    """Every run fits below r*, and jams above it with N_Delta/N = 0.5 + a log loss."""
    shape = (len(BLOCKS), len(RATIOS), SEEDS)
    names = "unfitted loss classes share misclassified unreached falling steps negative cusps"
    values = {name: np.full(shape, np.nan) for name in names.split()}
    noise = np.random.default_rng(0).normal(size=shape)
    for i, (block, _, weights, star, own, _, _) in enumerate(BLOCKS):
        for j, ratio in enumerate(RATIOS):
            if ratio not in own:
                continue
            jams = ratio > star
            loss = 10.0 ** (-5 + 3 * (ratio / star - 1) / 0.3 + 0.8 * noise[i, j]) * jams
            share = (0.8 + 0.06 * np.log10(np.maximum(loss, 1e-9))) * jams
            share *= 0.7 if block == "parity" else 1.0
            unfitted = np.round(share * weights)
            kind = rg.measure.RunClass.JAMMED if jams else rg.measure.RunClass.SAT
            found = {
                "unfitted": unfitted,
                "loss": loss,
                "classes": float(kind),
                "share": unfitted / weights,
                "misclassified": np.round(unfitted * np.minimum(40 * loss**0.9, 0.3)),
                "unreached": 0.0,
                "falling": 0.0,
                "steps": 1e5 if jams else 1e4 * 5 ** ((ratio - 2) / 0.6) * (1 + 0.05 * noise[i, j]),
                "negative": 0.5 if jams else np.nan,
                "cusps": 0.2 if jams else np.nan,
            }
            for name, each in found.items():
                values[name][i, j] = each
    row = next(i for i, each in enumerate(BLOCKS) if each[0] == "single")
    values["unfitted"][row, 2, :2], values["loss"][row, 2, :2] = 2, 1e-13  # at r = 2.4
    dims = ("trial", "ratio", "seed")
    return xr.Dataset(
        {name: (dims, each) for name, each in values.items()}
        | {
            "weights": ("trial", [float(each[2]) for each in BLOCKS]),
            "trial_state": ("trial", np.full(len(BLOCKS), 2)),
            "unfitted_at": ((*dims, "moment"), np.zeros((*shape, 2))),
        },
        {
            "ratio": list(RATIOS),
            "seed": range(SEEDS),
            "moment": [0.1, 1.0],
            "block": ("trial", [each[0] for each in BLOCKS]),
            "network": ("trial", [each[1] for each in BLOCKS]),
            "rate": ("trial", [each[5] for each in BLOCKS]),
            "batch": ("trial", [each[6] for each in BLOCKS]),
        },
    )


ALL = [f"LAND-0{k}" for k in range(1, 9)] + [f"LAND-{k}" for k in (15, 26, 36, 38, 44)]


def test_runs_as_in_the_papers(study, verdicts):
    assert verdicts(study, known()) == dict.fromkeys(ALL, "reproduced")


def at(data, block, network="2x14", **place):
    which = (data.block == block) & (data.network == network)
    for name in ("rate", "batch"):
        if name in place:
            which &= data[name] == place.pop(name)
    return {"trial": np.flatnonzero(which.values), **place}


def jam(data, place, share=0.5, loss=1e-4):
    """Let the runs at a place jam."""
    weights = float(data.weights[place["trial"][0]])
    ratio = place.get("ratio", slice(None))
    where = {"trial": place["trial"], "ratio": ratio}
    for name, value in {
        "classes": float(rg.measure.RunClass.JAMMED),
        "unfitted": share * weights,
        "share": share,
        "loss": loss,
    }.items():
        old = data[name][where].values
        data[name][where] = np.where(np.isfinite(old), value, old)


def fit(data, place):
    where = {"trial": place["trial"], "ratio": place.get("ratio", slice(None))}
    for name in ("classes", "unfitted", "share", "loss"):
        old = data[name][where].values
        data[name][where] = np.where(np.isfinite(old), 0.0, old)


def near(data):
    """Jammed runs of small loss of the network that most claims are about."""
    small = (data.loss < 2e-3) & (data.classes == 3)
    return small & ((data.block == "random") & (data.network == "2x14"))


def all_up(data):
    data["share"] = data.share.where(~near(data), 1.1)


def all_below(data):
    fit(data, at(data, "random", ratio=slice(8, 9)))  # r = 3.2


def early(data):
    jam(data, at(data, "random", ratio=slice(0, 3)))
    jam(data, at(data, "random", ratio=slice(3, None)))


def tanh_fits(data):
    fit(data, at(data, "tanh", "3x10"))


def scattered(data):
    big = np.random.default_rng(1).normal(size=data.share.shape)
    data["share"] = data.share + 0.5 * big


def wrong_at_once(data):
    data["misclassified"] = data.unfitted * 0.5


def quick(data):
    data["steps"] = data.steps * 0 + 1e4


def slow_rate(data):
    jam(data, at(data, "optimiser", rate=3e-4, ratio=slice(1, None)))


def digits_high(data):
    jam(data, at(data, "parity", "2x9", ratio=slice(14, None)), share=0.9)


def unstable(data):
    data["negative"] = data.negative + 0.6


def large_margin(data):
    jam(data, at(data, "margin", ratio=slice(1, None)))


def strange(data):
    inside = data.ratio < 2.65
    kind = float(rg.measure.RunClass.UNCONVERGED)
    data["classes"] = data.classes.where(~inside, kind).where(data.classes.notnull())


def exact(data):
    fit(data, at(data, "single", ratio=slice(2, 3)))


@pytest.mark.parametrize(
    ("distort", "failing"),
    [
        (all_up, {"LAND-03", "LAND-04", "LAND-05"}),
        (all_below, {"LAND-01"}),
        (tanh_fits, {"LAND-08"}),
        (scattered, {"LAND-03", "LAND-04", "LAND-05"}),
        (wrong_at_once, {"LAND-06"}),
        (quick, {"LAND-07"}),
        (slow_rate, {"LAND-15"}),
        (digits_high, {"LAND-26"}),
        (unstable, {"LAND-36"}),
        (large_margin, {"LAND-38"}),
    ],
)
def test_what_does_not_follow_fails(study, verdicts, distort, failing):
    data = known()
    distort(data)
    found = verdicts(study, data)
    assert {id for id, verdict in found.items() if verdict != "reproduced"} >= failing
    for id in failing:
        assert found[id] == "not reproduced", id
    unchanged = set(ALL) - failing - {"LAND-26", "LAND-36", "LAND-44", "LAND-02", "LAND-08"}
    assert all(found[id] == "reproduced" for id in unchanged), found


def test_early_jamming_moves_r(study, verdicts):
    data = known()
    early(data)
    found = verdicts(study, data)
    assert found["LAND-01"] == "not reproduced"
    assert found["LAND-02"] == "inconclusive"  # no ratio fits


@pytest.mark.parametrize("distort", [strange, exact])
def test_census(study, verdicts, distort):
    data = known()
    distort(data)
    assert verdicts(study, data)["LAND-44"] == "not reproduced"


def test_trials_of_one_network_are_one_scan():
    data = known()
    whole = scans.scan(data, "random", network="2x14")
    first, rest = data.copy(deep=True), data.copy(deep=True)
    for name in ("unfitted", "classes", "loss", "share"):
        first[name][{"ratio": slice(4, None)}] = np.nan
        rest[name][{"ratio": slice(0, 4)}] = np.nan
    cut = scans.scan(xr.concat([first, rest], "trial"), "random", network="2x14")
    np.testing.assert_array_equal(whole.ratio, RATIOS[:11])
    for name in ("unfitted", "classes", "loss", "share"):
        np.testing.assert_array_equal(whole[name], cut[name])


def test_r_star_leaves_dead_runs_out():
    data = known()
    runs = scans.scan(data, "random", network="2x14")
    star = scans.r_star(runs)
    assert star.value == pytest.approx(2.75)
    assert star.error == pytest.approx(2.75 * np.log(2.8 / 2.7) / 12**0.5, rel=1e-2)
    dead = runs.assign(classes=runs.classes.where(runs.ratio != 2.8, 2.0))
    assert scans.r_star(dead).value == pytest.approx(2.85)  # 2.8 does not count


def test_rows_of_the_smallest_size(smoke):
    data = smoke("landscape/jump").dataset
    names = {"random", "deep", "tanh", "parity", "single", "margin", "optimiser", "batches"}
    assert set(data.block.values) == names
    single = rows(data, "single")
    assert np.isfinite(single.loss.values[np.isfinite(single.classes.values)]).all()
