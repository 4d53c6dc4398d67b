"""Networks that return their outputs in other forms than (n, c) flow like those that do."""

import pytest
import torch
from torch import nn

from regimes import data, flow, nets


class Gives(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.inner = nets.MLP(3, 5, 2, 1, seed=0, dtype=torch.float64)
        self.function = function

    def forward(self, x):
        return self.function(self.inner(x))


DATA = data.stripe(n_train=8, n_test=4, d=3, seed=0, dtype=torch.float64)


def trained(network, how, output=None):
    if how == "descend":
        return flow.descend(network, DATA, rate=0.5, max_steps=3, output=output)
    end = {"loss": "mse", "t_end": 0.1, "until": None, "max_steps": 20}
    return flow.gradient_flow(network, DATA, output=output, **end)


@pytest.mark.parametrize("how", ["gradient_flow", "descend"])
@pytest.mark.parametrize(
    ("function", "output"),
    [
        (lambda y: y[:, 0], None),
        (lambda y: {"logits": y, "loss": y.sum()}, None),
        (lambda y: (y, 2 * y), lambda o: o[0]),
    ],
)
def test_they_flow_alike(how, function, output):
    plain = trained(Gives(lambda y: y), how)
    stacked = nets.stack([Gives(function)], output=output)
    for run in (trained(Gives(function), how, output), trained(stacked, how)):
        assert run.outputs_test.shape == (1, 4, 1)
        torch.testing.assert_close(run.outputs_test, plain.outputs_test)


def test_several_tensors_are_refused():
    with pytest.raises(ValueError, match="must return one tensor, got tuple with 2"):
        trained(Gives(lambda y: (y, y)), "descend")
    with pytest.raises(ValueError, match="output must be a function"):
        trained(Gives(lambda y: y), "descend", "logits")
    with pytest.raises(ValueError, match=r"networks must return outputs \(n, c\)"):
        trained(Gives(lambda y: y[:, None]), "descend")
