import math

import pytest
import torch
import torch.nn.functional as F

from regimes import nets


@pytest.mark.parametrize(("kernel", "side"), [(5, 28), (3, 8)])
def test_formula(kernel, side, draw):
    """docs/themes/regimes.md, "Networks"."""
    net = nets.ConvNet4((2, side, side), 3, width=6, kernel_size=kernel, dtype=torch.float64)
    *convolutions, readout = net.parameters()
    x = draw(2, 2, side, side)
    z = x
    for weight, stride in zip(convolutions, (2, 1, 2, 1), strict=True):
        z = F.conv2d(z, weight, None, stride, 1) / math.sqrt(weight.shape[1] * kernel**2)
        z = 1.4043833476318723 * torch.log1p(torch.exp(5 * z)) / 5
    expected = z.mean((2, 3)) @ readout.T / math.sqrt(6)
    torch.testing.assert_close(net(x), expected, rtol=1e-11, atol=1e-13)


def test_mean_field_is_ntk_over_sqrt_h(draw):
    ntk, mean_field = (
        nets.ConvNet4((8, 8), width=9, kernel_size=3, parametrization=p, dtype=torch.float64)
        for p in ("ntk", "mean_field")
    )
    x = draw(3, 1, 8, 8)
    torch.testing.assert_close(mean_field(x), ntk(x) / 3, rtol=1e-12, atol=1e-14)


def test_starts_from_unit_normals_without_biases():
    net = nets.ConvNet4((3, 32, 32))
    assert net.n_params == 25 * 50 * (3 + 50 + 50 + 50) + 50
    weights = [p.detach() for p in net.parameters()]
    assert all(w.ndim > 1 for w in weights)
    assert float(weights[1].square().mean()) == pytest.approx(1.0, rel=0.02)


def test_bad_input():
    with pytest.raises(ValueError, match=r"images of 14 x 14 vanish .* kernel_size=3"):
        nets.ConvNet4((14, 14))
    assert nets.ConvNet4((14, 14), kernel_size=3, width=2)(torch.zeros(1, 14, 14)).shape == (1, 1)
    with pytest.raises(ValueError, match="unknown parametrization 'standard'"):
        nets.ConvNet4((28, 28), parametrization="standard")
    with pytest.raises(ValueError, match="width must be"):
        nets.ConvNet4((28, 28), width=0)
