"""Trained networks told apart, against a loop over runs and points."""

import pytest
import torch

from regimes import data, flow, nets
from regimes.measure import RunClass, active_points, fit_outcomes, p_star

X = torch.randn(12, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def networks():
    make = lambda seed: nets.FullyConnected(3, 4, 2, bias=True, seed=seed, dtype=torch.float64)  # noqa: E731
    return nets.stack(make, range(3))


def test_points_are_active_where_no_layer_is_dark():
    members = networks()
    members.parameters["layers.0.bias"][1] = -100.0  # nothing is on
    _, layers = members.template.layers_stacked(members.parameters, X)
    found = active_points(layers[:-1])
    for i in range(3):
        inner = members.member(i).preactivations(X)
        for mu in range(len(X)):
            assert bool(found[i, mu]) == all(bool((z[mu] > 0).any()) for z in inner)
    assert not found[1].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_number_is_that_of_its_definition(dtype):
    draw = torch.Generator().manual_seed(1)
    F = torch.randn(4, 20, generator=draw, dtype=torch.float64).to(dtype)
    F[0] = 3.0
    y = torch.where(torch.rand(4, 20, generator=draw) < 0.5, -1.0, 1.0).to(dtype)
    y[0] = 1.0
    own = torch.arange(20) < torch.tensor([20, 20, 12, 20])[:, None]
    hidden = [torch.randn(4, 20, 2, generator=draw).to(dtype)]
    hidden[0][3] = -1.0  # dead everywhere
    losses = torch.tensor([[1.0] * 10 + [0.0], [0.5] * 11, [0.5] * 11, [0.5] * 11], dtype=dtype)
    found = fit_outcomes(F, y, losses, hidden, parameters=30, margin=0.5, own=own)
    for i in range(4):
        points = [mu for mu in range(20) if own[i, mu]]
        short = [0.5 - float(y[i, mu] * F[i, mu]) for mu in points]
        assert found.unfitted[i] == sum(s > 0 for s in short)
        assert found.misclassified[i] == sum(s >= 0.5 for s in short)
        assert found.closest[i] == pytest.approx(min(abs(s) for s in short), rel=1e-6)
        assert found.share[i] == found.unfitted[i] / 30
    assert found.classes.tolist() == [
        RunClass.SAT, RunClass.JAMMED, RunClass.JAMMED, RunClass.DEAD,
    ]  # fmt: skip
    assert found.falling.tolist() == [1, 0, 0, 0]
    smooth = fit_outcomes(F, y, losses, parameters=30, margin=0.5, own=own)
    assert smooth.classes[3] == RunClass.JAMMED  # no unit without a slope


def test_bad_input():
    F, y, losses = torch.ones(2, 3), torch.ones(3), torch.ones(2, 4)
    with pytest.raises(ValueError, match=r"F must have shape \(R, P\)"):
        fit_outcomes(F[0], y, losses, parameters=3)
    with pytest.raises(ValueError, match="one for each hidden layer"):
        fit_outcomes(F, y, losses, [], parameters=3)
    with pytest.raises(ValueError, match="own must be truth values"):
        fit_outcomes(F, y, losses, parameters=3, own=torch.ones(3))


def test_trained_networks_fit_few_points_and_jam_on_many():
    """A scan over points at one architecture: every network has its own points, and as many."""
    counts, most = [30, 34, 480, 500], 500
    sets = [
        data.random_labels(most, 0, 4, seed=seed, dtype=torch.float64).pipe(data.sphere())
        for seed in range(4)
    ]
    make = lambda seed: nets.FullyConnected(  # noqa: E731
        4, 8, 2, parametrization="standard", bias=True, init="orthogonal", seed=seed,
        dtype=torch.float64,
    )  # fmt: skip
    run = flow.descend(
        nets.stack(make, range(4)),
        sets,
        n_train=counts,
        rate=5e-3,
        optimiser="adam",
        schedule=flow.hold_then_lower(600),
        loss=flow.quadratic_hinge(0.5),
        subtract_init=False,
        divide_by="1",
        until="fitted",
        max_steps=600,
        check_every=50,
    )
    x, y = (torch.stack(each) for each in zip(*((s.x_train, s.y_train) for s in sets), strict=True))
    net = run.ensemble.template
    _, layers = net.layers_stacked(run.parameters, x, member_inputs=True)
    found = fit_outcomes(
        run.outputs_train[..., 0],
        y,
        run.losses,
        layers[:-1],
        parameters=nets.n_weights(4, 8, 2),
        margin=0.5,
        own=torch.arange(most) < torch.tensor(counts)[:, None],
    )
    assert found.classes[:2].tolist() == [RunClass.SAT] * 2
    assert (found.classes[2:] == RunClass.JAMMED).all()
    assert (found.share[2:] > 1).all()
    stop = p_star([32, 490], (found.classes == RunClass.JAMMED).reshape(2, 2).T.astype(float))
    assert stop.bracket == (32.0, 490.0)
