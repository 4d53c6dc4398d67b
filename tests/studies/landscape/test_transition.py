"""Verdicts on N*(P), on scans that follow the papers and on such that do not."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from regimes.lab import find
from regimes.studies.landscape.transition import MOMENTS
from regimes.studies.landscape.transition import _scans as scans
from regimes.studies.landscape.transition._sizes import SIZES, weights_at, widths_at

SEEDS = 4
WIDTHS = np.unique(np.geomspace(3, 150, 70).round().astype(int))


@pytest.fixture(scope="module")
def study():
    return find("landscape/transition")


def star_of(block, depth, inputs, p):
    """N* of the setting: 0.4 P for random labels, 150 (P/1000)^0.75 for digits."""
    return 150.0 * (p / 1000) ** 0.75 if block in ("parity", "wide") else 0.4 * p


def settings():
    for p in (250, 500, 1000):
        yield "size", 2, 10, p
    for depth in (2, 3):
        yield "depth", depth, 0, 500
    for inputs in (8, 16, 24):
        yield "dimension", 2, inputs, 500
    for p in (500, 1000):
        yield "parity", 2, 10, p
    for depth in (1, 3):
        yield "parity", depth, 10, 1000
    yield "rank", 2, 10, 500
    yield "time", 2, 10, 1000


def weights_of(depth, inputs, width):
    return (inputs or width) * width + (depth - 1) * width**2 + width


def known(star=star_of, late=1.0):
    """Runs below N* jam with N_Delta = N/2, runs above fit; before the end N* is larger."""
    rows = []
    for block, depth, inputs, p in settings():
        for width in WIDTHS:
            n = weights_of(depth, inputs, width)
            place = star(block, depth, inputs, p)
            if 0.3 < n / place < (8.0 if block == "time" else 2.5) or (block, n) == ("rank", 42):
                rows.append((block, depth, inputs, p, width, n, place))
    rows.append(("wide", 2, 10, 1000, 82, weights_of(2, 10, 82), star("wide", 2, 10, 1000)))
    n, place, p = (np.array([row[k] for row in rows], dtype=float) for k in (5, 6, 3))
    jams = n < place
    noise = 1 + 0.001 * np.arange(SEEDS)
    unfitted = np.where(jams, np.round(n / 2), 0.0)
    early = place[:, None] * np.array([4.0, 3.0, 2.0, 1.5, 1.0]) ** late
    read = np.where(n[:, None] < early, np.round(n / 2)[:, None], 0.0)
    error = 0.14 - 0.05 * np.log10(np.maximum(n / 150, 1)) / np.log10(50)

    def each(values):
        return ("trial", "seed"), np.repeat(values[:, None], SEEDS, 1)

    share = np.clip(0.5 + 0.45 * (1 - n / place), 0.3, 0.97)
    return xr.Dataset(
        {
            "unfitted": each(unfitted),
            "classes": each(np.where(jams, 3.0, 0.0)),
            "error": (("trial", "seed"), error[:, None] * noise),
            "rank": (("trial", "seed"), np.where(jams, share, 0.0)[:, None] / noise),
            "network_part": each(np.where(jams, 0.1, 0.0)),
            "unfitted_at": (("trial", "seed", "moment"), np.repeat(read[:, None], SEEDS, 1)),
            "weights": ("trial", n),
            "trial_state": ("trial", np.full(len(rows), 2)),
        },
        {"seed": range(SEEDS), "moment": list(MOMENTS)}
        | {
            name: ("trial", np.array([row[k] for row in rows]))
            for k, name in enumerate(("block", "depth", "inputs", "n_train", "width"))
        },
    )


ALL = [f"LAND-{k}" for k in ("09", 10, 11, 12, 14, 24, 25, 70, 78)]


def test_scans_as_in_the_papers(study, verdicts):
    assert verdicts(study, known()) == dict.fromkeys(ALL, "reproduced")


def wasteful(block, depth, inputs, p):
    return 5.0 * p


def steep(block, depth, inputs, p):
    return 0.4 * 1000 * (p / 1000) ** 1.6 if block == "size" else star_of(block, depth, inputs, p)


def deep(block, depth, inputs, p):
    return star_of(block, depth, inputs, p) * (1.8 if depth == 3 else 1.0)


def broad(block, depth, inputs, p):
    return star_of(block, depth, inputs, p) * (1.8 if inputs == 24 else 1.0)


def hard(block, depth, inputs, p):
    return 0.4 * p


@pytest.mark.parametrize(
    ("star", "failing"),
    [
        (wasteful, {"LAND-09", "LAND-10", "LAND-24"}),
        (steep, {"LAND-10"}),
        (deep, {"LAND-11", "LAND-25"}),
        (broad, {"LAND-12"}),
        (hard, {"LAND-24"}),
    ],
)
def test_other_laws_fail(study, verdicts, star, failing):
    found = verdicts(study, known(star))
    assert {id for id in failing if found[id] == "not reproduced"} == failing
    alike = set(ALL) - failing - {"LAND-70", "LAND-78", "LAND-24", "LAND-14", "LAND-25"}
    assert all(found[id] == "reproduced" for id in alike), found


def test_a_scan_that_does_not_move_in_time_fails(study, verdicts):
    found = verdicts(study, known(late=0.0))
    assert found.pop("LAND-14") == "not reproduced"
    assert set(found.values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("name", "factor", "failing"),
    [("error", 1.5, {"LAND-70"}), ("rank", 0.3, {"LAND-78"})],
)
def test_other_numbers_fail(study, verdicts, name, factor, failing):
    data = known()
    data[name] = data[name] * factor
    found = verdicts(study, data)
    assert {id for id, verdict in found.items() if verdict == "not reproduced"} == failing


def test_dead_runs_do_not_count():
    data = known()
    here = (data.block == "rank") & (data.weights > 42)
    data["classes"] = data.classes.where(~here, 2.0)
    star = scans.star(data, "size", n_train=500)
    assert star.found.bracket[0] < 200 < star.found.bracket[1]
    with pytest.raises(scans.judge.Missing, match="no transition"):
        scans.star(data, "rank")


def test_widths_bracket_what_is_expected(study):
    configs = study.configs(SIZES["cpu"])
    for block in ("size", "depth", "dimension", "parity"):
        own = [config.point for config in configs if config.point["block"] == block]
        for key in {(at["depth"], at["inputs"], at["n_train"]) for at in own}:
            depth, inputs, p = key
            trials = [
                SimpleNamespace(**at)
                for at in own
                if (at["depth"], at["inputs"], at["n_train"]) == key
            ]
            n = sorted(
                weights_at(here, width)
                for here in trials
                for width in widths_at(SIZES["cpu"][block], here)
            )
            place = star_of(block, depth, inputs, p)
            assert len(n) >= 4, key
            assert n[0] < 0.85 * place, key
            assert n[-1] > 1.25 * place, key
