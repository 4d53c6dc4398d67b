"""Paths and arrows in one trace."""

import numpy as np
import pytest

from regimes.lab import draw

TAILS, TIPS = np.zeros((2, 2)), np.array([[1.0, 0.12345], [0.0, -2.0]])


def test_paths_are_joined_with_gaps_and_rounded():
    x, y = draw.joined(np.stack([TAILS, TIPS]), digits=3)
    np.testing.assert_array_equal(x, [0, 1, np.nan, 0, 0, np.nan])
    np.testing.assert_array_equal(y, [0, 0.123, np.nan, 0, -2, np.nan])
    with pytest.raises(ValueError, match=r"shape \(steps, n, 2\), got \(2, 2\)"):
        draw.joined(TIPS)


def test_arrows_have_their_heads_at_the_tips():
    figure = draw.axes("x", "y", caption="", panels="ab")
    draw.arrows(figure, TAILS, TIPS, "neurons", size=9, color=draw.GREEN, panel=2, width=1.5)
    (made,) = figure.data
    np.testing.assert_array_equal(made.y, [0, 0.12345, np.nan, 0, -2, np.nan])
    np.testing.assert_array_equal(made.marker.size, [0, 9, 0, 0, 9, 0])
    assert (made.marker.symbol, made.marker.angleref) == ("arrow", "previous")
    assert (made.mode, made.hoverinfo, made.xaxis) == ("lines+markers", "skip", "x2")
    assert made.line.color == draw.GREEN
