"""An exponent of collected draws, and what it cannot be told from."""

import numpy as np
import pytest
import xarray as xr

from regimes.lab.judge import Missing, power_law

X = np.array([1.0, 2.0, 4.0, 8.0])


def curve(seeds):
    rows = [(1 + 0.1 * k) * X**-0.5 for k in range(seeds)]
    return xr.DataArray(rows, {"h": X}, ("seed", "h"))


def test_the_exponent_over_draws():
    found = power_law(curve(3), "h", center="mean")
    assert found.exponent == pytest.approx(-0.5)
    assert power_law(curve(3), "h", (2.0, 8.0)).points == 3


def test_one_draw_has_no_error():
    with pytest.raises(Missing, match="seed has one"):
        power_law(curve(1), "h")


def test_one_place_has_no_slope():
    with pytest.raises(Missing, match="two values of h or more, there are 1"):
        power_law(curve(3), "h", (4.0, 5.0))
