"""What became of the trials behind a dataset, and the rows of a table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab._parameters import BLOCK
from regimes.lab._record import FAILED, FINISHED
from regimes.lab.judge import Missing

if TYPE_CHECKING:
    import xarray as xr

STATES = ("missing", FAILED, FINISHED, "left out")  # coded 0 to 3 in `trial_state`


def finished(dataset: xr.Dataset) -> xr.DataArray:
    """Which trials have finished.

    Raises:
        Missing: the dataset knows of no trial.
    """
    if "trial_state" not in dataset:
        raise Missing("no trial has finished")
    return dataset["trial_state"] == STATES.index(FINISHED)


def unfinished(dataset: xr.Dataset) -> int:
    """How many trials that the scan wants failed or have not run yet.

    >>> import xarray as xr
    >>> unfinished(xr.Dataset({"trial_state": ("d", [2, 2, 1, 0, 3])}))
    2
    """
    if "trial_state" not in dataset:
        raise Missing("no trial has finished")
    return int((dataset["trial_state"] < STATES.index(FINISHED)).sum())


def ran(dataset: xr.Dataset, block: str) -> xr.Dataset:
    """The same dataset, for whoever needs what one block has measured.

    Raises:
        Missing: the block has not run to its end.

    >>> import xarray as xr
    >>> data = xr.Dataset({"trial_state": ("block", [2, 0])}, {"block": ["noise", "layers"]})
    >>> ran(data, "noise") is data
    True
    >>> ran(data, "layers")
    Traceback (most recent call last):
    ...
    regimes.lab.judge._missing.Missing: the block layers has not run
    """
    known = dataset[BLOCK].values[finished(dataset).values] if BLOCK in dataset.coords else ()
    if block not in known:
        raise Missing(f"the block {block} has not run")
    return dataset


def rows(table: xr.Dataset, block: str, **settings: Any) -> xr.Dataset:
    """The finished trials of one block of a union that have these settings.

    Raises:
        Missing: none has finished.
    """
    if BLOCK not in table.coords:
        raise Missing("no trial has finished")
    chosen = (table[BLOCK] == block).values & finished(table).values
    for name, value in settings.items():
        own = table[name].values
        chosen &= np.isclose(own, value) if isinstance(value, float) else own == value
    if not chosen.any():
        told = "".join(f", {name} = {value}" for name, value in settings.items())
        raise Missing(f"no trial of {block}{told} has finished")
    return table.isel(trial=np.flatnonzero(chosen))
