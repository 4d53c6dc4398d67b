"""The foundations at their smallest size, and what each verdict rests on."""

import numpy as np
import pytest
import torch
import xarray as xr

from regimes.lab import LocalExecutor, Store, find, run
from regimes.nets import FullyConnected, stack
from regimes.studies.regimes._setting import members, task
from regimes.studies.regimes.foundations._ends import watched
from regimes.studies.regimes.foundations._start import gradient_sizes
from regimes.studies.regimes.foundations._start_claims import farthest, slope
from regimes.studies.regimes.foundations._training import potential_gap, twin_gap

WIDTHS = ("noise_width", "layer_width", "move_width", "field_width")


@pytest.fixture(scope="module")
def study():
    return find("regimes/foundations")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("foundations"))
    return run(study, store=place, executor=LocalExecutor(1, threads=1))


@pytest.fixture
def ideal(summary):
    """The smoke run with what depends on size replaced by what theory says."""
    data = summary.dataset.copy(deep=True)
    for name in WIDTHS:
        data[name] = data[name] * 100
    data["process_covariance"][:] = data.process_predicted
    data["process_kurtosis"][:] = 0.0
    data = with_networks(data, 1000)
    wave = 1 + 0.02 * np.sin(np.arange(40))  # seeds differ a little
    h = data.noise_width.values
    data["noise"][:] = h[:, None] ** -0.5 * wave[: data.noise.shape[1]]
    h = data.layer_width.values
    last = data.sizes["weight_layer"] - 1
    for layer in range(last + 1):
        power = -0.5 if layer in (0, last) else -1.0
        data["gradient_size"][:, :, layer] = wave[:2, None] * h**power
    scale = np.array([0.1, 1.0, 10.0])[:, None]
    data["preact_speed"][:] = h[:, None, None, None] ** -0.5 / scale * wave[:2]
    data["moved"][0] = 0.7 * wave[:2]
    data["moved"][1] = data.move_width.values[:, None, None] ** -0.5 * wave[:2]
    h = data.field_width.values
    data["field_variance"][:] = 3 / h
    data["field_left_out"][:] = 3 / h[:, None] * wave[: data.sizes["field_seed"]]
    return data


def with_networks(data, count):
    """The data as if so many networks had been drawn; only their figure uses the values."""
    values = xr.DataArray(np.zeros((count, data.sizes["place"])), dims=("process_network", "place"))
    return data.drop_vars("process_values").assign(process_values=values)


def verdicts(study, data):
    return {claim.id: claim.verdict.value for claim in study.claims(data)}


def test_the_smoke_size_judges_every_claim(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert all(claim.why for claim in summary.claims)


@pytest.mark.parametrize(
    "id", ["REG-01", "REG-02", "REG-03", "REG-04", "REG-05", "REG-66", "REG-71", "REG-74", "REG-75"]
)
def test_what_needs_no_width_holds_at_any_size(study, summary, id):
    assert verdicts(study, summary.dataset)[id] == "reproduced"


@pytest.mark.parametrize("id", ["REG-07", "REG-08", "REG-09", "REG-70", "REG-73"])
def test_narrow_networks_decide_no_exponent(study, summary, id):
    assert verdicts(study, summary.dataset)[id] == "inconclusive"


def test_what_theory_says_is_reproduced(study, ideal):
    assert set(verdicts(study, ideal).values()) == {"reproduced"}


def test_wrong_numbers_are_not_reproduced(study, ideal):
    """Each measurement is spoilt, and the verdict turns."""
    data = ideal
    data["same_time_gap"] += 1e-6
    data["factor_check"] += 1e-3
    data["hinge_gap_place"] += 0.1
    data["speed"] *= 1.001
    data["count"] += 1
    data["process_kurtosis"] += 2.0
    data["noise"] /= data.noise_width**0.3
    data["gradient_size"][:, :, 1] *= data.layer_width.values**0.2
    data["preact_speed"][:, :, 2] *= 1.01
    data["neighbour"][0] = data.neighbour[1].values
    data["moved"][0] *= data.move_width.values[:, None, None] ** -0.5
    data["descent_distance"][0] *= 2.0
    data["twin_gap"] += 1e-6
    data["late_weight"][..., 1] *= 0.5
    data["check_over"][0, 0, 1] += 1
    found = verdicts(study, data)
    assert set(found.values()) == {"not reproduced"}
    assert set(found) == set(study.judges)


def test_figures_have_captions(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures) == 13
    assert all(figure.layout.meta["caption"] for figure in figures.values())


def test_parts_that_have_not_run_are_undecided(study, summary):
    data = summary.dataset.copy(deep=True)
    data["trial_state"][:] = 0
    data["trial_state"][0] = 2
    rest = data.drop_vars(["same_gap", "moved", "check_worst"])
    found = verdicts(study, rest)
    assert {id for id, verdict in found.items() if verdict == "reproduced"} == {
        "REG-02",
        "REG-03",
        "REG-05",
    }
    assert set(found) == set(study.judges)
    assert list(study.figures(rest)) == ["FL Fig. 1: soft hinge and hinge"]


def test_a_run_that_did_not_end_is_not_called_ended(study, ideal):
    ideal["stop_fitted"][0, 0] = 0.0
    assert verdicts(study, ideal)["REG-74"] == "not reproduced"


def test_gradient_sizes_are_those_of_automatic_differentiation():
    nets = [FullyConnected(4, 6, 3, seed=s, dtype=torch.float64) for s in range(2)]
    x = torch.linspace(-1, 1, 20, dtype=torch.float64).reshape(5, 4)
    found = gradient_sizes(stack(nets), x)
    for row, net in zip(found, nets, strict=True):
        squares = [torch.zeros(()) for _ in net.layers]
        for one in x:
            slopes = torch.autograd.grad(net(one[None]).sum(), list(net.parameters()))
            squares = [s + g.square().mean() / len(x) for s, g in zip(squares, slopes, strict=True)]
        torch.testing.assert_close(row, torch.stack(squares).sqrt().to(row))


def test_every_step_is_watched_and_agrees_with_the_record():
    data = task("digits", 12, 5)
    start, alpha = members(10, 8, 2, [1.0, 50.0], [0])
    changes, run = watched(start, data, alpha, 1e-2, 60, None)
    for i, each in enumerate(changes):
        assert len(each) == int(run.steps[i])
        assert (each[:, 0] < 0.1).all()
        assert each[:, 0].max() == pytest.approx(float(run.worst["output"][i]), rel=1e-9)
        assert each[:, 1].max() == pytest.approx(float(run.worst["gradient"][i]), rel=1e-9)


def test_the_density_of_neurons_moves_down_its_potential():
    data = task("digits", 15, 5)
    assert potential_gap(data, width=9) < 1e-13
    assert twin_gap(data, width=9, steps=10) < 1e-13


def test_slopes_and_the_one_farthest_off():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    exponent, error = slope(x, np.stack([x**-0.5, 1.1 * x**-0.5]))
    assert exponent == pytest.approx(-0.5)
    assert error < 1e-6
    assert farthest([(0.9, 0.1), (1.2, 0.2), (1.0, 0.3)], 1.0) == (1.2, 0.2)
