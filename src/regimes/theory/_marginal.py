"""Relations between the exponents of gaps and overlaps of marginally stable packings."""

from __future__ import annotations

from regimes._check import real

THETA_SPHERES = 0.42311  # overlaps of spheres in infinite dimensions [Geiger 2019, sec. II]
GAMMA_SPHERES = 0.41269  # their gaps


def marginal_gap_exponent(theta: float) -> float:
    """`gamma = 1/(2 + theta)`, which packings of spheres obey.

    The pair that [Geiger 2019, sec. VI] quotes for spheres obeys it, not the inequality printed
    there as an equality, see `least_gap_exponent`.

    >>> round(marginal_gap_exponent(THETA_SPHERES), 5)
    0.41269
    """
    return 1.0 / (2.0 + real("theta", theta, above=-1.0))


def least_gap_exponent(theta: float) -> float:
    """`gamma >= (1 - theta)/2`, stability against opening one contact [Geiger 2019, sec. VI].

    >>> round(least_gap_exponent(THETA_SPHERES), 3)
    0.288
    """
    return (1.0 - real("theta", theta, above=-1.0)) / 2.0
