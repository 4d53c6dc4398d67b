import pytest
import torch
import torch.nn.functional as F

from regimes import nets


def test_parameter_counts():
    assert nets.LeNet5((3, 32, 32)).n_params == 136_121  # padded "same"
    classic = nets.LeNet5((3, 32, 32), 10, padding="valid", pool="max")
    assert classic.n_params == 62_006  # padded "valid"


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("pool", ["average", "max"])
def test_formula(padding, pool, draw):
    net = nets.LeNet5(
        (2, 18, 17), 3, padding=padding, pool=pool, activation="gelu", dtype=torch.float64
    )
    pooled = {"average": F.avg_pool2d, "max": F.max_pool2d}[pool]
    w1, b1, w2, b2, w3, b3, w4, b4, w5, b5 = net.parameters()
    x = draw(2, 2, 18, 17)
    z = pooled(F.gelu(F.conv2d(x, w1, b1, padding=padding)), 2)
    z = pooled(F.gelu(F.conv2d(z, w2, b2, padding=padding)), 2).flatten(1)
    z = F.gelu(z @ w3.T + b3)
    z = F.gelu(z @ w4.T + b4)
    torch.testing.assert_close(net(x), z @ w5.T + b5, rtol=1e-12, atol=1e-14)


def test_starts_as_the_spec_says():
    net = nets.LeNet5((3, 32, 32), dtype=torch.float64)
    weights = [p.detach() for p in net.parameters() if p.ndim > 1]
    biases = [p for p in net.parameters() if p.ndim == 1]
    assert float(weights[2].square().mean()) == pytest.approx(1 / 1024, rel=0.02)
    assert all(not b.any() for b in biases)
    assert len(biases) == len(weights) == 5


def test_features_can_be_chosen():
    net = nets.LeNet5((12, 12), features=(4, 8, 32, 16))
    assert [p.shape[0] for p in net.parameters() if p.ndim == 1] == [4, 8, 32, 16, 1]


def test_bad_input():
    with pytest.raises(ValueError, match="unknown padding 'sane'; use one of: same, valid"):
        nets.LeNet5((8, 8), padding="sane")
    with pytest.raises(ValueError, match="unknown pool"):
        nets.LeNet5((8, 8), pool="mean")
    with pytest.raises(ValueError, match="at least 16 x 16, got 15 x 20"):
        nets.LeNet5((15, 20), padding="valid")
    with pytest.raises(ValueError, match="at least 4 x 4, got 3 x 8"):
        nets.LeNet5((3, 8))
    with pytest.raises(ValueError, match="4 sizes"):
        nets.LeNet5((8, 8), features=(6, 16))
    # the stated least sizes are enough
    assert nets.LeNet5((16, 16), padding="valid")(torch.zeros(1, 1, 16, 16)).shape == (1, 1)
    assert nets.LeNet5((4, 4))(torch.zeros(1, 1, 4, 4)).shape == (1, 1)
