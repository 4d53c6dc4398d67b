import copy
import dataclasses

import pytest
import torch

from regimes import data
from regimes.data import Dataset, Points


def make(n=6, shape=(3,), labels="binary", **changes):
    source = torch.Generator().manual_seed(0)
    x = torch.randn((n, *shape), generator=source)
    y = {
        "binary": 1.0 - 2.0 * (torch.arange(n) % 2),
        "classes": torch.arange(n) % 3,
        "real": torch.linspace(0, 1, n),
    }[labels]
    options = {"name": "made", "description": ("by hand",), "seed": 7} | changes
    fields = {"x_train": x, "y_train": y, "x_test": x[:4], "y_test": y[:4]} | options
    return Dataset(**fields)


def test_sizes_and_shape():
    ds = make(n=6, shape=(1, 2, 3))
    assert (ds.n_train, ds.n_test, ds.in_shape) == (6, 4, (1, 2, 3))


@pytest.mark.parametrize(
    ("labels", "classes"), [("binary", (-1, 1)), ("classes", (0, 1, 2)), ("real", ())]
)
def test_classes(labels, classes):
    assert make(labels=labels).classes == classes


def test_classes_of_one_sign_are_still_two():
    ds = make(n=4, y_train=torch.ones(4), y_test=torch.ones(4))
    assert ds.classes == (-1, 1)


def test_points_are_inputs_with_their_labels():
    ds = make()
    assert ds.train.x is ds.x_train
    assert ds.test.y is ds.y_test


def test_frozen():
    ds = make(probes={"grid": Points(torch.ones(2, 3), torch.ones(2))})
    with pytest.raises(dataclasses.FrozenInstanceError):
        ds.name = "other"
    with pytest.raises(TypeError):
        ds.probes["grid"] = None


def test_repr_says_everything():
    ds = make(
        n=6, labels="classes", probes={"more": Points(torch.ones(2, 3), torch.tensor([0, 1]))}
    )
    assert repr(ds) == (
        "Dataset 'made': 6 train, 4 test, x of shape (3,), float32, seed 7\n"
        "  y train  0: 2, 1: 2, 2: 2\n"
        "  y test   0: 2, 1: 1, 2: 1\n"
        "  probes   more: 2\n"
        "  made by  1. by hand"
    )


def test_repr_of_real_targets_empty_tests_and_many_classes():
    ds = make(labels="real", x_test=torch.zeros(0, 3), y_test=torch.zeros(0))
    assert "real, 0 to 1, mean 0.5" in repr(ds)
    assert "y test   none" in repr(ds)
    many = make(n=40, y_train=torch.arange(40) % 20, y_test=torch.arange(4))
    assert "20 classes, 2 to 2 each" in repr(many)


def test_to_moves_x_and_real_labels_only():
    probes = {"more": Points(torch.ones(2, 3), torch.ones(2))}
    ds = make(probes=probes).to(dtype=torch.float64)
    assert {ds.x_train.dtype, ds.y_train.dtype, ds.x_test.dtype, ds.y_test.dtype} == {torch.float64}
    assert ds.probes["more"].x.dtype == ds.probes["more"].y.dtype == torch.float64
    assert make(labels="classes").to(dtype=torch.float64).y_train.dtype == torch.int64
    assert make().to(device="cpu").x_train.dtype == torch.float32
    with pytest.raises(ValueError, match="dtype must be"):
        make().to(dtype=torch.int32)


def test_deepcopy_keeps_everything():
    ds = make(probes={"more": Points(torch.ones(2, 3), torch.ones(2))})
    again = copy.deepcopy(ds)
    assert repr(again) == repr(ds)
    assert torch.equal(again.x_train, ds.x_train)
    assert again.x_train is not ds.x_train
    assert torch.equal(again.probes["more"].x, torch.ones(2, 3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_train": [[1.0]]}, "train: x and y must be torch tensors"),
        ({"x_train": torch.ones(6, 3, dtype=torch.int64)}, "floating point tensor"),
        ({"x_train": torch.ones(6), "x_test": torch.ones(4)}, r"shape \(n, \*in_shape\)"),
        ({"y_train": torch.ones(5)}, r"train: y must have shape \(6,\)"),
        ({"y_train": torch.ones(6, 1)}, r"train: y must have shape \(6,\)"),
        ({"y_train": torch.ones(6, dtype=torch.float64)}, "y must be torch.float32 like x"),
        ({"y_train": torch.ones(6, dtype=torch.int32)}, "torch.int64"),
        ({"x_test": torch.ones(4, 2)}, r"test: x is .* shape \(2,\)"),
        ({"x_test": torch.ones(4, 3).double(), "y_test": torch.ones(4).double()}, "test: x is"),
        ({"y_test": torch.ones(4, dtype=torch.int64)}, "test: y is torch.int64"),
        ({"x_train": torch.full((6, 3), float("nan"))}, "train: x holds NaN"),
        ({"y_test": torch.full((4,), float("inf"))}, "test: y holds NaN or infinite"),
        ({"x_train": torch.ones(0, 3), "y_train": torch.ones(0)}, "training set is empty"),
        ({"name": ""}, "name must be a non-empty string"),
        ({"description": "one line"}, "description must be a tuple"),
        ({"description": (1,)}, "description must be a tuple"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"probes": {"p": Points(torch.ones(2, 4), torch.ones(2))}}, r"probes\['p'\]: x is"),
        ({"probes": {"p": torch.ones(2, 3)}}, r"must be Points\(x, y\)"),
    ],
)
def test_bad_parts_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_pipe_applies_from_left_to_right():
    ds = data.digits(n_train=50, n_test=20).pipe(data.flatten(), data.sphere(), data.parity())
    assert [line.split("(")[0] for line in ds.description[1:]] == ["flatten", "sphere", "parity"]
    other = data.digits(n_train=50, n_test=20).pipe(data.parity(), data.sphere(), data.flatten())
    assert [line.split("(")[0] for line in other.description[1:]] == ["parity", "sphere", "flatten"]
    assert torch.equal(ds.x_train, other.x_train)
    centred_first = data.digits(50, 20).pipe(data.center(), data.sphere())
    centred_last = data.digits(50, 20).pipe(data.sphere(), data.center())
    assert not torch.allclose(centred_first.x_train, centred_last.x_train)


def test_a_device_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"'cuda' was asked for, but torch .* sees no GPU"):
        data.stripe(n_train=2, n_test=2, d=2).to(device="cuda")


def test_pipe_refuses_what_is_no_transform():
    with pytest.raises(ValueError, match="pipe takes transforms"):
        make().pipe("parity")
    with pytest.raises(ValueError, match="not a Dataset"):
        make().pipe(lambda ds: ds.x_train)
