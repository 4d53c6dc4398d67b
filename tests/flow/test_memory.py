"""What a flow holds stays within the memory that it was given."""

import dataclasses
import re

import pytest
import torch
from torch import nn

from regimes import data, flow, nets

MAKES = {
    "shallow": lambda seed: nets.FullyConnected(4, 8, seed=seed),
    "deep": lambda seed: nets.FullyConnected(4, 8, 2, activation="softplus_5", seed=seed),
    "any": lambda seed: nets.LeNet5((1, 8, 8), 1, seed=seed),
}


@pytest.mark.parametrize("name", MAKES)
def test_a_flow_is_refused_with_the_least_that_would_do(name):
    ds = data.random_labels(30, 10, 64 if name == "any" else 4)
    if name == "any":
        images = {key: getattr(ds, key).view(-1, 1, 8, 8) for key in ("x_train", "x_test")}
        ds = dataclasses.replace(ds, **images)
    options = {"loss": "softhinge_20", "max_steps": 2, "ensemble": 6}
    with pytest.raises(ValueError, match="too little") as error:
        flow.gradient_flow(MAKES[name], ds, memory="4KiB", **options)
    least = re.search(r"give ([0-9.]+) (\w+) or more", str(error.value))
    enough = f"{1.06 * float(least[1])}{least[2]}"
    tight = flow.gradient_flow(MAKES[name], ds, memory=enough, **options)
    free = flow.gradient_flow(MAKES[name], ds, **options)
    assert "at a time" in tight.notes[0]
    torch.testing.assert_close(tight.outputs_test, free.outputs_test, rtol=1e-3, atol=1e-4)


def test_one_network_flows_as_it_does_among_others():
    def make(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.BatchNorm1d(6), nn.Linear(6, 1))

    ds = data.random_labels(20, 5, 4, dtype=torch.float64)
    options = {"loss": "softhinge_20", "max_steps": 30}
    two = flow.gradient_flow(nets.stack([make(0).double(), make(1).double()]), ds, **options)
    one = flow.gradient_flow(make(1).double(), ds, **options)
    torch.testing.assert_close(one.outputs_test[0], two.outputs_test[1], rtol=1e-9, atol=1e-9)
    for name, value in one.parameters.items():
        torch.testing.assert_close(value[0], two.parameters[name][1], rtol=1e-9, atol=1e-9)
