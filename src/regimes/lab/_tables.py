"""Tables of unions: their blocks, and their rows along one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab._parameters import BLOCK
from regimes.lab._states import finished
from regimes.lab.judge import Missing

if TYPE_CHECKING:
    import xarray as xr


def first_of(table: xr.Dataset, *blocks: str) -> str:
    """The first of these blocks that the scan has, finished or not; else the last.

    >>> import xarray as xr
    >>> first_of(xr.Dataset(coords={"block": ("trial", ["a", "b"])}), "c", "b", "a")
    'b'
    """
    known = table[BLOCK].values if BLOCK in table.coords else ()
    return next((block for block in blocks if block in known), blocks[-1])


def those_run(table: xr.Dataset, *blocks: str) -> list[str]:
    """Those of these blocks with a finished trial.

    Raises:
        Missing: there is none.
    """
    done = table[BLOCK].values[finished(table).values] if BLOCK in table.coords else ()
    found = [block for block in blocks if block in done]
    if not found:
        raise Missing(f"no trial of {' or '.join(blocks)} has finished")
    return found


def along(table: xr.Dataset, setting: str) -> xr.Dataset:
    """The rows with one setting as their dimension, in its order.

    >>> import xarray as xr
    >>> table = xr.Dataset({"error": ("trial", [0.1, 0.2])}, {"width": ("trial", [8, 4])})
    >>> along(table, "width").error.values.tolist()
    [0.2, 0.1]
    """
    return table.sortby(setting).swap_dims(trial=setting)


def split(table: xr.Dataset, by: str, over: str) -> dict[Any, xr.Dataset]:
    """The rows of every value of one setting, each `along` another."""
    values = table[by].values
    return {
        value.item(): along(table.isel(trial=values == value), over) for value in np.unique(values)
    }
