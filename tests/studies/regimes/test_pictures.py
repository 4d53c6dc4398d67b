"""Images with fewer pixels."""

import pytest
import torch

from regimes import data
from regimes.studies.regimes._pictures import pictures


def test_pixels_are_averaged_before_anything_else():
    raw = data.digits(n_train=60, n_test=40, seed=0, dtype=torch.float64)
    squares = raw.x_train.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    rest = raw.x_test.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    centred = squares - torch.cat([squares, rest]).mean(0)
    expected = centred / centred.flatten(1).norm(dim=1).view(-1, 1, 1, 1) * 4.0  # sqrt(16 pixels)
    made = pictures("digits", 60, 40, shrink=2)
    torch.testing.assert_close(made.x_train, expected)
    assert made.in_shape == (1, 4, 4)
    assert made.classes == (-1, 1)


def test_components_and_precision():
    made = pictures("digits", 60, 40, components=5, dtype="float32")
    assert made.in_shape == (5,)
    assert made.x_train.dtype == torch.float32


@pytest.mark.parametrize(
    ("options", "message"),
    [({"images": "svhn"}, "must be one of"), ({"shrink": 3}, "no whole squares")],
)
def test_what_cannot_be_had(options, message):
    with pytest.raises(ValueError, match=message):
        pictures(options.get("images", "digits"), 10, 10, shrink=options.get("shrink", 1))


@pytest.mark.data
@pytest.mark.parametrize(("images", "side"), [("mnist", 14), ("fashion_mnist", 14), ("kmnist", 14)])
def test_the_sets_at_hand(data_root, images, side):
    made = pictures(images, 20, 30, shrink=2)
    assert made.in_shape == (1, side, side)
    assert (made.n_train, made.n_test) == (20, 30)


@pytest.mark.data
def test_colours_are_kept(data_root):
    assert pictures("cifar10", 20, 30, shrink=4).in_shape == (3, 8, 8)
