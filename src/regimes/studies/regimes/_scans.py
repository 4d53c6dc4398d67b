"""Studies of several scans, each a block of its own: their rows, and the texts they once had.

The table of such a study has a row per trial (`regimes.lab.rows`). Before there were blocks a trial
was named by a text such as "widths L=2 P=50 h=32 at=0.1"; what was computed under these names is
found again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from regimes.lab import Data, TrialConfig, finished, rows, unfinished
from regimes.lab.judge import Missing

LEAST_SEEDS = 4  # fewer give no error bar worth the name
WIDTHS = (10, 14, 19, 27, 37, 52, 72, 100, 139, 193, 268, 373, 518, 720, 1000, 1390)  # documents'
_LETTERS = {"depth": "L", "n_train": "P", "width": "h", "scale": "at", "alpha": "alpha"}


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


def percent(values: Iterable[float]) -> str:
    """Fractions in percent, for a claim's reasons.

    >>> percent([0.19, 0.168])
    '19.0, 16.8 %'
    """
    return ", ".join(f"{100 * value:.1f}" for value in values) + " %"


def former_config(
    config: TrialConfig, params: Mapping[str, Any], scan: str, named: Mapping[str, str | int]
) -> TrialConfig | None:
    """How a trial was configured when a text named it; None where no text told it exactly.

    Args:
        config: the trial as it is now.
        params: those that all scans had in common.
        scan: the first word of the text.
        named: what the text said before depth, points, width and scale.
    """
    told = [scan, *(f"{name}={value}" for name, value in named.items())]
    for name, letter in _LETTERS.items():
        if name in config.point:
            value = f"{config.point[name]:g}"
            if float(value) != config.point[name]:
                return None
            told.append(f"{letter}={value}")
    point = {"case": " ".join(told), "seed": config.point["seed"]}
    return TrialConfig(config.study, config.version, params, point, config.dtype)


def every_block(params: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of all blocks; those left out are of the size with as many test points."""
    n_test = next(iter(params.values())).n_test
    same = [size for size in sizes.values() if all(own.n_test == n_test for own in size.values())]
    return {**(same[0] if same else {}), **params}


def from_cases(dataset: Data) -> Data:
    """A table of trials that were named by texts, as a table of blocks; others as they are."""
    if "case" not in dataset.dims:
        return dataset
    table = dataset.drop_vars(["case", "scale"], errors="ignore")  # the trials told their scale
    names = {letter: name for name, letter in _LETTERS.items() if letter != name}
    return table.rename({"case": "trial", "scan": "block", **names})
