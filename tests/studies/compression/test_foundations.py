"""The foundations at their smallest size, and what each verdict rests on."""

import numpy as np
import pytest

from regimes.lab import LocalExecutor, Store, find, run
from regimes.studies.compression.foundations import settled_neurons
from regimes.studies.compression.foundations._figures import boundary_velocity


@pytest.fixture(scope="module")
def study():
    return find("compression/foundations")


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    place = Store(tmp_path_factory.mktemp("foundations"))
    return run(study, store=place, executor=LocalExecutor(1, threads=1))


@pytest.fixture(scope="module")
def verdicts(summary):
    return {claim.id: claim.verdict for claim in summary.claims}


def test_the_smoke_size_judges_every_claim(study, summary):
    assert summary.complete
    assert (summary.failed, summary.flagged) == (0, 0)
    assert [claim.id for claim in summary.claims] == list(study.judges)
    assert all(claim.why for claim in summary.claims)


@pytest.mark.parametrize(
    "id", ["COMP-01", "COMP-03", "COMP-04", "COMP-06", "COMP-08", "COMP-09", "COMP-35", "COMP-49"]
)
def test_what_needs_no_statistics_holds_at_any_size(verdicts, id):
    assert verdicts[id] == "reproduced"


def test_drawings_have_captions(study, summary):
    figures = study.figures(summary.dataset)
    assert len(figures) == 5
    assert all(figure.layout.meta["caption"] for figure in figures.values())


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


def test_a_part_of_the_checks_can_run_alone(study, summary):
    part = summary.dataset.sel(check=["exponents"])
    assert [claim.id for claim in study.claims(part)] == ["COMP-49"]
    assert study.figures(part) == {}


def test_a_check_that_failed_is_passed_over(study, summary):
    data = summary.dataset.copy(deep=True)
    data["trial_state"][:] = 1
    data["trial_state"][0] = 2
    assert [claim.id for claim in study.claims(data.drop_vars("ode_z"))] == ["COMP-01"]
    assert data.ode_z.dims == ("moment", "ode_neuron", "axis")


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
