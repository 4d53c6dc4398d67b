"""The one way to say that data are not there (yet)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

NEAR = 1e-6  # coordinates that are numbers are the same when they agree so well


class Missing(Exception):  # noqa: N818 - not an error: a scan may be on its way
    """What a claim or a figure needs is not in the data.

    Raised anywhere below a judge, it makes the claim inconclusive with this text; raised below a
    figure, the figure says it in place of curves.
    """


def need(dataset: xr.Dataset, *names: str, **place: Any) -> xr.Dataset:
    """The data at one place of the scan, with these variables in it.

    Args:
        dataset: collected trials.
        *names: variables that must be there, with at least one value at the place.
        **place: a value for each dimension to be selected; numbers may differ by rounding.

    Raises:
        Missing: says which variable or which place was not run.

    >>> import xarray as xr
    >>> data = xr.Dataset({"error": ("d", [0.1, 0.2])}, {"d": [5, 10]})
    >>> float(need(data, "error", d=5).error)
    0.1
    >>> need(data, "error", d=3)
    Traceback (most recent call last):
    ...
    regimes.lab.judge._missing.Missing: d = 3 was not run, only d = 5, 10
    """
    for dim, value in place.items():
        if dim not in dataset.coords:
            raise Missing(f"no trial has finished that has a {dim}")
        known = dataset[dim].values
        where = np.flatnonzero(_same(known, value))
        if not len(where):
            there = ", ".join(f"{each:g}" if known.dtype.kind in "if" else each for each in known)
            raise Missing(f"{dim} = {value} was not run, only {dim} = {there}")
        dataset = dataset.isel({dim: int(where[0])})
    told = ", ".join(f"{dim} = {value}" for dim, value in place.items())
    for name in names:
        if name not in dataset or not dataset[name].size or bool(dataset[name].isnull().all()):
            raise Missing(f"no finished trial{f' at {told}' if told else ''} has {name}")
    return dataset


def where_ran(dataset: xr.Dataset, along: str, name: str, **place: Any) -> xr.Dataset:
    """`need`, and of one dimension only the entries at which the variable has a value.

    >>> import xarray as xr
    >>> data = xr.Dataset({"error": ("seed", [0.1, np.nan])}, {"seed": [0, 1]})
    >>> where_ran(data, "seed", "error").seed.values.tolist()
    [0]
    """
    return need(dataset, name, **place).dropna(along, how="all", subset=[name])


def nearest(dataset: Any, **place: float) -> Any:
    """The part of the data whose coordinates are nearest on logarithmic axes.

    >>> import xarray as xr
    >>> data = xr.Dataset({"error": ("width", [0.1, 0.2])}, {"width": [8, 64]})
    >>> float(nearest(data, width=20).error)
    0.1
    """
    for dim, value in place.items():
        if dim not in dataset.coords or not dataset.sizes[dim]:
            raise Missing(f"no trial has finished that has a {dim}")
        distance = np.abs(np.log(dataset[dim].values.astype(float) / value))
        dataset = dataset.isel({dim: int(distance.argmin())})
    return dataset


def _same(known: np.ndarray, value: Any) -> np.ndarray:
    if known.dtype.kind == "f":
        return np.isclose(known, float(value), rtol=NEAR, atol=0)
    return np.asarray(known == value)
