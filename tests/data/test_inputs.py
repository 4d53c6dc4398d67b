import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data
from regimes.data import Dataset, Points


def images(shape=(3, 4, 5), n=20, dtype=torch.float64, seed=0):
    source = torch.Generator().manual_seed(seed)
    x = (3 * torch.randn((2 * n, *shape), generator=source, dtype=torch.float64) + 1).to(dtype)
    y = torch.arange(2 * n) % 2
    return Dataset(x[:n], y[:n], x[n:], y[n:], name="images", probes={"p": Points(x[5:9], y[5:9])})


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_sphere_puts_every_set_on_the_sphere(n, d, seed, scale):
    ds = images((d,), n=max(n, 10), seed=seed)
    ds = ds.pipe(lambda s: Dataset(s.x_train * scale, s.y_train, s.x_test, s.y_test, name="s"))
    on = ds.pipe(data.sphere())
    for x in (on.x_train, on.x_test):
        assert torch.allclose(x.square().sum(1), torch.full((len(x),), float(d)).double())
    # only the length changes
    cosine = torch.nn.functional.cosine_similarity(on.x_train, ds.x_train)
    assert torch.allclose(cosine, torch.ones_like(cosine))


def test_sphere_counts_all_components_of_an_image(dtype, tolerance):
    on = images(dtype=dtype).pipe(data.sphere())
    norms = on.probes["p"].x.flatten(1).square().sum(1)
    assert torch.allclose(norms, torch.full_like(norms, 60), rtol=tolerance)
    assert on.x_train.dtype == dtype


def test_sphere_refuses_zero_points():
    ds = data.stripe(5, 5, d=2)
    zero = Dataset(ds.x_train, ds.y_train, ds.x_test * 0, ds.y_test, name="zero")
    with pytest.raises(ValueError, match="5 of the 5 test points are zero"):
        zero.pipe(data.sphere())


def test_center_uses_the_training_set_or_all():
    ds = images()
    centred = ds.pipe(data.center())
    mean = ds.x_train.mean(0)
    assert torch.allclose(centred.x_train, ds.x_train - mean)
    assert torch.allclose(centred.x_test, ds.x_test - mean)
    assert torch.allclose(centred.probes["p"].x, ds.probes["p"].x - mean)
    both = ds.pipe(data.center(fit="all"))
    total = torch.cat([both.x_train, both.x_test]).mean(0)
    assert total.abs().max() < 1e-12


def test_standardize_by_channel():
    ds = images()
    done = ds.pipe(data.standardize())
    assert done.x_train.mean((0, 2, 3)).abs().max() < 1e-12
    assert torch.allclose(done.x_train.var((0, 2, 3), correction=0), torch.ones(3).double())
    shift, scale = ds.x_train.mean((0, 2, 3)), ds.x_train.std((0, 2, 3), correction=0)
    expected = (ds.x_test - shift[:, None, None]) / scale[:, None, None]
    assert torch.allclose(done.x_test, expected)


def test_flat_data_is_one_channel():
    ds = images((7,))
    done = ds.pipe(data.standardize(fit="all"))
    both = torch.cat([done.x_train, done.x_test])
    assert abs(both.mean().item()) < 1e-12
    assert math.isclose(both.var(correction=0).item(), 1, rel_tol=1e-12)
    assert not torch.allclose(both.mean(0), torch.zeros(7).double())  # not by coordinate


def test_standardize_with_given_numbers():
    ds = images()
    mean, std = [0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]
    done = ds.pipe(data.standardize(mean=mean, std=std))
    assert torch.allclose(done.x_train[:, 2], (ds.x_train[:, 2] - 0.4465) / 0.2010)
    assert torch.allclose(
        images((4,)).pipe(data.standardize(mean=1, std=3)).x_train, (images((4,)).x_train - 1) / 3
    )


def test_standardize_errors():
    with pytest.raises(ValueError, match="mean and std together"):
        data.standardize(mean=[1.0])
    with pytest.raises(ValueError, match="std must be"):
        data.standardize(mean=[0.0], std=[0.0])
    with pytest.raises(ValueError, match="1 channels and std has 2"):
        data.standardize(mean=[0.0], std=[1.0, 1.0])
    with pytest.raises(ValueError, match="given 2 channels, but 'images' has 3"):
        images().pipe(data.standardize(mean=[0, 0], std=[1, 1]))
    flat = Dataset(torch.ones(3, 2), torch.ones(3), torch.ones(3, 2), torch.ones(3), name="one")
    with pytest.raises(ValueError, match=r"channels \[0\] are constant"):
        flat.pipe(data.standardize())


@pytest.mark.parametrize("make", [data.center, data.standardize, lambda fit: data.pca(2, fit)])
def test_unknown_fit(make):
    with pytest.raises(ValueError, match="unknown fit 'trian'; use one of: train, all"):
        make("trian")


def test_flatten_and_grayscale():
    ds = images()
    assert ds.pipe(data.flatten()).in_shape == (60,)
    assert torch.equal(ds.pipe(data.flatten()).x_test, ds.x_test.reshape(20, 60))
    grey = ds.pipe(data.grayscale())
    r, g, b = ds.x_train.unbind(1)
    assert grey.in_shape == (1, 4, 5)
    assert torch.allclose(grey.x_train[:, 0], 0.299 * r + 0.587 * g + 0.114 * b)
    with pytest.raises(ValueError, match=r"images of shape \(3, h, w\)"):
        grey.pipe(data.grayscale())


def test_an_empty_test_set_stays_empty():
    ds = data.stripe(8, 0, d=4).pipe(
        data.center(), data.standardize(), data.sphere(), data.pca(2), data.compress(2.0)
    )
    assert ds.x_test.shape == (0, 2)
