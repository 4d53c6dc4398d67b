import math

import pytest
import torch

from regimes import data

N = 200_000


@pytest.mark.parametrize("variant", ["disk", "half_flipped", "yin_yang_1", "yin_yang_2"])
def test_classes_are_balanced(variant):
    ds = data.disk(N, variant=variant, grid=0)
    share = (ds.y_train > 0).double().mean().item()
    assert abs(share - 0.5) < 5 * math.sqrt(0.25 / N)
    assert not ds.probes


def test_points_fill_the_square():
    x = data.disk(N, grid=0).x_train.double()
    assert x.abs().max() <= 1
    assert x.mean(0).abs().max() < 5 * math.sqrt(1 / 3 / N)
    assert (x.square().mean(0) - 1 / 3).abs().max() < 5 * math.sqrt(4 / 45 / N)


def test_label_is_the_rule(dtype):
    ds = data.disk(2000, dtype=dtype)
    inside = ds.x_train.double().square().sum(1) <= 2 / math.pi
    assert torch.equal(ds.y_train, torch.where(inside, 1.0, -1.0).to(dtype))


def test_half_flipped_turns_the_upper_half():
    plain, flipped = data.disk(2000), data.disk(2000, variant="half_flipped")
    sign = torch.where(plain.x_train[:, 1] > 0, -1.0, 1.0)
    assert torch.equal(plain.x_train, flipped.x_train)
    assert torch.equal(flipped.y_train, plain.y_train * sign)


@pytest.mark.parametrize(
    ("variant", "spots"),
    [
        ("yin_yang_1", [(0.5, -0.5), (-0.5, 0.5)]),
        ("yin_yang_2", [(-0.5, -0.5), (-0.5, 0.5)]),
    ],
)
def test_yin_yang(variant, spots):
    ds = data.disk(3000, variant=variant, dtype=torch.float64)
    for (x_1, x_2), y in zip(ds.x_train.tolist(), ds.y_train.tolist(), strict=True):
        expected = -1 if x_2 > 0 else 1
        if any(math.hypot(x_1 - a, x_2 - b) < 0.3 for a, b in spots):
            expected *= -1
        assert y == expected


def test_grid_includes_the_borders_and_has_x_2_in_rows():
    x, y = data.disk(10, grid=50).probes["grid"]
    image = x.reshape(50, 50, 2)
    assert image[0, 0].tolist() == [-1, -1]
    assert image[0, 49].tolist() == [1, -1]
    assert image[49, 0].tolist() == [-1, 1]
    steps = image[7, :, 0].diff()
    assert torch.allclose(steps, torch.full_like(steps, 2 / 49))
    assert y.reshape(50, 50)[25, 25] == 1
    assert y.reshape(50, 50)[0, 0] == -1


def test_bad_input():
    with pytest.raises(ValueError, match="unknown variant 'dsik'; use one of: disk"):
        data.disk(10, variant="dsik")
    with pytest.raises(ValueError, match="grid=1"):
        data.disk(10, grid=1)
    with pytest.raises(ValueError, match="grid must be"):
        data.disk(10, grid=-2)
