"""Learning curves of the stripe, at the smallest size and with curves that are known."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab import InlineExecutor, Store, find, run


@pytest.fixture(scope="module")
def study():
    return find("compression/learning-curves")


def known(n_train, *, d=(5,), shift=1.0):
    """Curves of known exponents in place of measured ones, a little spread over seeds."""
    p, spread = np.array(n_train, dtype=float), np.exp(0.02 * np.arange(-2, 3))
    curves = {
        "feature_error": 2 * p**-0.7,
        "initial_error": 1.2 * p**-0.4,
        "own_error": 1.2 * p**-0.4,
        "compressed_error": shift * 1.4 * p**-0.7,
        "final_error": 6 * p**-0.9,
        "amplification_star": p**0.5,
        "amplification_max": 3 * p**0.5,
        "peak_time": 4 * p**0,
        "final_unfitted": 0 * p,
    }
    dims = ("d", "n_train", "seed")
    values = {
        name: (dims, np.broadcast_to(curve[:, None] * spread, (len(d), len(p), 5)).copy())
        for name, curve in curves.items()
    }
    values["trial_state"] = (dims, np.full((len(d), len(p), 5), 2))
    values["fitted"] = (dims, np.ones((len(d), len(p), 5)))
    return xr.Dataset(values, {"d": list(d), "n_train": list(n_train), "seed": range(5)})


def test_trained_networks_fit_and_amplify(study, tmp_path):
    dataset = run(study, store=Store(tmp_path), executor=InlineExecutor()).dataset
    assert (dataset.fitted == 1).all()
    assert (dataset.amplification_max >= dataset.amplification_star).all()
    for name in ("feature_error", "initial_error", "own_error", "compressed_error", "final_error"):
        assert 0 < float(dataset[name].min()) <= float(dataset[name].max()) < 0.6


def test_figures_have_the_slopes_of_every_dimension(study):
    figures = study.figures(known((128, 256, 512), d=(5, 10)))
    slopes = [trace.name for trace in figures["Learning curves"].data if "slope" in trace.name]
    assert slopes == [
        "slope -d/(3d-2) = -0.385",
        "slope -(2d-1)/(3d-2) = -0.692",
        "slope -d/(3d-2) = -0.357",
        "slope -(2d-1)/(3d-2) = -0.679",
    ]


def test_known_curves_are_reproduced(study):
    claims = {claim.id: claim for claim in study.claims(known((128, 256, 512)))}
    assert list(claims) == list(study.judges)
    assert claims.pop("REG-64").verdict == "reported"
    assert {claim.verdict for claim in claims.values()} == {"reproduced"}
    assert claims["COMP-14"].measured == pytest.approx(3.0)
    assert claims["COMP-25"].measured == pytest.approx(0.7)


def test_wrong_curves_are_not(study):
    dataset = known((128, 256, 512), shift=3.0)
    dataset["feature_error"] = dataset.initial_error
    dataset["peak_time"] = 0.5 * dataset.peak_time / dataset.peak_time
    verdicts = {claim.id: claim.verdict for claim in study.claims(dataset)}
    failed = {id for id, verdict in verdicts.items() if verdict == "not reproduced"}
    assert {"COMP-14", "COMP-21", "COMP-25"} <= failed
    dataset = known((128, 256, 512), shift=3.0)
    verdicts = {claim.id: claim.verdict for claim in study.claims(dataset)}
    assert verdicts["COMP-24"] == "not reproduced"
    dataset["final_error"] = dataset.initial_error
    verdicts = {claim.id: claim.verdict for claim in study.claims(dataset)}
    assert verdicts["COMP-26"] == "not reproduced"


@pytest.mark.parametrize(
    ("late", "verdict"), [(14, "reproduced"), (12, "inconclusive"), (6, "not reproduced")]
)
def test_the_share_of_late_peaks_has_an_error(study, verdicts, late, verdict):
    dataset = known((128, 256, 512))
    when = np.where(np.arange(15) < late, 2.0, 0.5).reshape(1, 3, 5)
    dataset["peak_time"] = (("d", "n_train", "seed"), when)
    assert verdicts(study, dataset)["COMP-14"] == verdict


def test_a_row_that_names_five_others_is_reported(study):
    wrong = known((128, 256, 512))
    wrong["feature_error"] = wrong.feature_error**3
    claims = {claim.id: claim for claim in study.claims(wrong)}
    assert claims["COMP-25"].verdict == "not reproduced"
    assert claims["REG-64"].verdict == "reported"
    assert "COMP-39" in claims["REG-64"].why


def test_the_full_size_has_its_own_tolerances(study):
    dataset = known((512, 1024, 4096), d=(5, 10))
    claims = {claim.id: claim for claim in study.claims(dataset)}
    assert "exponent at d = 5 in [0.62, 0.76]" in claims["COMP-25"].expected
    assert "exponent at d = 10 in [0.61, 0.75]" in claims["COMP-25"].expected
    assert "p = 512" not in claims["COMP-24"].expected  # only p >= 1000 there
    assert claims["COMP-24"].verdict == "reproduced"


def test_the_full_size_of_another_dimension_decides_only_what_needs_no_exponent(study):
    claims = {claim.id: claim for claim in study.claims(known((512, 1024, 4096), d=(7,)))}
    unclear = {id for id, claim in claims.items() if claim.verdict == "inconclusive"}
    assert unclear == {"COMP-25", "REG-64"}
    assert "no expected exponent for d = 7" in claims["COMP-25"].why


def test_runs_that_did_not_fit_are_told(study):
    dataset = known((128, 256, 512))
    dataset["fitted"][0, 0, 0] = 0
    assert "1 of 15 runs ended unfitted" in study.claims(dataset)[0].why


def test_nothing_is_decided_before_all_has_run(study):
    dataset = known((128, 256, 512))
    dataset["trial_state"][0, 0, 4] = 0
    assert {claim.verdict for claim in study.claims(dataset)} == {"inconclusive"}
