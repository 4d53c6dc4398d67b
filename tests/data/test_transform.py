import copy
import dataclasses

import pytest
import torch

from regimes import data
from regimes.data import Dataset, Transform
from regimes.data._dataset import map_x


def double(dataset: Dataset, factor: float) -> tuple[Dataset, str]:
    return map_x(dataset, lambda x: x * factor), "a note"


def test_appends_its_line_and_note():
    ds = data.stripe(5, 5, d=2)
    changed = Transform("scale", double, {"factor": 2.0})(ds)
    assert changed.description == (*ds.description, "scale(factor=2.0): a note")
    assert torch.equal(changed.x_test, 2 * ds.x_test)
    assert len(ds.description) == 1


def test_every_transform_shows_itself():
    shown = {
        repr(data.binary({0: 1, 1: -1})): "binary(mapping={0: 1, 1: -1})",
        repr(data.parity()): "parity()",
        repr(data.first_half()): "first_half(k=5)",
        repr(data.center()): "center(fit='train')",
        repr(data.sphere()): "sphere()",
        repr(data.standardize()): "standardize(fit='train')",
        repr(data.standardize(mean=0.5, std=2)): "standardize(mean=[0.5], std=[2.0])",
        repr(data.pca(3, "all", None)): "pca(k=3, fit='all', scale=None)",
        repr(data.flatten()): "flatten()",
        repr(data.grayscale()): "grayscale()",
        repr(data.label_noise(0.5, 1)): "label_noise(ratio=0.5, seed=1, flip=False)",
        repr(data.subset(10)): "subset(n_train=10, balanced=True)",
        repr(data.compress(2)): "compress(factor=2.0, informative=1)",
        repr(data.compress(2, [0, 2])): "compress(factor=2.0, informative=[0, 2])",
        repr(data.rotate(torch.eye(3))): "rotate(Q=<3 x 3 tensor>)",
    }
    for seen, expected in shown.items():
        assert seen == expected


def test_frozen():
    transform = data.compress(2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        transform.name = "other"
    with pytest.raises(TypeError):
        transform.options["factor"] = 3.0


def test_deepcopy_works_the_same():
    ds = data.stripe(5, 5, d=3)
    again = copy.deepcopy(data.compress(2.0))
    assert torch.equal(again(ds).x_train, data.compress(2.0)(ds).x_train)


def test_takes_data_sets_only():
    with pytest.raises(ValueError, match=r"parity\(\) takes a Dataset, got Tensor"):
        data.parity()(torch.ones(3))
