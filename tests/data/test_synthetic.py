"""What every synthetic data set promises."""

import pytest
import torch

from regimes import data

MAKERS = {
    "stripe": lambda **o: data.stripe(d=4, n_kernel=o.pop("extra", 7), **o),
    "cylinder": lambda **o: data.cylinder(n_kernel=o.pop("extra", 7), **o),
    "disk": lambda **o: data.disk(grid=o.pop("extra", 7), **o),
    "half_flipped": lambda **o: data.disk(grid=o.pop("extra", 7), variant="half_flipped", **o),
    "line1d": lambda **o: data.line1d(noise=0.1, target=torch.sin, **_plain(o)),
    "random_labels": lambda **o: data.random_labels(d=4, **_plain(o)),
    "quad_sphere": lambda **o: data.quad_sphere(d=5, n_kernel=o.pop("extra", 7), **o),
    "noisy_regression": lambda **o: data.noisy_regression(d=3, **_plain(o)),
    "projected_regression": lambda **o: data.noisy_regression(d=3, orthogonal=True, **_plain(o)),
    "linearly_separable": lambda **o: data.linearly_separable(torch.ones(2, 3), **_plain(o)),
    "rbf_line": lambda **o: data.rbf_line(N=120, P=30, **_plain(o)),
}


def _plain(options):
    options.pop("extra", None)
    return options


def tensors(ds):
    held = [ds.x_train, ds.y_train, ds.x_test, ds.y_test]
    for points in ds.probes.values():
        held += points
    return held


@pytest.fixture(params=MAKERS)
def make(request):
    return lambda **options: MAKERS[request.param](**({"n_train": 40, "n_test": 30} | options))


def test_same_seed_same_bits(make):
    for one, two in zip(tensors(make(seed=3)), tensors(make(seed=3)), strict=True):
        assert torch.equal(one, two)


def test_other_seed_other_points(make):
    one, two = make(seed=0), make(seed=1)
    assert not torch.equal(one.y_train, two.y_train) or not torch.equal(one.x_train, two.x_train)


def test_sizes_and_seed(make):
    ds = make(seed=5)
    assert (ds.n_train, ds.n_test, ds.seed) == (40, 30, 5)
    assert len(ds.description) == 1


def test_training_set_does_not_depend_on_the_others(make):
    one, two = make(n_test=30, extra=7), make(n_test=50, extra=9)
    assert torch.equal(one.x_train, two.x_train)
    assert torch.equal(one.y_train, two.y_train)


def test_precisions_agree(make):
    single, double = make(dtype=torch.float32), make(dtype=torch.float64)
    for one, two in zip(tensors(single), tensors(double), strict=True):
        assert one.dtype == torch.float32
        assert two.dtype == torch.float64
        assert torch.allclose(one.double(), two, atol=1e-5)


def test_train_and_test_differ(make):
    ds = make(n_train=30, n_test=30)
    assert not torch.equal(ds.x_train, ds.x_test)


def test_no_test_set_when_asked(make):
    assert make(n_test=0).n_test == 0


@pytest.mark.parametrize(
    "options",
    [
        {"n_train": 0},
        {"n_train": -3},
        {"n_train": 2.5},
        {"n_train": True},
        {"n_test": -1},
        {"seed": "zero"},
        {"seed": None},
        {"dtype": torch.int64},
        {"dtype": "float32"},
    ],
)
def test_bad_input(make, options):
    with pytest.raises(ValueError, match=r"n_train|n_test|seed must|dtype must"):
        make(**options)


def test_train_test_and_kernel_set_are_independent():
    ds = data.stripe(50, 50, d=3, n_kernel=50)
    assert ds.probes["kernel"].x.shape == (50, 3)
    for other in (ds.x_test, ds.probes["kernel"].x):
        assert not torch.isin(ds.x_train, other).any()
