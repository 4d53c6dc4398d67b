"""Exponents of kernel regression when targets are Gaussian fields [Spigler 2020, sec. 5]."""

from __future__ import annotations

import math

from regimes._check import positive_int, shown


def beta(alpha_T: float, alpha_S: float, d: int) -> float:
    """`min(alpha_T - d, 2 alpha_S)/d`: the error falls as `n^-beta` [Spigler 2020, eqs. 1 and 7].

    Args:
        alpha_T: exponent of the Fourier transform of the teacher's kernel, above d; may be
            infinite, as for Gauss.
        alpha_S: the same of the student's kernel.
        d: dimension of what the points fill.

    >>> beta(2, 2, 1), beta(math.inf, 2, 1), beta(4, 4, 3)
    (1.0, 4.0, 0.3333333333333333)
    """
    teacher, student, d = _checked(alpha_T, alpha_S, d)
    return min(teacher - d, 2 * student) / d


def limited_by(alpha_T: float, alpha_S: float, d: int) -> str:
    """What sets `beta`: "teacher" (its roughness), "student" (its lack of smoothness) or "both".

    >>> limited_by(2, 2, 1), limited_by(math.inf, 2, 1), limited_by(5, 2, 1)
    ('teacher', 'student', 'both')
    """
    teacher, student, d = _checked(alpha_T, alpha_S, d)
    if teacher - d == 2 * student:
        return "both"
    return "teacher" if teacher - d < 2 * student else "student"


def smoothness_index(alpha_T: float, d: int) -> float:
    """`s = (alpha_T - d)/2 = beta d/2`: mean-square derivatives of the target.

    A whole number of derivatives is its floor [Spigler 2020, sec. 5].

    >>> smoothness_index(15 + 0.4 * 15, 15)
    3.0
    """
    teacher, _, d = _checked(alpha_T, alpha_T, d)
    return (teacher - d) / 2


def in_rkhs(alpha_T: float, alpha_S: float, d: int) -> bool:
    """Whether a field of the teacher has a finite norm in the student's space of functions.

    `alpha_T > alpha_S + d` [Spigler 2020, app. H].

    >>> in_rkhs(2, 2, 1), in_rkhs(4, 2, 1)
    (False, True)
    """
    teacher, student, d = _checked(alpha_T, alpha_S, d)
    if math.isinf(student):
        return False
    return teacher > student + d


def density_exponent(alpha: float, d: int) -> float:
    """`theta = 1 + d/alpha`: the density of eigenvalues falls as `lambda^-theta`.

    The eigenvalues fall as `rank^(-alpha/d)` [Spigler 2020, eqs. 56 and 57].

    >>> round(density_exponent(16, 15), 4), round(density_exponent(36, 35), 4)
    (1.9375, 1.9722)
    """
    alpha, _, d = _checked(alpha, alpha, d)
    return 1 + d / alpha


def _checked(alpha_T: float, alpha_S: float, d: int) -> tuple[float, float, int]:
    d = positive_int("d", d)
    for name, value in (("alpha_T", alpha_T), ("alpha_S", alpha_S)):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not number > d:
            raise ValueError(
                f"{name} must be a number above d = {d}, or infinite, so that the kernel is finite "
                f"at 0; got {shown(value)}"
            )
    return float(alpha_T), float(alpha_S), d
