"""The meter of equivariance: exact, broken, with an error, and as an assertion."""

import math

import pytest
import torch
from torch import nn

from regimes.measure import assert_equivariant, equivariance_error


def shift(x, n):
    return x.roll(n, dims=-1)


def same(x, n):
    return x


@pytest.fixture
def x():
    return torch.randn(8, 2, 12, generator=torch.Generator().manual_seed(0))


def circular(stride):
    with torch.random.fork_rng():
        layer = nn.Conv1d(2, 3, 3, stride=stride, padding=1, padding_mode="circular")
    with torch.no_grad():
        for i, each in enumerate(layer.parameters()):
            draws = torch.Generator().manual_seed(i)
            each.copy_(torch.randn(each.shape, generator=draws))
    return layer


def test_a_circular_convolution_commutes_with_shifts(x):
    """Claim EQU-01."""
    result = equivariance_error(circular(1), x, range(1, 9), shift, shift)
    assert result.value < 1e-6
    assert len(result.each) == 8
    assert result.worst == max(result.each)


def test_stride_two_breaks_odd_shifts_alone(x):
    """Claim EQU-01."""
    net = nn.Sequential(circular(2), nn.AdaptiveAvgPool1d(1), nn.Flatten())
    even = equivariance_error(net, x, [2, 4, 6], shift, same)
    odd = equivariance_error(net, x, [1, 3, 5], shift, same)
    assert even.value < 1e-6
    assert odd.value > 1e-2


def test_value_and_error_are_those_of_the_pairs(x):
    result = equivariance_error(lambda x: x.cumsum(-1), x, [1, 2, 3], shift, shift)
    values = torch.tensor(result.each, dtype=torch.float64)
    assert math.isclose(result.value, float(values.mean()))
    assert math.isclose(result.error, float(values.std()) / math.sqrt(3))
    first, f = x[:1], lambda x: x.cumsum(-1)
    gap = shift(f(first), 1) - f(shift(first, 1))
    expected = float(gap.std(correction=0) / f(first).std(correction=0))
    assert math.isclose(result.each[0], expected, rel_tol=1e-6)


def test_a_constant_offset_is_seen_by_rms_alone(x):
    def offset(y, n):
        return shift(y, n) + 1

    assert equivariance_error(torch.relu, x, [1], shift, offset).value < 1e-6
    assert equivariance_error(torch.relu, x, [1], shift, offset, size="rms").value > 0.5


def test_samples_may_be_drawn_one_by_one(x):
    drawn = equivariance_error(torch.tanh, lambda i: x[i : i + 2], [1, 2], shift, shift)
    assert drawn.value == 0


def test_no_gradients_are_kept(x):
    layer = circular(1)
    assert_equivariant(lambda x: _without(layer(x)), x, [1], shift, shift)


def _without(y):
    assert not y.requires_grad
    return y


def test_the_assertion_names_the_worst_element(x):
    net = circular(2)
    with pytest.raises(AssertionError, match=r"sample 1 and element 3; allowed is 1e-05"):
        assert_equivariant(net, x, [2, 3], shift, lambda y, n: shift(y, n // 2))
    assert_equivariant(net, x, [2, 4], shift, lambda y, n: shift(y, n // 2))
    assert_equivariant(circular(1).double(), x.double(), [1, 2], shift, shift)


def test_the_assertion_fails_on_nan(x):
    with pytest.raises((AssertionError, ValueError)):
        assert_equivariant(lambda x: x * math.nan, x, [1], shift, shift)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: equivariance_error(torch.relu, x, [], shift, shift), "elements is empty"),
        (lambda x: equivariance_error(torch.relu, x, range(9), shift, shift), "fewer than"),
        (lambda x: equivariance_error(torch.zeros_like, x, [1], shift, shift), "size zero"),
        (lambda x: equivariance_error(torch.relu, x * math.nan, [1], shift, shift), "NaN"),
        (
            lambda x: equivariance_error(torch.relu, x, [1], shift, lambda y, n: y[..., 1:]),
            "does not fit",
        ),
        (
            lambda x: equivariance_error(torch.relu, x, [1], shift, shift, size="max"),
            "unknown size",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(call, message, x):
    with pytest.raises(ValueError, match=message):
        call(x)
