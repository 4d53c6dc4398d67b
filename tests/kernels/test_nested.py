"""One factor for all sizes gives what each size gives on its own."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regimes.data import cloud_points, sphere_points
from regimes.kernels import Gaussian, Laplace, nested_regression, regression


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sets(st.integers(1, 40), min_size=1, max_size=3), st.booleans())
def test_every_size_is_its_own_regression(seed, sizes, several):
    x = cloud_points(52, 3, seed)
    K, k = Laplace(1.0)(x[:40]), Laplace(1.0)(x[40:], x[:40])
    z = torch.stack([x[:40, 0], x[:40, 1] ** 2], 1) if several else x[:40, 0]
    found = nested_regression(K, z, k, sorted(sizes), jitter=0.01)
    for row, n in enumerate(sorted(sizes)):
        alone = regression(K[:n, :n], z[:n], jitter=0.01)
        assert torch.allclose(found.predictions[row], alone.predict(k[:, :n]), atol=1e-10)
        assert found.residual[row] == pytest.approx(alone.residual, abs=1e-12)
        assert found.condition[row] == pytest.approx(alone.condition, rel=1e-6)
        assert (found.rank[row], found.method[row]) == (n, "cholesky")


def test_where_the_largest_is_singular_each_size_is_solved_alone():
    x = sphere_points(220, 2)
    kernel = Gaussian(6.0)
    K, k, z = kernel(x[:200]), kernel(x[200:], x[:200]), x[:200, 0]
    found = nested_regression(K, z, k, (5, 50, 200))
    assert found.method == ("cholesky", "eigen", "eigen")
    for row, n in enumerate((5, 50, 200)):
        alone = regression(K[:n, :n], z[:n])
        assert torch.allclose(found.predictions[row], alone.predict(k[:, :n]), atol=1e-8)
        assert found.rank[row] == alone.rank


def test_it_factorises_once(monkeypatch):
    from regimes.kernels import _nested

    made = []
    true = _nested.factorise
    monkeypatch.setattr(_nested, "factorise", lambda *a, **k: made.append(1) or true(*a, **k))
    x = cloud_points(60, 3)
    kernel = Laplace(1.0)
    nested_regression(kernel(x[:50]), x[:50, 0], kernel(x[50:], x[:50]), (10, 20, 30, 40, 50))
    assert len(made) == 1


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((), "sizes must be increasing"),
        ((4, 2), "sizes must be increasing numbers of points, got"),
        ((2, 2), "sizes must be increasing"),
        ((0, 2), r"sizes\[0\]"),
        (5, "sizes must be several numbers of points, got 5"),
        ((4, 11), "the largest size is 11, but there are 10 training points; leave out"),
    ],
)
def test_bad_sizes_are_told(sizes, told):
    K = torch.eye(10).double()
    with pytest.raises(ValueError, match=told):
        nested_regression(K, torch.ones(10), K, sizes)


def test_bad_shapes_are_told():
    K = torch.eye(10).double()
    with pytest.raises(ValueError, match=r"z must have 10 targets and k the shape \(m, 10\)"):
        nested_regression(K, torch.ones(9), K, (4,))
    with pytest.raises(ValueError, match=r"k the shape \(m, 10\)"):
        nested_regression(K, torch.ones(10), K[:, :9], (4,))
