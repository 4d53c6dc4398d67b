"""Trained networks told apart, against a loop over runs and points."""

import pytest
import torch

from regimes import nets
from regimes.measure import RunClass, active_points, fit_outcomes

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
