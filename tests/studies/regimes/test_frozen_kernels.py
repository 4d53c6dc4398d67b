"""Frozen kernels at their smallest size, their pieces, and verdicts on numbers that are known."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes import flow
from regimes.lab import InlineExecutor, Store, find, gather, run
from regimes.studies.regimes import _cases
from regimes.studies.regimes.frozen_kernels._claims import JUDGED
from regimes.studies.regimes.frozen_kernels._trial import Setting, frozen_course, train
from regimes.tangent import stacked_gram

SEEDS = 6
CASES = (
    *_cases.cases("limit", L=2, P=80, h=60, at=(1e2, 1e3, 1e4, 1e5, 1e6)),
    *_cases.cases("span", L=2, P=40, h=60, at=(1e1, 1e2, 1e3, 1e4)),
    *_cases.cases("learned", L=3, P=200, h=60, at=(1e-2, 0.1, 1.0, 1e3, 1e4)),
)


@pytest.fixture(scope="module")
def study():
    return find("regimes/frozen-kernels")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("frozen"))
    return run(study, store=place, executor=InlineExecutor())


@pytest.fixture(scope="module")
def lazy():
    setting = Setting.of("span L=2 P=12 h=10 at=1e4", "digits", 10)
    return train(setting, (0, 1), n_test=60, eps=1e-1, max_steps=400, dtype="float64", device="cpu")


def known(
    *,
    slope=1.0,  # the distance to the frozen kernel falls with at to this power,
    span=1.0,  # and the residual to that
    disagreement=0.0,
    lazy_gap=0.0,  # between the errors of networks and initial kernels at large at
    final_gap=0.005,
    initial_gap=0.03,  # where features are learnt
    growth=30.0,
    contrast=2.0,  # of the final over the initial kernel
    missing=(),
    seeds=SEEDS,
):
    rows = [_cases.settings_of(case) for case in CASES]
    wiggle = 1 + 1e-3 * np.linspace(-1, 1, seeds)
    found = {}

    def put(name, value):
        found.setdefault(name, []).append(value * wiggle)

    for row in rows:
        feature = row["at"] <= 1
        put("network_error", 0.17)
        put("final_error", 0.17 - final_gap)
        put("initial_error", 0.17 - (initial_gap if feature else lazy_gap))
        put("initial_difference", 4.0 * row["at"] ** -slope + 1e-4)
        put("limit_difference", 4.0 * row["at"] ** -slope)
        put("initial_disagreement", disagreement)
        put("tangent_residual", 5.0 * row["at"] ** -span)
        put("kernel_growth", growth if feature else 1.0)
        put("initial_contrast", 0.14)
        put("final_contrast", 0.14 * (contrast if feature else 1.0))
        for name in ("fitted", "initial_fitted", "final_fitted"):
            found.setdefault(name, []).append(np.ones(seeds))
    state = [0 if row["scan"] in missing else 2 for row in rows]
    coords = {key: ("case", [row[key] for row in rows]) for key in rows[0]}
    made = {name: (("case", "seed"), np.array(values)) for name, values in found.items()}
    made["scale"] = ("case", [row["at"] for row in rows])
    made["trial_state"] = ("case", state)
    return xr.Dataset(made, {"case": list(CASES), "seed": np.arange(seeds), **coords})


def verdicts(study, dataset):
    return {claim.id: str(claim.verdict) for claim in study.claims(dataset)}


def test_the_smoke_size_runs_whole_and_decides_nothing(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(JUDGED) == list(study.judges)
    assert {str(claim.verdict) for claim in summary.claims} == {"inconclusive"}
    dataset = summary.dataset
    limit = _cases.scan_of(dataset, "limit")
    near, far = (limit.limit_difference.values[i] for i in (1, 0))
    assert (near < 0.05 * far).all()
    assert np.isfinite(_cases.scan_of(dataset, "span").tangent_residual).all()
    assert "cnn" in dataset["net"].values


def test_figures_tell_what_is_seen(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures) == 4
    assert all(len(figure.layout.meta["caption"]) > 100 for figure in figures.values())


def test_nothing_run_yet_is_no_error(study, tmp_path):
    empty = study.summarise(gather(study, study.parameters("paper"), store=Store(tmp_path)))
    assert set(verdicts(study, empty).values()) == {"inconclusive"}
    assert study.figures(empty) == {}


def test_known_numbers_are_reproduced(study):
    assert verdicts(study, known()) == dict.fromkeys(JUDGED, "reproduced")


@pytest.mark.parametrize(
    ("change", "id"),
    [
        ({"disagreement": 0.02}, "REG-26"),
        ({"lazy_gap": 0.01}, "REG-26"),
        ({"slope": 0.9}, "REG-27"),
        ({"final_gap": 0.025}, "REG-48"),
        ({"initial_gap": 0.001}, "REG-48"),  # the initial kernel is as near as the final one
        ({"growth": 3.0}, "REG-49"),
        ({"contrast": 1.2}, "REG-49"),
        ({"span": 0.8}, "REG-50"),
    ],
)
def test_every_verdict_can_be_a_failure(study, change, id):
    assert verdicts(study, known(**change))[id] == "not reproduced"


@pytest.mark.parametrize(
    ("scan", "ids"),
    [
        ("limit", {"REG-26", "REG-27"}),
        ("span", {"REG-50"}),
        ("learned", {"REG-48", "REG-49"}),
    ],
)
def test_an_unfinished_scan_is_not_judged(study, scan, ids):
    found = verdicts(study, known(missing=(scan,)))
    assert {id for id, verdict in found.items() if verdict == "inconclusive"} == ids


def test_scales_left_out_decide_nothing(study):
    whole = known()
    few = whole.isel(case=np.isin(whole["at"].values, [1e2, 1e3, 1e-2]))
    assert set(verdicts(study, few).values()) == {"inconclusive"}


def test_kernels_of_members_are_those_of_the_stack(lazy):
    found = lazy.kernels_compared(15)
    before, after = (stacked_gram(each, lazy.data.x_test[:15]) for each in (lazy.start, lazy.end))
    growth = after.flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1)
    assert np.allclose(found["kernel_growth"], growth)
    assert (found["kernel_change"] < 1e-2).all()
    assert np.allclose(found["initial_contrast"], found["final_contrast"], rtol=0.05)


def test_a_lazy_network_is_its_initial_kernel(lazy):
    found = lazy.against_kernels(eps=1e-1, max_steps=400)
    assert (found["initial_difference"] < 1e-2).all()
    assert (found["initial_disagreement"] <= 1 / 60).all()
    assert (lazy.tangent_residuals() < 0.05).all()


def test_a_kernel_driven_by_a_flow_s_steps_follows_it(lazy):
    assert (lazy.step_by_step() < 1e-2).all()
    gram = stacked_gram(lazy.start, lazy.data.x_train)[0]
    steps = flow.Observer(lambda snapshot: snapshot.predictions[:, 0, 0], flow.EverySteps())
    ran = flow.kernel_flow(
        gram, lazy.data.y_train, loss="softhinge_20", max_steps=50, observe={"steps": steps}
    )
    dual = frozen_course(gram, lazy.data.y_train, ran.recordings["steps"].times[0])
    assert torch.allclose(dual, ran.parameters["dual"][0, :, 0], rtol=1e-9, atol=1e-12)


def test_pictures_are_sorted_by_label(lazy):
    shown, positive = lazy.pictures(20), lazy.positive(20)
    assert shown.shape == (2, 20, 20)
    assert (np.diff(positive) >= 0).all()
    assert positive.sum() == int((lazy.data.y_test[:20] > 0).sum())
    assert np.allclose((shown.astype(float) ** 2).mean((1, 2)), 1.0, rtol=1e-5)


def test_cases_name_networks_that_exist():
    with pytest.raises(ValueError, match="net must be one of"):
        Setting.of("widths net=transformer P=5 h=4 at=1", "digits", 10)
    with pytest.raises(ValueError, match="at or alpha"):
        Setting.of("widths P=5 h=4", "digits", 10)
    wide = Setting.of("gram net=wide_resnet P=5 h=64 alpha=2", "digits", 0)
    assert wide.alpha == 2.0
    assert wide.network((1, 8, 8), 0, "float64", "cpu")(torch.zeros(2, 1, 8, 8).double()).shape == (
        2,
        1,
    )
    narrow = Setting.of("gram net=wide_resnet P=5 h=10 alpha=2", "digits", 0)
    with pytest.raises(ValueError, match="64 k channels"):
        narrow.network((1, 8, 8), 0, "float64", "cpu")
