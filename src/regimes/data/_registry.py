"""Data sets by name, for studies and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from regimes._check import choose, nearest_first
from regimes.data._cylinder import cylinder
from regimes.data._dataset import Dataset
from regimes.data._disk import disk
from regimes.data._easy_difficult import easy_difficult
from regimes.data._images import cifar10, digits, emnist, fashion_mnist, kmnist, mnist
from regimes.data._line1d import line1d
from regimes.data._quad_sphere import quad_sphere
from regimes.data._random_labels import random_labels
from regimes.data._rbf_line import rbf_line
from regimes.data._regression import noisy_regression
from regimes.data._separable import linearly_separable
from regimes.data._shapes import spherical_shapes
from regimes.data._solids import solids
from regimes.data._stripe import stripe
from regimes.data._teacher import teacher
from regimes.data._tetris import tetris

_MAKERS: dict[str, Callable[..., Dataset]] = {
    maker.__name__: maker
    for maker in (
        stripe,
        cylinder,
        disk,
        line1d,
        random_labels,
        quad_sphere,
        noisy_regression,
        linearly_separable,
        teacher,
        rbf_line,
        digits,
        mnist,
        fashion_mnist,
        kmnist,
        emnist,
        cifar10,
        easy_difficult,
        tetris,
        solids,
        spherical_shapes,
    )
}


def names() -> tuple[str, ...]:
    """The names that `load` knows.

    >>> "stripe" in names()
    True
    """
    return tuple(_MAKERS)


def load(name: str, **options: Any) -> Dataset:
    """Make a data set by name: `load("stripe", d=5)` is `stripe(d=5)`.

    Args:
        name: one of `names()`.
        **options: arguments of the function of that name.

    Returns:
        The data set.

    Raises:
        ValueError: for an unknown name or option (the error lists the valid ones, nearest first),
            or a missing one.

    Example:
        >>> load("stripe", n_train=10, n_test=5, d=2).in_shape
        (2,)
        >>> load("stripe", dim=2)
        Traceback (most recent call last):
        ...
        ValueError: stripe has no option 'dim'; use one of: d, ...
    """
    maker = choose(name, _MAKERS, "data set")
    parameters = inspect.signature(maker).parameters
    for option in options:
        if option not in parameters:
            listing = ", ".join(nearest_first(option, parameters))
            raise ValueError(f"{name} has no option {option!r}; use one of: {listing}")
    for key, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in options:
            raise ValueError(f"{name} needs the option {key!r}")
    return maker(**options)
