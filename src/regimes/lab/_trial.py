"""What one trial returns: scalars, named arrays and time series."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Scalar = float | int | bool | str
_RESERVED = "__metadata__"  # a name that safetensors keeps to itself


@dataclass(frozen=True)
class Array:
    """Values with a name for each dimension.

    A dimension named like a stacked axis holds one entry per member; any other name is free, and
    its length may differ from trial to trial. An array named like its only dimension is a
    coordinate. Tensors are accepted and become NumPy arrays.

    >>> Array(("seed", "rank"), [[3.0, 1.0], [2.0, 0.5]]).values.shape
    (2, 2)
    """

    dims: tuple[str, ...]
    values: np.ndarray

    def __init__(self, dims: tuple[str, ...] | list[str] | str, values: Any) -> None:
        names = (dims,) if isinstance(dims, str) else tuple(dims)
        array = as_numpy(values)
        if array.ndim != len(names):
            raise ValueError(
                f"an array of shape {array.shape} needs {array.ndim} dimension names, got {names}"
            )
        object.__setattr__(self, "dims", names)
        object.__setattr__(self, "values", array)


@dataclass(frozen=True)
class Series:
    """Values in the course of time; `dims` names the dimensions and ends with "time".

    `times` has the shape of `values`, or of its last dimension when all members share their times.

    >>> Series([0.1, 1.0], [[2.0, 1.0], [2.5, 1.5]], dims=("seed", "time")).times.shape
    (2, 2)
    """

    times: np.ndarray
    values: np.ndarray
    dims: tuple[str, ...] = ("time",)

    def __init__(self, times: Any, values: Any, *, dims: tuple[str, ...] = ("time",)) -> None:
        if not dims or dims[-1] != "time":
            raise ValueError(f"the last dimension of a series must be 'time', got dims={dims}")
        data = Array(dims, values)
        try:
            spread = np.broadcast_to(as_numpy(times), data.values.shape)
        except ValueError:
            raise ValueError(
                f"times of shape {np.shape(times)} do not fit values of shape {data.values.shape}"
            ) from None
        object.__setattr__(self, "times", np.ascontiguousarray(spread))
        object.__setattr__(self, "values", data.values)
        object.__setattr__(self, "dims", data.dims)


@dataclass(frozen=True)
class TrialResult:
    """The outcome of one trial.

    A stacked trial returns one number per member as an `Array` over the stacked axes; scalars hold
    for the trial as a whole.

    >>> TrialResult({"loss": 0.25}, arrays={"error": Array("seed", [0.1, float("nan")])}).nonfinite
    ('error',)
    """

    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "scalars", {name: as_scalar(name, v) for name, v in self.scalars.items()}
        )
        for name, value in self.arrays.items():
            if not isinstance(value, Array):
                raise ValueError(f"array {name!r} must be an Array(dims, values)")
        for name, series in self.series.items():
            if not isinstance(series, Series):
                raise ValueError(f"series {name!r} must be a Series(times, values)")
        names = [*self.scalars, *self.arrays, *self.series]
        for name in names:
            if not isinstance(name, str) or name in ("", _RESERVED):
                raise ValueError(
                    f"a value's name must be a text, not empty and not {_RESERVED!r}, got {name!r}"
                )
        names += [times_name(name) for name in self.series]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"a trial must use each name once, used twice: {', '.join(repeated)}")

    @property
    def nonfinite(self) -> tuple[str, ...]:
        """Names of the values with a NaN or an infinity in them: stored, and flagged."""
        bad = [
            name
            for name, value in self.scalars.items()
            if isinstance(value, float) and not math.isfinite(value)
        ]
        bad += [name for name, array in self.arrays.items() if _nonfinite(array.values)]
        bad += [name for name, series in self.series.items() if _nonfinite(series.values)]
        return tuple(bad)


def times_name(series: str) -> str:
    """The name under which a series' times are stored beside its values."""
    return f"{series}_times"


def as_numpy(values: Any) -> np.ndarray:
    """A contiguous numeric NumPy array from a tensor, a list or an array."""
    if hasattr(values, "detach"):  # a tensor, on any device; torch itself is not imported here
        values = values.detach().cpu().numpy()
    values = _unmasked(values)
    array = np.ascontiguousarray(values) if np.ndim(values) else np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"only real numbers can be stored, got an array of {array.dtype}; "
            "store real and imaginary parts apart, and texts as scalars"
        )
    if array.dtype.itemsize > 8:
        raise ValueError(
            f"numbers of at most 64 bits can be stored, got an array of {array.dtype}; "
            "convert it with .astype('float64')"
        )
    return array


def _unmasked(values: Any) -> Any:
    """A masked array without its mask: what it hides is NaN, which only floats can be."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind == "f":
        return values.filled(np.nan)
    if np.ma.is_masked(values):
        raise ValueError(
            f"masked entries are stored as NaN, which an array of {values.dtype} cannot hold; "
            "convert it with .astype('float64')"
        )
    return values.data


def as_scalar(name: str, value: Any) -> Scalar:
    """A plain Python number, truth value or text from whatever stands for one."""
    value = _unmasked(value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if not isinstance(value, Scalar):
        raise ValueError(
            f"scalar {name!r} must be a number, bool or text, got {type(value).__name__}; "
            "use arrays={...: Array(dims, values)} for more than one number"
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError(f"scalar {name!r} is an integer of more than 64 bits; make it a float")
    return value


def _nonfinite(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and not bool(np.isfinite(values).all())
