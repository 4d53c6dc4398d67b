import pytest
import torch

from regimes.measure import collapse_quality, rescaled_error

X = torch.logspace(0, 2, 9, dtype=torch.float64)
WIDTHS = [1.0, 2.0, 4.0]


def family():
    """y_i(x) = w_i^0.5 g(x/w_i), g(u) = u^-1.5: collapses under x/w, y/sqrt(w)."""
    return [X] * 3, [w**0.5 * (X / w) ** -1.5 for w in WIDTHS]


def test_the_right_rescaling_collapses_and_the_wrong_one_does_not():
    x, y = family()
    right = collapse_quality(
        x, y, x_scale=[1 / w for w in WIDTHS], y_scale=[w**-0.5 for w in WIDTHS]
    )
    assert right.spread < 1e-12
    assert right.worst < 1e-12
    assert right.curves == 3
    assert right.range == pytest.approx((1.0, 25.0))
    assert collapse_quality(x, y).spread > 0.5


def test_spread_is_std_over_mean_on_the_common_range():
    x = [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    y = [[0.0, 1.0, 2.0], [3.0, 2.0, 1.0]]
    found = collapse_quality(x, y, points=3, log=False)
    assert found.range == (1.0, 2.0)
    # at 1, 1.5, 2: values (1, 3), (1.5, 2.5), (2, 2)
    terms = [2**0.5 / 2, 2**-0.5 / 2, 0.0]
    assert found.spread == pytest.approx(sum(terms) / 3)
    assert found.worst == pytest.approx(terms[0])


def test_a_common_factor_does_not_matter():
    x, y = family()
    scaled = collapse_quality(x, [7 * v for v in y])
    assert scaled.spread == pytest.approx(collapse_quality(x, y).spread)


def test_rescaled_error_spans_the_unit_interval(draw):
    error = draw(4, 9)
    found = rescaled_error(error)
    assert torch.equal(found.amin(1), torch.zeros(4).double())
    assert torch.equal(found.amax(1), torch.ones(4).double())
    torch.testing.assert_close(rescaled_error(3 * error + 2), found)


def test_bad_input_is_refused():
    x, y = family()
    with pytest.raises(ValueError, match="share no range"):
        collapse_quality(x, y, x_scale=[1.0, 1e3, 1e6])
    with pytest.raises(ValueError, match="at least two curves"):
        collapse_quality([X], [X])
    with pytest.raises(ValueError, match="one factor per curve"):
        collapse_quality(x, y, x_scale=[1.0])
    with pytest.raises(ValueError, match="curve 1 must have increasing x"):
        collapse_quality([X, X.flip(0)], [X, X])
    with pytest.raises(ValueError, match="constant"):
        rescaled_error(torch.ones(3))
