import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regimes import data
from regimes.data import Dataset


def cloud(d, seed, n=12):
    source = torch.Generator().manual_seed(seed)
    x = torch.randn((2 * n, d), generator=source, dtype=torch.float64)
    y = x[:, 0].sign()
    return Dataset(x[:n], y[:n], x[n:], y[n:], name="cloud")


def rotation(d, seed):
    source = torch.Generator().manual_seed(seed)
    return torch.linalg.qr(torch.randn(d, d, generator=source, dtype=torch.float64)).Q


dims, seeds = st.integers(2, 8), st.integers(0, 10**6)
factors = st.floats(0.01, 100)


@given(dims, seeds, factors, st.data())
def test_informative_part_stays_the_rest_shrinks(d, seed, factor, choice):
    ds = cloud(d, seed)
    kept = choice.draw(st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True))
    done = ds.pipe(data.compress(factor, informative=kept))
    others = [i for i in range(d) if i not in kept]
    for before, after in ((ds.x_train, done.x_train), (ds.x_test, done.x_test)):
        assert torch.equal(after[:, kept], before[:, kept])
        assert torch.allclose(after[:, others] * factor, before[:, others])
    assert torch.equal(done.y_train, ds.y_train)


@given(dims, seeds, factors)
def test_compress_is_undone_by_the_inverse_factor(d, seed, factor):
    ds = cloud(d, seed)
    back = ds.pipe(data.compress(factor), data.compress(1 / factor))
    assert torch.allclose(back.x_train, ds.x_train)


@given(dims, seeds, factors, st.data())
def test_three_ways_to_name_the_first_k_coordinates(d, seed, factor, choice):
    ds = cloud(d, seed)
    k = choice.draw(st.integers(1, d))
    first = ds.pipe(data.compress(factor, informative=k)).x_train
    listed = ds.pipe(data.compress(factor, informative=list(range(k)))).x_train
    # any basis of the subspace will do, not only an orthonormal one
    mixed = rotation(k, seed) @ torch.eye(d)[:k].double() * 3
    spanned = ds.pipe(data.compress(factor, informative=mixed)).x_train
    assert torch.equal(first, listed)
    assert torch.allclose(first, spanned, atol=1e-9)


@given(dims, seeds, factors)
def test_compress_commutes_with_rotation_of_the_subspace(d, seed, factor):
    ds, Q = cloud(d, seed), rotation(d, seed)
    basis = torch.eye(d)[:1].double()
    one = ds.pipe(data.compress(factor, informative=basis), data.rotate(Q))
    two = ds.pipe(data.rotate(Q), data.compress(factor, informative=basis @ Q.T))
    assert torch.allclose(one.x_train, two.x_train, atol=1e-9)


@given(dims, seeds)
def test_rotation_keeps_scalar_products(d, seed):
    ds, Q = cloud(d, seed), rotation(d, seed)
    done = ds.pipe(data.rotate(Q))
    assert torch.allclose(done.x_train @ done.x_test.T, ds.x_train @ ds.x_test.T)
    assert torch.allclose(done.x_train[0], Q @ ds.x_train[0])


def test_dtype_is_kept(dtype):
    ds = data.stripe(10, 10, d=3, dtype=dtype)
    for transform in (
        data.compress(3.0),
        data.compress(3.0, torch.eye(3)[:1]),
        data.rotate(torch.eye(3)),
    ):
        assert ds.pipe(transform).x_train.dtype == dtype


@pytest.mark.parametrize(
    ("factor", "informative", "message"),
    [
        (0, 1, "factor must be"),
        (-1, 1, "factor must be"),
        (float("inf"), 1, "factor must be"),
        (2, 0, "informative must be an integer >= 1"),
        (2, 1.5, "informative must be an integer >= 1"),
        (2, [], "must be distinct"),
        (2, [0, 0], "must be distinct"),
        (2, [-1], "integer >= 0"),
        (2, torch.ones(3), r"shape \(k, d\)"),
        (2, torch.ones(1, 3, dtype=torch.int64), "floating point"),
    ],
)
def test_bad_compress(factor, informative, message):
    with pytest.raises(ValueError, match=message):
        data.compress(factor, informative)


def test_directions_that_do_not_fit_the_data():
    ds = data.stripe(5, 5, d=3)
    with pytest.raises(ValueError, match=r"needs coordinate 3, but .* 0\.\.2"):
        ds.pipe(data.compress(2.0, informative=4))
    with pytest.raises(ValueError, match="d = 3"):
        ds.pipe(data.compress(2.0, informative=torch.ones(1, 4)))
    with pytest.raises(ValueError, match="linearly dependent"):
        ds.pipe(data.compress(2.0, informative=torch.ones(2, 3)))
    with pytest.raises(ValueError, match=r"apply flatten\(\) first"):
        data.digits(10, 10).pipe(data.compress(2.0))
    with pytest.raises(ValueError, match="Q is 2 x 2"):
        ds.pipe(data.rotate(torch.eye(2)))
    for bad in (torch.ones(2, 2), torch.ones(2, 3), 3, torch.full((2, 2), float("nan"))):
        with pytest.raises(ValueError, match="Q must be"):
            data.rotate(bad)
