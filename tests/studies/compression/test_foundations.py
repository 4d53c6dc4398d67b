"""The foundations at their smallest size, and what each verdict rests on."""

import numpy as np
import pytest

from regimes.lab import InlineExecutor, Store, find, override, run
from regimes.studies.compression.foundations._claims import settled_neurons
from regimes.studies.compression.foundations._figures import boundary_velocity


@pytest.fixture(scope="module")
def study():
    return find("compression/foundations")


@pytest.fixture(scope="module")
def summary(study, smoke_store):
    return run(study, store=smoke_store, executor=InlineExecutor())


@pytest.fixture(scope="module")
def verdicts(summary):
    return {claim.id: claim.verdict for claim in summary.claims}


@pytest.mark.parametrize(
    "id", ["COMP-01", "COMP-03", "COMP-04", "COMP-06", "COMP-08", "COMP-09", "COMP-35", "COMP-49"]
)
def test_what_needs_no_statistics_holds_at_any_size(verdicts, id):
    assert verdicts[id] == "reproduced"


def test_wrong_numbers_are_not_reproduced(study, summary):
    """Each measurement is spoilt, and the verdict turns."""
    data = summary.dataset.copy(deep=True)
    data["stripe_mass"] += 1e-4
    data["drift_of_growth"] += 1.0
    data["gradient_error_float64"] += 1e-6
    data["drift_predicted"] += 1.0
    data["flags"] *= 0
    data["perpendicular_rate"] *= 0.4  # what the printed equation gives
    data["ode_lambda"] *= 1e-30
    data["null_error"] += 1.0
    data["rotated_gap"] += 1.0
    data["information"] *= 0.5
    data["identity_gap"] += 1.0
    spoilt = {claim.id: claim.verdict for claim in study.claims(data)}
    assert set(spoilt.values()) == {"not reproduced"}
    assert set(spoilt) == set(study.judges)


@pytest.mark.parametrize(
    ("name", "value", "id"),
    [
        ("stripe_mass", 0.49998, "COMP-01"),
        ("radius", 1.1776, "COMP-01"),
        ("stripe_label_mean", 0.05, "COMP-01"),
        ("drift_of_growth", 0.03, "COMP-02"),
        ("gradient_error_float32", 2e-6, "COMP-03"),
        ("gradient_error_float64", 2e-12, "COMP-03"),
        ("split_error", 2e-12, "COMP-35"),
        ("spectrum_error", 2e-10, "COMP-35"),
        ("null_error", 2e-12, "COMP-35"),
        ("rotated_gap", 2e-9, "COMP-47"),
        ("lemma_gap", 2e-10, "COMP-47"),
        ("identity_gap", 2e-12, "COMP-49"),
        ("value_gap", 1e-4, "COMP-49"),
    ],
)
def test_every_number_decides_its_own_claim(study, summary, verdicts, name, value, id):
    data = summary.dataset.copy(deep=True)
    data[name] = 0 * data[name] + value
    found = {claim.id: claim.verdict for claim in study.claims(data)}
    assert found[id] == "not reproduced"
    assert {k: v for k, v in found.items() if k != id} == {
        k: v for k, v in verdicts.items() if k != id
    }


@pytest.mark.parametrize(
    ("bits", "verdict"),
    [
        ((0.59, 0.44, 0.9), "reproduced"),
        ((0.59, 0.51, 0.9), "not reproduced"),  # noise axes take too little
        ((0.59, 0.44, 0.8), "not reproduced"),  # zero padding adds too little
        ((0.54, 0.4, 0.9), "not reproduced"),
        ((0.59, 0.488, 0.9), "inconclusive"),
        ((0.59, 0.44, 0.852), "inconclusive"),
    ],
)
def test_every_number_of_the_estimator_has_an_error(study, summary, bits, verdict):
    data = summary.dataset.isel(draw=[0] * 4)
    spread = np.array([[-1, 1, 1], [1, -1, -1], [1, -1, 1], [-1, 1, -1]])
    data["information"] = (("draw", "case"), np.array(bits) + 0.01 * spread)
    assert {c.id: c.verdict for c in study.claims(data)}["COMP-48"] == verdict


