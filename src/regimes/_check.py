"""Checks of user input, each with an error that says what was given, expected, and what to do."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def nearest_first(name: str, valid: Iterable[str]) -> list[str]:
    """The valid names, those spelled most like `name` first.

    >>> nearest_first("strip", ["disk", "stripe", "cylinder"])[0]
    'stripe'
    """

    def closeness(candidate: str) -> float:
        return difflib.SequenceMatcher(None, name.lower(), candidate.lower()).ratio()

    return sorted(valid, key=closeness, reverse=True)


def choose(name: str, options: Mapping[str, T], what: str) -> T:
    """Look `name` up among `options`; the error for an unknown one lists them, nearest first.

    >>> choose("relux", {"tanh": 1, "relu": 2}, "activation")
    Traceback (most recent call last):
    ...
    ValueError: unknown activation 'relux'; use one of: relu, tanh
    """
    if isinstance(name, str) and name in options:
        return options[name]
    listing = ", ".join(nearest_first(str(name), options))
    raise ValueError(f"unknown {what} {name!r}; use one of: {listing}")


def positive_int(name: str, value: object, least: int = 1) -> int:
    """`value` as an int of at least `least`, or a ValueError that names the argument.

    >>> positive_int("width", 0)
    Traceback (most recent call last):
    ...
    ValueError: width must be an integer >= 1, got 0
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return number


def real(name: str, value: object, above: float = -math.inf, below: float = math.inf) -> float:
    """`value` as a finite float strictly between the bounds, or a ValueError naming it."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and above < number < below):
        bounds = f" in ({above:g}, {below:g})" if (above, below) != (-math.inf, math.inf) else ""
        raise ValueError(f"{name} must be a finite number{bounds}, got {value!r}")
    return number
