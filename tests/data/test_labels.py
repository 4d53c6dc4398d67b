import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data
from regimes.data import Dataset, Points


def classes(labels, dtype=torch.float32):
    y = torch.tensor(labels)
    x = torch.zeros(len(y), 2, dtype=dtype)
    return Dataset(x, y, x, y, name="labels", probes={"p": Points(x, y)})


@given(st.lists(st.integers(0, 25), min_size=1, max_size=40))
def test_parity_is_the_sign_of_the_last_bit(labels):
    ds = classes(labels).pipe(data.parity())
    expected = [(-1.0) ** label for label in labels]
    assert ds.y_train.tolist() == ds.y_test.tolist() == ds.probes["p"].y.tolist() == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(lambda ls: max(ls) >= 5))
def test_first_half_is_a_threshold(labels):
    ds = classes(labels).pipe(data.first_half())
    assert ds.y_train.tolist() == [1.0 if label < 5 else -1.0 for label in labels]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.lists(st.booleans(), min_size=10))
def test_binary_follows_any_mapping(labels, signs):
    mapping = {label: 1 if signs[label] else -1 for label in range(10)}
    ds = classes(labels).pipe(data.binary(mapping))
    assert ds.y_train.tolist() == [float(mapping[label]) for label in labels]


def test_signs_take_the_dtype_of_x(dtype):
    ds = classes([0, 1, 7], dtype=dtype)
    for transform in (data.parity(), data.first_half(), data.binary({0: 1, 1: -1, 7: 1})):
        assert ds.pipe(transform).y_train.dtype == dtype


@pytest.mark.parametrize("mapping", [{}, {0: 2}, {0: 0}, [1, -1], None])
def test_binary_needs_signs(mapping):
    with pytest.raises(ValueError, match="mapping must"):
        data.binary(mapping)


def test_grouping_errors():
    with pytest.raises(ValueError, match=r"nothing about classes \[7\]"):
        classes([0, 7]).pipe(data.binary({0: 1}))
    with pytest.raises(ValueError, match="leaves no class for -1"):
        classes([0, 1]).pipe(data.first_half())
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        data.first_half(0)
    for transform in (data.parity(), data.first_half(), data.binary({1: 1, -1: -1})):
        with pytest.raises(ValueError, match="groups integer class labels"):
            data.stripe(5, 5, d=2).pipe(transform)


def test_noise_changes_the_stated_share_of_training_labels():
    n, ratio = 20_000, 0.5
    clean = classes([i % 10 for i in range(n)])
    noisy = clean.pipe(data.label_noise(ratio, seed=3))
    share = (noisy.y_train != clean.y_train).double().mean().item()
    expected = 0.9 * ratio
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / n)
    assert torch.equal(noisy.y_test, clean.y_test)
    assert torch.equal(noisy.probes["p"].y, clean.probes["p"].y)
    assert torch.equal(noisy.x_train, clean.x_train)
    assert f"{round(share * n)} of {n} training labels changed" in noisy.description[-1]
    counts = torch.bincount(noisy.y_train, minlength=10).double()
    assert (counts - n / 10).abs().max() < 5 * math.sqrt(n * 0.1 * 0.9)


def test_noise_is_nested_in_the_ratio_and_seeded():
    clean = classes([i % 10 for i in range(500)])
    small, large = (clean.pipe(data.label_noise(r, seed=0)).y_train for r in (0.2, 0.6))
    hit = small != clean.y_train
    assert torch.equal(small[hit], large[hit])
    assert torch.equal(large, clean.pipe(data.label_noise(0.6, seed=0)).y_train)
    assert not torch.equal(large, clean.pipe(data.label_noise(0.6, seed=1)).y_train)


def test_noise_limits():
    clean = classes([i % 10 for i in range(200)])
    assert torch.equal(clean.pipe(data.label_noise(0.0, seed=0)).y_train, clean.y_train)
    binary = data.stripe(400, 10, d=2)
    redrawn = binary.pipe(data.label_noise(1.0, seed=0))
    assert set(redrawn.y_train.tolist()) == {-1.0, 1.0}
    flipped = binary.pipe(data.label_noise(1.0, seed=0, flip=True))
    assert torch.equal(flipped.y_train, -binary.y_train)


@given(st.integers(1, 60), st.floats(0, 1))
def test_flip_flips_an_exact_number(n, ratio):
    clean = data.random_labels(n, 1, d=2)
    noisy = clean.pipe(data.label_noise(ratio, seed=5, flip=True))
    assert int((noisy.y_train != clean.y_train).sum()) == round(ratio * n)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan"), "a"])
def test_bad_ratio(ratio):
    with pytest.raises(ValueError, match="ratio must"):
        data.label_noise(ratio, seed=0)


def test_noise_errors():
    with pytest.raises(ValueError, match="seed must be an integer"):
        data.label_noise(0.1, seed=0.5)
    with pytest.raises(ValueError, match="needs class labels"):
        data.noisy_regression().pipe(data.label_noise(0.1, seed=0))
    with pytest.raises(ValueError, match="flips \\+1/-1 labels"):
        classes([0, 1]).pipe(data.label_noise(0.1, seed=0, flip=True))
