"""Fluctuations at their smallest size, and verdicts on ensembles whose laws are known."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, gather, run
from regimes.measure import ensemble_error, ensemble_variance
from regimes.studies.regimes import _cases
from regimes.studies.regimes.fluctuations import fluctuation
from regimes.studies.regimes.fluctuations._claims import (
    JUDGED,
    asymptote,
    half_height,
    measured,
)

SEEDS = 10
CASES = (
    *_cases.cases("widths", L=2, P=50, h=(32, 64, 128, 256), at=(0.1, 1e4)),
    *_cases.cases("scales", L=2, P=100, h=(30, 100), at=(1e-2, 1e-1, 1, 10, 1e2, 1e3, 1e4)),
    *_cases.cases("sizes", L=2, P=(25, 50, 100, 200), h=128, at=1e5),
    *_cases.cases("small", L=3, P=100, h=60, at=(1e-6, 1e-4, 1e-2)),
)


@pytest.fixture(scope="module")
def study():
    return find("regimes/fluctuations")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("fluctuations"))
    return run(study, store=place, executor=InlineExecutor())


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
    rows = [_cases.settings_of(case) for case in CASES]
    noise = np.linspace(-1, 1, seeds) * 1e-4
    found = {"variance": [], "ensemble_error": [], "test_error": [], "parameters": []}
    for row in rows:
        h, n, at = row["h"], row["P"], row["at"]
        variance = 10.0 * h**-width * (n / 50) ** size
        ensemble = 0.16 + ensemble_slope * np.log2(h / 32)
        if row["scan"] == "scales":
            ensemble += 0.03 / (1 + at / (3 * (h / 30) ** (shift / 2 - 0.5)))
        if row["scan"] == "small" and at < 1e-4:
            variance *= rise
        found["variance"].append(variance)
        found["ensemble_error"].append(ensemble)
        found["test_error"].append(ensemble + 0.03 * (h / 32.0) ** -excess + noise)
        found["parameters"].append(10 * h + h * h + h)
    made = {name: np.array(values) for name, values in found.items()}
    wiggle = 1 + 1e-3 * np.linspace(-1, 1, seeds)
    state = np.array([0 if row["scan"] in missing else 2 for row in rows])
    coords = {key: ("case", [row[key] for row in rows]) for key in rows[0]}
    return xr.Dataset(
        {
            "variance": ("case", made["variance"]),
            "ensemble_error": ("case", made["ensemble_error"]),
            "parameters": ("case", made["parameters"]),
            "test_error": (("case", "seed"), made["test_error"]),
            "variance_without": (("case", "seed"), made["variance"][:, None] * wiggle),
            "ensemble_error_without": (
                ("case", "seed"),
                np.repeat(made["ensemble_error"][:, None], seeds, 1),
            ),
            "fitted": (("case", "seed"), np.ones((len(rows), seeds))),
            "trial_state": ("case", state),
        },
        {"case": list(CASES), "seed": np.arange(seeds), **coords},
    )


def verdicts(study, dataset):
    return {claim.id: str(claim.verdict) for claim in study.claims(dataset)}


def test_the_smoke_size_runs_whole_and_decides_nothing(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(JUDGED) == list(study.judges)
    assert {str(claim.verdict) for claim in summary.claims} == {"inconclusive"}
    assert set(np.unique(summary.dataset.scan.values)) == {"widths", "scales", "sizes", "small"}
    assert (summary.dataset.variance > 0).all()


def test_figures_tell_what_is_seen(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures) == 5
    assert all(len(figure.layout.meta["caption"]) > 100 for figure in figures.values())


def test_nothing_run_yet_is_no_error(study, tmp_path):
    empty = study.summarise(gather(study, study.parameters("cpu"), store=Store(tmp_path)))
    assert set(verdicts(study, empty).values()) == {"inconclusive"}
    assert study.figures(empty) == {}


def test_known_laws_are_reproduced(study):
    found = verdicts(study, known())
    assert found == dict.fromkeys(JUDGED, "reproduced")


@pytest.mark.parametrize(
    ("change", "id"),
    [
        ({"excess": -0.3}, "REG-25"),  # the error rises with the width
        ({"shift": 5.0}, "REG-28"),
        ({"width": 0.5}, "REG-36"),
        ({"size": 0.0}, "REG-37"),
        ({"ensemble_slope": 0.01}, "REG-38"),
        ({"rise": 0.5}, "REG-40"),
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


def test_a_curve_that_comes_back_has_no_half_height():
    at = np.array([1.0, 10.0, 100.0])
    assert np.isnan(half_height(at, np.array([[0.1, 0.3, 0.1]] * 3)).value)
    found = half_height(at, np.array([[0.3, 0.1, 0.1], [0.3, 0.1, 0.1]]))
    assert np.exp(found.value) == pytest.approx(10**0.5)
    assert found.error == pytest.approx(0.0, abs=1e-12)


def test_an_ensemble_is_measured_with_and_without_its_members():
    generator = torch.Generator().manual_seed(0)
    outputs = torch.randn(6, 50, dtype=torch.float64, generator=generator)
    y = torch.where(torch.arange(50) % 2 == 0, 1.0, -1.0).double()
    whole, each = fluctuation(outputs, y)
    assert whole["variance"] == pytest.approx(float(ensemble_variance(outputs)))
    assert each["variance_without"][2] == pytest.approx(
        float(ensemble_variance(outputs[[0, 1, 3, 4, 5]]))
    )
    assert each["ensemble_error_without"][0] == pytest.approx(float(ensemble_error(outputs[1:], y)))
    assert each["test_error"].shape == (6,)
    row = xr.Dataset(whole).assign({name: ("seed", values) for name, values in each.items()})
    excess = measured(row, "excess")
    assert excess.value == pytest.approx(each["test_error"].mean() - whole["ensemble_error"])
    assert excess.error > 0
    with pytest.raises(ValueError, match="no measure"):
        measured(row, "height")


def test_the_asymptote_says_how_well_it_fits():
    count = np.array([100.0, 200.0, 400.0, 800.0])
    _, _, r2 = asymptote(count, np.array([0.1, 0.3, 0.1, 0.3]))
    assert r2 < 0.5
