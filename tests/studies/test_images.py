"""One builder of image tasks: against plain steps, and what its options change."""

import numpy as np
import pytest
import torch

from regimes import data
from regimes.studies._images import SETS, image_task


def plain(n_train=60, n_test=40, seed=0):
    """Pixels of the digits and of the test digits, as vectors."""
    raw = data.digits(n_train=n_train, n_test=n_test, seed=seed, dtype=torch.float64)
    return raw.x_train, raw.x_test


def on_sphere(x):
    return x / x.flatten(1).norm(dim=1).view(-1, *[1] * (x.ndim - 1)) * x[0].numel() ** 0.5


def test_images_are_centred_and_on_the_sphere_and_labelled_by_parity():
    x, z = plain()
    mean = torch.cat([x, z]).mean(0)
    made = image_task("digits", 60, 40)
    torch.testing.assert_close(made.x_train, on_sphere(x - mean))
    torch.testing.assert_close(made.x_test, on_sphere(z - mean))
    classes = image_task("digits", 60, 40, labels="classes").y_train
    assert torch.equal(made.y_train, 1.0 - 2.0 * (classes % 2))


def test_pixels_are_averaged_before_anything_else():
    x, z = (part.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2)) for part in plain())
    made = image_task("digits", 60, 40, shrink=2)
    torch.testing.assert_close(made.x_train, on_sphere(x - torch.cat([x, z]).mean(0)))
    assert made.in_shape == (1, 4, 4)


def test_components_are_those_of_the_prepared_images():
    made = image_task("digits", 60, 40, components=5)
    x = torch.cat([image_task("digits", 60, 40, flat=True).x_train,
                   image_task("digits", 60, 40, flat=True).x_test]).numpy()  # fmt: skip
    x = x - x.mean(0)
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    expected = x @ vectors[:, :-6:-1] / values[:-6:-1].mean() ** 0.5
    found = torch.cat([made.x_train, made.x_test]).numpy()
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)


def test_components_are_whitened_and_put_on_the_sphere():
    options = {"centre": False, "components": 5, "scale": "whiten"}
    bare = image_task("digits", 600, 400, sphere="none", **options)
    both = torch.cat([bare.x_train, bare.x_test])
    torch.testing.assert_close(both.T @ both / 1000, torch.eye(5, dtype=torch.float64))
    made = image_task("digits", 600, 400, sphere="components", **options)
    torch.testing.assert_close(made.x_train, on_sphere(bare.x_train))


def test_raw_pixels_stay_as_they_are():
    made = image_task("digits", 60, 40, centre=False, sphere="none", labels="first_half", flat=True)
    assert torch.equal(made.x_train, plain()[0].flatten(1))
    assert set(made.y_train.tolist()) == {-1.0, 1.0}


def test_larger_sets_of_images_prepared_together_hold_smaller_ones():
    pool = {"together": (1000, None), "components": 10}
    few, more = (image_task("digits", n, 30, **pool) for n in (20, 200))
    assert torch.equal(few.x_train, more.x_train[:20])
    assert torch.equal(few.x_test, more.x_test)
    assert image_task("digits", 20, **pool).n_test == 797
    alone = image_task("digits", 20, 30, components=10)
    assert not torch.allclose(alone.x_train, few.x_train)


def test_kept_and_fresh_images_are_the_same_bits():
    kept, fresh = (image_task("digits", 60, 40, seed=3, keep=keep) for keep in (True, False))
    assert torch.equal(kept.x_train, fresh.x_train)
    assert not torch.equal(kept.x_train, image_task("digits", 60, 40).x_train)


def test_precision_of_the_preparation_and_of_the_task():
    double = image_task("digits", 60, 40)
    single = image_task("digits", 60, 40, dtype="float32")
    assert torch.equal(single.x_train, double.x_train.float())
    rough = image_task("digits", 60, 40, precision="float32")
    assert rough.x_train.dtype == torch.float64
    torch.testing.assert_close(rough.x_train, double.x_train, rtol=1e-4, atol=1e-5)
    assert not torch.equal(rough.x_train, double.x_train)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"images": "svhn"}, f"must be one of {', '.join(SETS)}"),
     ({"shrink": 3}, "no whole squares of side 3"), ({"shrink": 0}, "shrink must be"),
     ({"files": "both"}, "unknown files"), ({"sphere": "pixels"}, "unknown sphere"),
     ({"labels": "odd"}, "unknown labels"), ({"n_train": 2000}, "1797")],
)  # fmt: skip
def test_what_cannot_be_had(options, message):
    with pytest.raises(ValueError, match=message):
        image_task(**({"images": "digits", "n_train": 10, "n_test": 10} | options))


@pytest.mark.data
@pytest.mark.parametrize("images", ["mnist", "fashion_mnist", "kmnist"])
def test_the_sets_at_hand(data_root, images):
    made = image_task(images, 20, 30, shrink=2)
    assert made.in_shape == (1, 14, 14)
    assert (made.n_train, made.n_test) == (20, 30)


@pytest.mark.data
def test_colours_are_kept(data_root):
    assert image_task("cifar10", 20, 30, shrink=4).in_shape == (3, 8, 8)


@pytest.mark.data
def test_files_are_pooled_as_asked(data_root):
    raw = {"centre": False, "sphere": "none", "keep": False}
    least, test, everything, split = (
        image_task("mnist", 20, 30, files=files, **raw).x_train
        for files in ("least", "test", "all", "split")
    )
    assert torch.equal(least, test)
    assert not torch.equal(least, everything)
    expected = data.mnist(20, 30, dtype=torch.float64).x_train
    assert torch.equal(split, expected)
    many = image_task("mnist", 9000, 2000, **raw).x_train[:20]
    assert torch.equal(many, everything)
