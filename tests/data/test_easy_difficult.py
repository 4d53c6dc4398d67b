import math

import pytest
import torch

from regimes import data


def digits(kind, **options):
    sizes = {"n_easy": 1000, "n_difficult": 400, "n_test": 300} | options
    return data.easy_difficult(kind, easy="digits", **sizes)


def rows(x):
    return {tuple(row.tolist()) for row in x.flatten(1)}


@pytest.mark.parametrize("kind", ["random", "shuffled"])
def test_parts_and_probes(kind):
    ds = digits(kind)
    assert (ds.n_train, ds.n_test) == (1400, 300)
    easy, difficult = ds.probes["easy"], ds.probes["difficult"]
    assert torch.equal(easy.x, ds.x_train[:100])
    assert torch.equal(difficult.x, ds.x_train[1000:1100])
    assert torch.equal(difficult.y, ds.y_train[1000:1100])
    assert rows(ds.x_train[:1000]).isdisjoint(rows(ds.x_test))


def test_easy_labels_are_true():
    everything = data.digits(1797, 0)
    truth = {
        tuple(x.flatten().tolist()): y
        for x, y in zip(everything.x_train, everything.y_train.tolist(), strict=True)
    }
    ds = digits("random")
    for x, y in ((ds.x_train[:1000], ds.y_train[:1000]), (ds.x_test, ds.y_test)):
        assert [truth[tuple(row.tolist())] for row in x.flatten(1)] == y.tolist()
    drawn, images = ds.y_train[1000:], ds.x_train[1000:].flatten(1)
    kept = sum(
        truth[tuple(row.tolist())] == y for row, y in zip(images, drawn.tolist(), strict=True)
    )
    # the true label survives with probability 1/10
    assert abs(kept / 400 - 0.1) < 5 * math.sqrt(0.09 / 400)


def test_shuffled_pixels_are_one_permutation():
    plain, mixed = digits("random"), digits("shuffled")
    before, after = plain.x_train[1000:].flatten(1), mixed.x_train[1000:].flatten(1)
    assert torch.equal(before.sort(dim=1).values, after.sort(dim=1).values)
    assert not torch.equal(before, after)
    # the same reordering for every image: column sums are permuted
    assert torch.allclose(before.sum(0).sort().values, after.sum(0).sort().values)
    assert torch.equal(plain.x_train[:1000], mixed.x_train[:1000])
    assert not torch.equal(plain.y_train[1000:], mixed.y_train[1000:])


def test_same_seed_same_bits(dtype):
    one, again, other = (digits("random", seed=s, dtype=dtype) for s in (0, 0, 1))
    assert torch.equal(one.x_train, again.x_train)
    assert torch.equal(one.y_train, again.y_train)
    assert not torch.equal(one.y_train, other.y_train)
    assert one.x_train.dtype == dtype


def test_kmnist_from_its_test_file(write_set, bare):
    root, _ = write_set("mnist")
    _, held = write_set("kmnist", sizes=[("t10k", 20)])
    ds = data.easy_difficult("kmnist", n_easy=20, n_difficult=10, n_test=5, n_probe=4, root=root)
    assert (ds.n_train, ds.n_test, ds.name) == (30, 5, "mnist+kmnist")
    assert rows(ds.x_train[20:]) <= rows(held["test"][0].unsqueeze(1).float() / 255)
    no_tests = data.easy_difficult(
        "random", n_easy=20, n_difficult=10, n_test=0, n_probe=4, root=root
    )
    assert no_tests.n_test == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "hard"}, "unknown kind 'hard'"),
        ({"easy": "digit"}, "unknown easy image set 'digit'; use one of: digits"),
        ({"n_easy": 1500}, "2200 images of digits are needed, its files hold 1797"),
        ({"n_easy": 0}, "n_easy must be"),
        ({"n_difficult": 0}, "n_difficult must be"),
        ({"n_probe": 401}, "n_probe=401"),
        ({"n_test": -1}, "n_test must be"),
    ],
)
def test_bad_input(options, message):
    options = {"kind": "random", "easy": "digits", "n_easy": 1000, "n_difficult": 400} | options
    with pytest.raises(ValueError, match=message):
        data.easy_difficult(**({"n_test": 300} | options))


def test_images_of_two_shapes(write_set, bare):
    root, _ = write_set("kmnist")
    with pytest.raises(
        ValueError, match=r"KMNIST images have shape \(1, 28, 28\), those of digits"
    ):
        digits("kmnist", n_difficult=10, n_probe=5, root=root)


@pytest.mark.data
def test_real_mixture(data_root):
    ds = data.easy_difficult("kmnist", root=data_root)
    assert (ds.n_train, ds.n_test) == (11_000, 1000)
    # cursive characters have more ink than digits
    assert ds.probes["difficult"].x.mean() > 1.2 * ds.probes["easy"].x.mean()
