import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes.data._split import interleave, pooled_sizes


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_every_prefix_is_balanced_until_a_class_runs_out(labels):
    y = torch.tensor(labels)
    order = interleave(y)
    assert sorted(order.tolist()) == list(range(len(y)))
    smallest = min(labels.count(c) for c in set(labels))
    taken = y[order][: smallest * len(set(labels))]
    for n in range(len(taken) + 1):
        counts = [int((taken[:n] == c).sum()) for c in set(labels)]
        assert max(counts) - min(counts) <= 1
    # order is kept within each class
    for c in set(labels):
        assert bool((order[y[order] == c].diff() > 0).all())


@pytest.mark.parametrize(
    ("asked", "got"),
    [((3, None), (3, 7)), ((None, 4), (6, 4)), ((2, 5), (2, 5)), ((10, 0), (10, 0))],
)
def test_sizes(asked, got):
    assert pooled_sizes(*asked, 10, "ten") == got


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((None, None), "give n_train"),
        ((11, None), "do not fit into the 10 points of ten"),
        ((6, 5), "do not fit"),
        ((None, 10), "do not fit"),
        ((10, None), "say n_test=0"),
    ],
)
def test_bad_sizes(asked, message):
    with pytest.raises(ValueError, match=message):
        pooled_sizes(*asked, 10, "ten")
