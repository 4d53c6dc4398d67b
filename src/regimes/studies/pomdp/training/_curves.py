"""What claims and figures read from the flows: curves of q, their last common time, medians."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, Values, finished, judge, rows, those_run

PANELS = {  # of [Geiger 2022, fig. 4]
    "small-ram": "A",
    "large-ram": "B",
    "small-memento": "C",
    "large-memento": "D",
    "equal-small": "E",
    "equal-large": "F",
}

LINES = ("line", "heights")  # training from the best column: [Geiger 2022, fig. 2], left and right


def beside_columns(table: Data) -> Data:
    """The finished runs from columns of confidence, those of both panels.

    Raises:
        Missing: none has finished.
    """
    names = those_run(table, *LINES)
    chosen = np.isin(table.block.values, names) & finished(table).values
    return table.isel(trial=np.flatnonzero(chosen))


def runs(table: Data, block: str, kind: str = "", **settings: Any) -> Data:
    """The finished trial of one start of one block, of a kind of memory; its own seeds alone.

    Raises:
        Missing: it has not finished, or there are several and settings must tell them apart.
    """
    found = rows(table, block, **settings)
    found = found.isel(trial=[str(name).startswith(kind) for name in found.memory.values])
    if not found.sizes["trial"]:
        raise judge.Missing(f"no trial of {block} with a {kind} has finished")
    if found.sizes["trial"] > 1:
        raise judge.Missing(f"{found.sizes['trial']} trials of {block} fit {settings}")
    one = found.isel(trial=0)
    return one.dropna("seed", how="all", subset=["end_q"]) if "end_q" in one else one


def last_common(*curves: Values, most: float = np.inf) -> float:
    """The last time that every member of every curve has reached, up to `most`.

    Raises:
        Missing: there is none.
    """
    reached = np.logical_and.reduce([np.isfinite(each.values).all(0) for each in curves])
    times = curves[0].t.values[reached & (curves[0].t.values <= most * 1.001)]
    if not len(times):
        raise judge.Missing("the runs have no time in common")
    return float(times.max())


def values_at(curve: Values, t: float) -> np.ndarray:
    """Every seed's q at a time of the grid.

    Raises:
        Missing: some run ended before.
    """
    found: np.ndarray = curve.sel(t=t, method="nearest").values
    if not np.isfinite(found).all():
        raise judge.Missing(
            f"{int((~np.isfinite(found)).sum())} of {len(found)} runs end before t = {t:.3g}"
        )
    return found


def several(curve: Values, least: int = 2) -> Values:
    """The same curve, if it has enough seeds for an error.

    Raises:
        Missing: too few seeds.
    """
    if curve.sizes["seed"] < least:
        raise judge.Missing(f"an error needs {least} seeds, {curve.sizes['seed']} ran")
    return curve
