"""Studies of several scans, each a block of its own: a table with a row per trial."""

from typing import Any

import numpy as np

from regimes.lab import Data, finished, rows, unfinished
from regimes.lab.judge import Missing

LEAST_SEEDS = 4  # fewer give no error bar worth the name
WIDTHS = (10, 14, 19, 27, 37, 52, 72, 100, 139, 193, 268, 373, 518, 720, 1000, 1390)  # documents'


def scan(dataset: Data, block: str) -> Data:
    """The finished trials of a block, with the seeds of this block alone.

    Raises:
        Missing: none has finished.
    """
    table = rows(dataset, block)
    return table.isel(seed=table.fitted.notnull().any("trial").values)


def whole(dataset: Data, *blocks: str) -> Data:
    """The trials of these blocks, where the scan has them: all finished, with seeds enough.

    Raises:
        Missing: says what there is too little of.
    """
    finished(dataset)  # raises where there is no trial at all
    own = dataset.isel(trial=np.isin(dataset.block.values, blocks))
    count, name = own.sizes["trial"], blocks[0]
    if not count:
        raise Missing(f"the scan {name!r} is left out")
    if left := unfinished(own):
        raise Missing(f"{left} of {count} trials of the scan {name!r} have not finished")
    own = own.isel(seed=own.fitted.notnull().any("trial").values)
    if own.sizes["seed"] < LEAST_SEEDS:
        raise Missing(f"{own.sizes['seed']} seeds, an error bar needs {LEAST_SEEDS}")
    return own


def first_of(dataset: Data, *blocks: str) -> str:
    """The first of these blocks that the scan has, else the last."""
    known = dataset.block.values if "block" in dataset.coords else ()
    return next((block for block in blocks if block in known), blocks[-1])


def ran(dataset: Data, *blocks: str) -> list[str]:
    """Those of these blocks with a finished trial.

    Raises:
        Missing: there is none.
    """
    done = dataset.block.values[finished(dataset).values] if dataset.coords else ()
    found = [block for block in blocks if block in done]
    if not found:
        raise Missing(f"no trial of {' or '.join(blocks)} has finished")
    return found


def along(table: Data, setting: str) -> Data:
    """The rows with one setting as their dimension, in its order."""
    return table.sortby(setting).swap_dims(trial=setting)


def split(table: Data, by: str, over: str) -> dict[Any, Data]:
    """The rows of every value of one setting, each `along` another."""
    values = table[by].values
    return {
        value.item(): along(table.isel(trial=values == value), over) for value in np.unique(values)
    }
