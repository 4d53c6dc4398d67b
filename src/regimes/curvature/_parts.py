"""The Hessian and the two parts it splits into, by name."""

from __future__ import annotations

from typing import Literal, get_args

from regimes._check import choose

Part = Literal["total", "gauss_newton", "network"]
PARTS: tuple[Part, ...] = get_args(Part)


def check_part(part: object) -> Part:
    """One of the names.

    >>> check_part("gauss-newton")
    Traceback (most recent call last):
    ...
    ValueError: unknown part 'gauss-newton'; use one of: gauss_newton, network, total
    """
    return choose(part, {name: name for name in PARTS}, "part")  # type: ignore[arg-type]
