"""Studies of several scans, each a block of its own: a table with a row per trial."""

import numpy as np

from regimes.lab import Data, finished, judge, rows, unfinished

LEAST_SEEDS = 4  # fewer give no error bar worth the name
WIDTHS = (10, 14, 19, 27, 37, 52, 72, 100, 139, 193, 268, 373, 518, 720, 1000, 1390)  # the papers'


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
        raise judge.Missing(f"the scan {name!r} is left out")
    if left := unfinished(own):
        raise judge.Missing(f"{left} of {count} trials of the scan {name!r} have not finished")
    own = own.isel(seed=own.fitted.notnull().any("trial").values)
    if own.sizes["seed"] < LEAST_SEEDS:
        raise judge.Missing(f"{own.sizes['seed']} seeds, an error bar needs {LEAST_SEEDS}")
    return own
