"""The Hessian of outputs against second derivatives taken one by one."""

import pytest
import torch

from regimes import nets
from regimes.tangent import output_hessian


def test_it_is_what_two_backward_passes_give():
    net = nets.FullyConnected(3, 4, 2, activation="tanh", bias=True, dtype=torch.float64)
    x = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3)
    weights = torch.tensor([1.0, -1.0, 2.0, 0.5, -0.3], dtype=torch.float64)
    parameters = list(net.parameters())
    total = (net(x)[:, 0] * weights).mean()
    slopes = torch.autograd.grad(total, parameters, create_graph=True)
    rows = []
    for slope in torch.cat([each.flatten() for each in slopes]):
        second = torch.autograd.grad(slope, parameters, retain_graph=True, materialize_grads=True)
        rows.append(torch.cat([each.flatten() for each in second]))
    torch.testing.assert_close(output_hessian(net, x, weights), torch.stack(rows))


def test_one_weight_per_input():
    net = nets.FullyConnected(3, 4)
    with pytest.raises(ValueError, match=r"shape \(5,\), one per input"):
        output_hessian(net, torch.ones(5, 3), torch.ones(4))
