"""Exponents of learning curves, lazy and with compression of the uninformative directions."""

from __future__ import annotations

from regimes._check import positive_int, real


def beta_lazy(d: int, xi: float = 1.0) -> float:
    """`(d - 1 + xi)/(3d - 3 + xi)`: test error falls as `p^-beta` for a frozen kernel.

    [Paccolat 2021, sec. 3.1]; `d/(3d-2)` for the cusp exponent xi = 1 of relu networks.

    Args:
        d: input dimension.
        xi: exponent of the kernel's cusp, `k(0) - k(r) ~ r^xi`.

    >>> round(beta_lazy(5), 4), round(beta_lazy(10), 4)
    (0.3846, 0.3571)
    """
    d, xi = positive_int("d", d), real("xi", xi, above=0)
    return (d - 1 + xi) / (3 * d - 3 + xi)


def beta_feature(d: int, d_perp: int) -> float:
    """Learning exponent when the uninformative directions shrink as `Lambda ~ sqrt(p)`.

    [Paccolat 2021, secs. 3.1 and 4]: `beta_lazy + g/2` with g of `compression_exponent`, which is
    `(2d-1)/(3d-2)` for one informative direction and `(d + d_perp/2)/(3d-2)` for more.

    Args:
        d: input dimension.
        d_perp: number of uninformative directions, 0 to d-1.

    >>> round(beta_feature(5, 4), 4), round(beta_feature(10, 9), 4), beta_feature(3, 1)
    (0.6923, 0.6786, 0.5)
    """
    return beta_lazy(d) + compression_exponent(d, d_perp) / 2


def compression_exponent(d: int, d_perp: int) -> float:
    """G in `error ~ Lambda^-g` when the uninformative directions shrink by Lambda.

    [Paccolat 2021, secs. 3.1 and 4], xi = 1: `2(d-1)/(3d-2)` for one informative direction,
    `d_perp/(3d-2)` for more.

    >>> round(compression_exponent(5, 4), 4), round(compression_exponent(3, 1), 4)
    (0.6154, 0.1429)
    """
    d, d_perp = positive_int("d", d), positive_int("d_perp", d_perp, least=0)
    if d_perp >= d:
        raise ValueError(
            f"d_perp must leave an informative direction: 0 <= d_perp < d={d}, got {d_perp}"
        )
    return (2 * (d - 1) if d - d_perp == 1 else d_perp) / (3 * d - 2)


def compression_gain(amplification: float, d: int, d_perp: int) -> float:
    """Factor `Lambda^-g` on the test error of a kernel whose inputs are compressed by Lambda.

    [Paccolat 2021, secs. 3.1 and 4].

    >>> compression_gain(1.0, 5, 4), round(compression_gain(8.0, 5, 4), 4)
    (1.0, 0.2781)
    """
    return real("amplification", amplification, above=0) ** -compression_exponent(d, d_perp)
