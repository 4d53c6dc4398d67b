"""The exponents quoted for spheres obey one relation and not the other (LAND-72)."""

import pytest

from regimes.theory import least_gap_exponent, marginal_gap_exponent
from regimes.theory._marginal import GAMMA_SPHERES, THETA_SPHERES


def test_spheres():
    assert marginal_gap_exponent(THETA_SPHERES) == pytest.approx(GAMMA_SPHERES, abs=1e-5)
    assert least_gap_exponent(THETA_SPHERES) < GAMMA_SPHERES - 0.1
    with pytest.raises(ValueError, match="theta must be a finite number"):
        marginal_gap_exponent(-1.5)