@pytest.mark.parametrize(
    ("apart", "verdict"), [(0.0, "reproduced"), (0.001, "reproduced"), (0.02, "not reproduced")]
)
def test_rotated_data_are_learned_as_well(study, summary, apart, verdict):
    data = summary.dataset.copy(deep=True)
    plain = 0.03 + 0.001 * np.arange(data.sizes["data_set"])
    data["rotation_error"] = (("frame", "data_set"), np.stack([plain, plain + apart]))
    assert {c.id: c.verdict for c in study.claims(data)}["COMP-47"] == verdict


def decided(study, data):
    return [claim.id for claim in study.claims(data) if claim.verdict != "inconclusive"]


def test_a_check_that_has_not_run_leaves_its_own_claims_undecided(study, summary):
    data = summary.dataset.copy(deep=True)
    data["trial_state"][:] = 1
    data["trial_state"].loc["attractors"] = 2
    assert decided(study, data.drop_vars("ode_z")) == ["COMP-06", "COMP-08"]
    unclear = {claim.id: claim.why for claim in study.claims(data)}
    assert unclear["COMP-49"] == "the block exponents has not run"
    drawn = [title for title, figure in study.figures(data).items() if figure.data]
    assert drawn == ["Where kinks come to rest (fig. 3b)", "The drift of neurons"]


@pytest.mark.filterwarnings("error")
def test_one_draw_has_no_error(study, summary):
    one = summary.dataset.isel(network=[0], draw=[0], data_set=[0], ode_neuron=[0], limit=[0])
    decisions = decided(study, one)
    assert not {"COMP-02", "COMP-47", "COMP-48"} & set(decisions)
    assert {"COMP-01", "COMP-35", "COMP-49"} <= set(decisions)
    study.figures(one)


def test_several_seeds_are_judged_together(study, tmp_path):
    cheap = ("balance", "gradient", "drift", "divergence", "kernel-split")
    fresh = {"seed": (100, 101), "samples": 2000, "monte_carlo": 2000, "ode_neurons": 10}
    place = {"store": Store(tmp_path), "executor": InlineExecutor()}
    data = run(study, **place, block=cheap, **fresh).dataset
    assert (data.sizes["unit"], data.sizes["ode_neuron"]) == (10, 20)
    assert float(data.label_error) == pytest.approx(4000**-0.5)
    assert {"COMP-01", "COMP-03", "COMP-04", "COMP-35"} <= set(decided(study, data))


def test_checks_that_ran_alone_are_found_under_their_former_keys(study):
    whole = study.parameters("cpu")
    known = {config.point["block"]: config for config in study.configs(whole)}
    part = override(whole, ["block=balance,rotation"])
    for config in study.configs(part):
        former = study.formerly(whole, known[config.point["block"]])
        assert study.formerly(part, config).key == former.key
    other = override(whole, ["rotation.seed=0,1,2"])
    former = {c.point["block"]: study.formerly(other, c) for c in study.configs(other)}
    assert former["rotation"] is None
    assert former["balance"].key == study.formerly(whole, known["balance"]).key


def test_settled_means_near_an_attractor_of_the_same_sign(summary):
    at = summary.dataset.copy(deep=True)
    at["ode_zeta"][:] = 0.45
    at["ode_sign_w"][:] = 1.0
    at["ode_sign_w"][0] = -1.0
    assert settled_neurons(at).tolist() == [True] + [False] * (at.sizes["ode_neuron"] - 1)


@pytest.mark.parametrize("signs", [(1, -1), (1, 1), (-1, 1)])
def test_the_velocity_of_the_boundary_is_that_of_the_trajectory(signs):
    import torch

    from regimes.studies.compression._attractors import EDGES
    from regimes.theory import neuron_trajectories

    z, velocity = boundary_velocity(*signs)
    place = torch.as_tensor(z)
    w = place / place.norm(dim=1, keepdim=True) * (signs[0] * place[:, :1].sign())
    b = -(w * place).sum(1) / 2**0.5
    beta = signs[1] * (1 + b**2).sqrt()
    soon = neuron_trajectories(w, b, beta, [0.0, 1e-4], interfaces=EDGES, rtol=1e-9).z
    np.testing.assert_allclose((soon[1] - soon[0]).numpy() / 1e-4, velocity, atol=5e-3)
