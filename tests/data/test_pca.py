import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data
from regimes.data import Dataset, Points


def cloud(n, d, seed, dtype=torch.float64):
    source = torch.Generator().manual_seed(seed)
    x = torch.randn((n + 15, d), generator=source, dtype=torch.float64)
    x = (x * torch.linspace(1, 3, d) + 5).to(dtype)
    y = torch.ones(n + 15, dtype=dtype)
    return Dataset(x[:n], y[:n], x[n:], y[n:], name="cloud", probes={"p": Points(x[:3], y[:3])})


sizes = {"n": st.integers(20, 40), "d": st.integers(2, 8), "seed": st.integers(0, 10**6)}


@given(**sizes)
def test_all_components_keep_all_distances(n, d, seed):
    ds = cloud(n, d, seed)
    done = ds.pipe(data.pca(d, scale=None))
    assert torch.allclose(
        torch.cdist(done.x_train, done.x_test), torch.cdist(ds.x_train, ds.x_test)
    )
    assert "100.0 % of the variance kept" in done.description[-1]


@given(**sizes)
def test_against_a_singular_value_decomposition(n, d, seed):
    ds = cloud(n, d, seed)
    k = max(1, d // 2)
    done = ds.pipe(data.pca(k, scale=None))
    x = ds.x_train.numpy()
    mean = x.mean(0)
    _, _, vt = np.linalg.svd(x - mean, full_matrices=False)
    expected = (ds.x_test.numpy() - mean) @ vt[:k].T
    np.testing.assert_allclose(np.abs(done.x_test.numpy()), np.abs(expected), atol=1e-6)


@given(**sizes)
def test_scales(n, d, seed):
    ds = cloud(n, d, seed)
    k = max(1, d - 1)
    raw = ds.pipe(data.pca(k, scale=None)).x_train
    variances = raw.square().mean(0)
    assert bool((variances.diff() <= 1e-9).all())
    mean = ds.pipe(data.pca(k)).x_train
    assert torch.allclose(mean, raw / variances.mean().sqrt())
    white = ds.pipe(data.pca(k, scale="whiten")).x_train
    assert torch.allclose(white.T @ white / n, torch.eye(k).double(), atol=1e-8)


def test_fit_on_all():
    ds = cloud(30, 4, 0)
    both = ds.pipe(data.pca(3, fit="all", scale="whiten"))
    x = torch.cat([both.x_train, both.x_test])
    assert torch.allclose(x.T @ x / len(x), torch.eye(3).double(), atol=1e-10)
    assert torch.allclose(both.probes["p"].x, both.x_train[:3])


def test_images_are_flattened_and_dtype_kept(dtype):
    ds = data.digits(200, 50, dtype=dtype).pipe(data.pca(10))
    assert ds.in_shape == (10,)
    assert ds.x_train.dtype == dtype


def test_both_precisions_agree():
    single, double = (
        data.digits(300, 50, dtype=t).pipe(data.pca(10)) for t in (torch.float32, torch.float64)
    )
    assert torch.allclose(single.x_test.double(), double.x_test, atol=1e-5)


def test_errors():
    ds = cloud(20, 4, 0)
    with pytest.raises(ValueError, match="at most 4 principal components"):
        ds.pipe(data.pca(5))
    with pytest.raises(ValueError, match="at most 9 principal"):
        data.digits(10, 10).pipe(data.pca(10))
    flat = Dataset(
        ds.x_train * torch.tensor([1.0, 0, 0, 0]), ds.y_train, ds.x_test, ds.y_test, name="flat"
    )
    with pytest.raises(ValueError, match="span fewer than 2 directions"):
        flat.pipe(data.pca(2, scale="whiten"))
    with pytest.raises(ValueError, match="unknown scale 'white'; use one of: whiten"):
        data.pca(2, scale="white")
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        data.pca(0)


@pytest.mark.data
def test_variance_of_mnist(data_root):
    # 48.9 % of the pixel variance in the first 10 components
    drawn = data.mnist(2000, 6000, pool="all", root=data_root)
    kept = drawn.pipe(data.pca(10, fit="all")).description[-1]
    share = float(re.search(r"([0-9.]+) % of the variance kept", kept)[1])
    assert share == pytest.approx(48.9, abs=0.3)
