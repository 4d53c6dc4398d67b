import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data
from regimes.data import Dataset


def labelled(labels, n_test=None):
    y = torch.tensor(labels)
    x = torch.arange(len(y)).float().reshape(-1, 1)
    return Dataset(x, y, x[:n_test], y[:n_test], name="labelled")


@given(st.integers(1, 60), st.one_of(st.none(), st.integers(0, 99)))
def test_balanced_within_one(n, seed):
    ds = labelled([0] * 30 + [1] * 40 + [4] * 25).pipe(data.subset(n, seed=seed))
    counts = [int((ds.y_train == c).sum()) for c in (0, 1, 4)]
    assert sum(counts) == n
    assert max(counts) - min(counts) <= 1
    assert ds.n_test == 95
    assert bool((ds.x_train[:, 0].diff() > 0).all())  # order is kept


def test_without_seed_the_first_points_are_kept():
    ds = labelled([0, 0, 1, 1, 0, 1])
    assert ds.pipe(data.subset(2)).x_train[:, 0].tolist() == [0, 2]
    assert ds.pipe(data.subset(2, balanced=False)).x_train[:, 0].tolist() == [0, 1]
    assert ds.pipe(data.subset(n_test=4, balanced=False)).x_test[:, 0].tolist() == [0, 1, 2, 3]


def test_with_seed_points_are_drawn():
    ds = labelled([i % 2 for i in range(100)])
    one, again, other = (ds.pipe(data.subset(20, 20, seed=s)) for s in (0, 0, 1))
    assert torch.equal(one.x_train, again.x_train)
    assert not torch.equal(one.x_train, other.x_train)
    assert not torch.equal(one.x_train, one.x_test)


def test_counts():
    ds = labelled([i % 5 for i in range(50)]).pipe(data.subset(counts={1: 10, 3: 2}, n_test=4))
    assert {c: int((ds.y_train == c).sum()) for c in ds.classes} == {1: 10, 3: 2}
    assert sorted(ds.y_test.tolist()) == [1, 1, 3, 3]
    signs = data.stripe(100, 50, d=2).pipe(data.subset(counts={1: 20, -1: 5}))
    assert (int((signs.y_train == 1).sum()), signs.n_train, signs.n_test) == (20, 25, 50)


def test_n_test_zero_is_allowed():
    assert data.stripe(10, 10, d=2).pipe(data.subset(n_test=0)).n_test == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs n_train, n_test or counts"),
        ({"n_train": 2, "counts": {0: 1}}, "not both"),
        ({"n_train": 0}, "n_train must be an integer >= 1"),
        ({"n_test": -1}, "n_test must be an integer >= 0"),
        ({"counts": {}}, "counts must be a dictionary"),
        ({"counts": {0: 0}}, r"counts\[0\] must be"),
        ({"n_train": 2, "seed": "a"}, "seed must be an integer"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        data.subset(**options)


def test_more_than_there_is():
    ds = labelled([0] * 10 + [1] * 3)
    with pytest.raises(ValueError, match="n_train=14 is larger than the 13 train points"):
        ds.pipe(data.subset(14))
    with pytest.raises(ValueError, match="has 3 points of class 1, 5 were asked for"):
        ds.pipe(data.subset(10))
    with pytest.raises(ValueError, match=r"counts names classes \[7\]"):
        ds.pipe(data.subset(counts={7: 1}))
    with pytest.raises(ValueError, match="real targets"):
        data.noisy_regression().pipe(data.subset(10))
    assert data.noisy_regression().pipe(data.subset(10, balanced=False)).n_train == 10
    with pytest.raises(ValueError, match=r"no points of classes \(1,\)"):
        labelled([0] * 10 + [1] * 3, n_test=5).pipe(data.subset(counts={1: 2}))
