"""Checks of user input, each with an error that says what was given, expected, and what to do."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Mapping, Sized
from types import UnionType
from typing import TypeVar

T = TypeVar("T")


def shown(value: object) -> str:
    """How an error shows what it was given: as it is when short, else by type and shape.

    >>> shown(0.5), shown(list(range(100)))
    ('0.5', 'list of 100 entries')
    """
    kind, shape = type(value).__name__, getattr(value, "shape", ())
    if shape:  # a tensor or an array
        return f"{kind} of shape {tuple(shape)}"
    text = repr(value)
    if len(text) <= 80 and "\n" not in text:
        return text
    return f"{kind} of {len(value)} entries" if isinstance(value, Sized) else kind


def instance(
    name: str, value: object, kind: type | UnionType | tuple[type, ...], expected: str
) -> None:
    """Raise a ValueError that names the argument and its type unless it is of the right kind.

    >>> instance("rule", 0.1, StopIteration, "a StepRule")
    Traceback (most recent call last):
    ...
    ValueError: rule must be a StepRule, got float 0.1
    """
    if not isinstance(value, kind):
        text, own = shown(value), type(value).__name__
        kind_shown = "" if text.startswith(own) or value is None else f"{own} "
        raise ValueError(f"{name} must be {expected}, got {kind_shown}{text}")


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
    listing = ", ".join(nearest_first(name if isinstance(name, str) else "", options))
    raise ValueError(f"unknown {what} {shown(name)}; use one of: {listing}")


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
        raise ValueError(f"{name} must be an integer >= {least}, got {shown(value)}")
    return number


def real(name: str, value: object, above: float = -math.inf, below: float = math.inf) -> float:
    """`value` as a finite float strictly between the bounds, or a ValueError naming it."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and above < number < below):
        bounds = f" in ({above:g}, {below:g})" if (above, below) != (-math.inf, math.inf) else ""
        raise ValueError(f"{name} must be a finite number{bounds}, got {shown(value)}")
    return number


def not_negative(name: str, value: float) -> float:
    """A finite number of at least 0, or a ValueError that names it.

    >>> not_negative("ridge", 0)
    0.0
    """
    number = real(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return number
