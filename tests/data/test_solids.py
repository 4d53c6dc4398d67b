"""Families of solids."""

import pytest
import torch

from regimes import data


def test_solids_fit_into_the_ball_and_fill_some_of_it():
    made = data.solids(40, 20, 20, rotate="none")
    axis = (torch.arange(20) - 9.5) / 10
    outside = sum(a**2 for a in torch.meshgrid(axis, axis, axis, indexing="ij")) > 1
    share = made.x_train.mean((1, 2, 3, 4))
    assert made.x_train[:, 0][:, outside].sum() == 0
    assert share.min() > 0.005
    assert share.max() < 0.4
    assert made.y_train.bincount().tolist() == [4] * 10


def test_rotations_are_of_the_same_solid():
    still, turned = (data.solids(20, 1, 32, rotate=kind) for kind in ("none", "both"))
    ratio = turned.x_train.sum((1, 2, 3, 4)) / still.x_train.sum((1, 2, 3, 4))
    assert (ratio - 1).abs().median() < 0.05
    assert not torch.equal(still.x_train, turned.x_train)
    one, two = (data.solids(20, 3, 16, rotate=kind) for kind in ("test", "none"))
    assert torch.equal(one.x_train, two.x_train)
    assert not torch.equal(one.x_test, two.x_test)


def test_sets_do_not_change_each_other():
    one, two = data.solids(5, 3, 12), data.solids(9, 5, 12)
    assert torch.equal(one.x_train, two.x_train[:5])
    assert torch.equal(one.x_test, two.x_test[:3])


@pytest.mark.parametrize("options", [{"classes": 11}, {"rotate": "train"}, {"side": 0}])
def test_what_does_not_fit_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options)) if "classes" not in options else "10"):
        data.solids(2, 2, **options)
