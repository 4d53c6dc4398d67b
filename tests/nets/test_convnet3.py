import pytest
import torch
import torch.nn.functional as F

from regimes import nets


@pytest.mark.parametrize("side", [8, 19])
def test_formula(side, draw):
    net = nets.ConvNet3((2, side, side), 3, width=4, dtype=torch.float64)
    *layers, weight, bias = net.parameters()
    x = draw(2, 2, side, side)
    z = x
    for kernel, shift in zip(layers[::2], layers[1::2], strict=True):
        z = F.max_pool2d(torch.relu(F.conv2d(z, kernel, shift, padding=1)), 2)
    torch.testing.assert_close(net(x), z.flatten(1) @ weight.T + bias)


def test_starts_by_xavier_with_the_counts_of_the_paper_s_images():
    net = nets.ConvNet3((3, 32, 32), 10, width=64)
    assert net.n_params == 27 * 64 + 2 * 9 * 64**2 + 3 * 64 + 10 * (16 * 64 + 1)
    second = net.features[3].requires_grad_(False)
    assert float(second.weight.square().mean()) == pytest.approx(1 / (9 * 64), rel=0.03)
    assert all(float(p.detach().abs().max()) == 0 for n, p in net.named_parameters() if "bias" in n)
    members = nets.stack(lambda seed: nets.ConvNet3((1, 8, 8), 2, width=3, seed=seed), range(3))
    x = torch.ones(2, 1, 8, 8)
    torch.testing.assert_close(members(x)[1], members.member(1)(x).detach())


def test_small_images_are_refused():
    with pytest.raises(ValueError, match="sides of 8 at least"):
        nets.ConvNet3((3, 7, 32))
