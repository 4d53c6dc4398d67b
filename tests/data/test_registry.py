import pytest
import torch

from regimes import data


def test_load_is_the_function():
    one, two = data.load("stripe", n_train=20, n_test=5, d=3, seed=1), data.stripe(20, 5, 3, 1)
    assert torch.equal(one.x_train, two.x_train)
    assert one.description == two.description


def test_every_name_is_public_and_callable():
    assert set(data.names()) <= set(data.__all__)
    for name in ("stripe", "cylinder", "disk", "mnist", "digits", "easy_difficult"):
        assert name in data.names()
    assert all(callable(getattr(data, name)) for name in data.names())
    assert all(hasattr(data, name) for name in data.__all__)


def test_unknown_name_lists_the_nearest_first():
    with pytest.raises(ValueError, match="unknown data set 'mnits'; use one of: mnist, "):
        data.load("mnits")


def test_unknown_option_lists_the_nearest_first():
    with pytest.raises(
        ValueError, match="stripe has no option 'interface'; use one of: interfaces"
    ):
        data.load("stripe", interface=[1.0])


def test_missing_option():
    with pytest.raises(ValueError, match="linearly_separable needs the option 'u'"):
        data.load("linearly_separable", n_train=5)
