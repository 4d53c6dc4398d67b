"""Numbers in the words of a claim's remark."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from regimes.lab import Data, judge


def numbers(values: Any, form: str = "g") -> str:
    """Numbers one after the other.

    >>> numbers([1.0, 20.0]), numbers([0.123], ".2f")
    ('1, 20', '0.12')
    """
    return ", ".join(f"{value:{form}}" for value in np.asarray(values))


def with_errors(found: Iterable[judge.Measured]) -> str:
    """Numbers with their errors."""
    return ", ".join(f"{each.value:.3f} ± {each.error:.2g}" for each in found)


def each_at(name: str, values: Any, form: str = "g") -> str:
    """The different values of a setting, in order.

    >>> each_at("h", [64, 32, 64])
    'h = 32, 64'
    """
    return f"{name} = {numbers(np.unique(values), form)}"


def percent(values: Iterable[float]) -> str:
    """Fractions in percent, for a claim's reasons.

    >>> percent([0.19, 0.168])
    '19.0, 16.8 %'
    """
    return ", ".join(f"{100 * value:.1f}" for value in values) + " %"


def seeds(table: Data) -> str:
    """How many networks there were at each place, and how many runs did not fit."""
    lost = int((table.fitted < 1).sum())
    told = f"; {lost} of {table.fitted.size} runs ended unfitted" if lost else ""
    return f"{table.sizes['seed']} seeds{told}"
