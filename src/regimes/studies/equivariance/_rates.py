"""How the learning rate of networks on voxels falls."""

from __future__ import annotations


def late_fall(rate: float, step: int, steps: int) -> float:
    """Constant for 40 % of the steps, then an exponential fall by `0.94^60` [Weiler 2018, sec. 5].

    The running statistics of batch norm follow weights that move less and less: networks are
    tested with them.

    >>> late_fall(0.1, 0, 10), round(late_fall(0.1, 10, 10), 5)
    (0.1, 0.00244)
    """
    late = max(0.0, step / steps - 0.4) / 0.6
    return float(rate * 0.94 ** (60 * late))
