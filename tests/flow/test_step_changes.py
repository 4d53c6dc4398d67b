"""What steps changed, told apart from the flow, against what the flow says of itself."""

import pytest
import torch

from regimes import data, flow, nets


def run(sets, **options):
    def network(seed):
        return nets.FullyConnected(3, 8, 2, activation="softplus_5", seed=seed, dtype=torch.float64)

    return flow.gradient_flow(
        network,
        sets,
        loss="softhinge_20",
        ensemble=[0, 0],
        alpha=[0.3, 20.0],
        tolerances=flow.Tolerances(output=0.1, gradient=1e-2),
        max_steps=40,
        observe={"changes": flow.step_changes("softhinge_20")},
        **options,
    )


@pytest.mark.parametrize("subtract_init", [True, False])
def test_every_step_is_watched_and_agrees_with_the_record(subtract_init):
    points = data.stripe(20, 1, d=3, dtype=torch.float64)
    found = run(points, subtract_init=subtract_init)
    for i, seen in enumerate(found.recordings["changes"].values):
        assert len(seen) == int(found.steps[i]) + 1
        assert (seen[0] == 0).all()
        assert float(seen[:, 0].max()) == pytest.approx(float(found.worst["output"][i]), rel=1e-9)
        worst = float(found.worst["gradient"][i])
        assert float(seen[:, 1].max()) == pytest.approx(worst, rel=1e-9)


def test_members_with_points_of_their_own_are_refused():
    sets = [data.stripe(20, 1, d=3, seed=seed, dtype=torch.float64) for seed in range(2)]
    with pytest.raises(ValueError, match="share their training points"):
        run(sets)
