"""The networks on voxels: published sizes, seeds, invariance (EQU-36, -37, -39)."""

import pytest
import torch

from regimes.nets import voxels

COUNTS = {
    voxels.TetrisSteerable: 41_198,
    voxels.TetrisCNN: 6_220_882,
    voxels.ShapesSteerable: 142_617,
    voxels.CathCNN: 15_878_764,
    voxels.CathSteerable: 143_560,
}
SMALL = {
    "steerable": lambda seed: voxels.SteerableCNN(
        (1, 9, 9, 9), 3, types=((2, 2), (4,)), strides=(2, 1), size=3, padding=2, seed=seed
    ),
    "norm": lambda seed: voxels.SteerableCNN(
        (1, 9, 9, 9), 3, types=((2, 2), (4,)), strides=(1, 1), size=3, padding=1, seed=seed,
        nonlinearity="norm", batch_norm=True, dropout=0.2,
    ),
    "cnn": lambda seed: voxels.VoxelCNN(
        (1, 9, 9, 9), 3, channels=(4, 5), strides=(2, 1), seed=seed
    ),
    "cath": lambda seed: voxels.CathSteerable(
        (1, 9, 9, 9), 3, counts=(1, 2), blocks=(1, 1), features=4, max_order=1, seed=seed
    ),
    "cath cnn": lambda seed: voxels.CathCNN(
        (1, 9, 9, 9), 3, channels=(2, 4), blocks=(1, 1), dropout=0.1, seed=seed
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", COUNTS, ids=lambda kind: kind.__name__)
def test_published_numbers_of_parameters(kind):
    assert kind().n_params == COUNTS[kind]


def test_sides_along_the_published_networks():
    for net, sides in (
        (voxels.TetrisSteerable(), [40, 22, 13, 17]),
        (voxels.ShapesSteerable(), [34, 38, 21, 25, 15, 19, 12, 16]),
    ):
        side, found = net.in_shape[-1], []
        for layer in net.features:
            if isinstance(layer, voxels.SteerableConv3d):
                side = (side + 2 * layer.padding - layer.size) // layer.stride + 1
                found.append(side)
            if isinstance(layer, voxels.LowPass):
                found[-1] = side = -(-side // layer.stride)
        assert found == sides


@pytest.mark.parametrize("name", SMALL)
def test_seeds_and_shapes(name):
    x = torch.randn(2, 1, 9, 9, 9, generator=torch.Generator().manual_seed(0))
    one, two, other = (SMALL[name](seed).eval() for seed in (0, 0, 1))
    assert one(x).shape == (2, 3)
    assert torch.equal(one(x), two(x))
    assert not torch.allclose(one(x), other(x))
    assert torch.equal(other(x), one.reseeded(1).eval()(x))
    assert torch.equal(one(x), one(x[:, 0]))
    with pytest.raises(ValueError, match="takes inputs"):
        one(x.repeat(1, 2, 1, 1, 1))


@pytest.mark.parametrize("name", ["steerable", "norm", "cath"])
def test_steerable_networks_are_invariant_under_the_cube(name):
    net = SMALL[name](0).double().eval()
    x = torch.randn(2, 1, 9, 9, 9, generator=torch.Generator().manual_seed(0)).double()
    for R in voxels.cube_symmetries()[1:8]:
        assert torch.allclose(net(voxels.move_grid(x, R)), net(x), atol=1e-10)


def test_ordinary_networks_are_not():
    net = SMALL["cnn"](0).double()
    x = torch.randn(2, 1, 9, 9, 9, generator=torch.Generator().manual_seed(0)).double()
    assert (net(voxels.move_grid(x, voxels.cube_symmetries()[3])) - net(x)).abs().max() > 1e-3


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="scalars alone"):
        voxels.SteerableCNN((1, 9, 9, 9), types=((2, 2),), strides=(1,))
    with pytest.raises(ValueError, match="one number for each"):
        voxels.VoxelCNN((1, 9, 9, 9), channels=(2, 2), strides=(1,))
    with pytest.raises(ValueError, match="in_shape"):
        voxels.TetrisCNN((9, 9))
    with pytest.raises(ValueError, match="stage"):
        voxels.CathCNN(channels=(2,), blocks=(1, 1))
