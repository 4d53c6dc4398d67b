"""From trials to one xarray Dataset, and averages that do not hide what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab._gather import Results
from regimes.lab._layout import Entry, Grid, Layout, Table, fill, longest, states
from regimes.lab._parameters import BLOCK
from regimes.lab._record import Record
from regimes.lab._states import finished
from regimes.lab._trial import times_name

if TYPE_CHECKING:
    import xarray as xr


def collect(results: Results) -> xr.Dataset:
    """Every value of every trial on the grid of the scan.

    Dimensions are the separate axes and those cut into batches, then the dimensions of the value
    itself. A series `x` has the dimension `x_step` in place of time, and its times are the variable
    `x_times`. Points without a finished trial, and the ends of arrays shorter than others, hold NaN
    (an empty text). What is what can be told from two variables on the same axes: `trial_state`
    (0 missing, 1 failed, 2 finished, 3 not wanted by the study) and `trial_nonfinite` (the trial
    itself returned a NaN or an infinity).

    A union of grids becomes a table: one dimension `trial` with a row per trial, and beside it as
    coordinates `block` and the place on each axis (NaN or an empty text where a block lacks it);
    `regimes.lab.rows` selects from it.
    """
    import xarray as xr

    study = results.study
    layout: Layout = Table(results) if study.is_union else Grid(results)
    variables: dict[str, Any] = {}
    columns: dict[str, list[Entry]] = {}
    for record in results:
        for name, dims, value in _values(record):
            columns.setdefault(name, []).append(Entry(record.config, dims, value))
    lengths = longest(entry for entries in columns.values() for entry in entries)
    for name, entries in columns.items():
        dims, values = fill(layout, name, entries, lengths)
        unit = study.units.get(name, "s" if name == "trial_seconds" else "1")
        variables[name] = (dims, values, {"units": unit})
    variables["trial_state"] = (layout.dims, states(layout, results), {"units": "1"})
    coords = layout.coords()
    own = {name for name, (dims, values, _) in variables.items() if dims == (*layout.dims, name)}
    for name in own:  # a coordinate of the trials' own; the same in all of them
        dims, values, attributes = variables.pop(name)
        coords[name] = (name, _shared(name, values), attributes)
    counts = {
        "trials": len(results.configs),
        "finished": len(results),
        "failed": len(results.failed),
        "missing": len(results.missing),
    }
    return xr.Dataset(variables, coords, {"study": study.name, **counts})


def collect_blocks(results: Results) -> xr.Dataset:
    """A union of blocks of one trial each: every value belongs to one of them, so it needs no axis.

    `trial_state` and what else is said of trials has the dimension `block`.
    """
    table = collect(results)
    rows = {block: row for row, block in enumerate(table[BLOCK].values)}
    if len(rows) < table.sizes["trial"]:
        raise ValueError(f"{results.study.name}: a block has several trials; use `collect`")
    own = {
        name: table[name].isel(trial=rows[record.config.point[BLOCK]], drop=True)
        for record in results
        for name in (*record.result.scalars, *record.result.arrays)
    }
    about = [name for name in table.data_vars if str(name).startswith("trial_")]
    states = table[about].swap_dims(trial=BLOCK)
    return states.drop_vars([name for name in states.coords if name != BLOCK]).assign(own)


def _values(record: Record) -> Iterable[tuple[str, tuple[str, ...], Any]]:
    result = record.result
    for name, value in result.scalars.items():
        yield name, (), value
    for name, array in result.arrays.items():
        yield name, array.dims, array.values
    for name, series in result.series.items():
        dims = (*series.dims[:-1], f"{name}_step")
        yield name, dims, series.values
        yield times_name(name), dims, series.times
    yield "trial_seconds", (), record.seconds
    yield "trial_nonfinite", (), bool(result.nonfinite)


def _shared(name: str, values: np.ndarray) -> np.ndarray:
    rows = values.reshape(-1, values.shape[-1])
    known = rows[~np.isnan(rows).any(axis=1)] if rows.dtype.kind == "f" else rows
    if len(known) == 0:
        raise ValueError(
            f"no trial has the whole coordinate {name!r}, whose dimension has {rows.shape[1]} "
            "entries in other values; return it with them, or rename the array"
        )
    if (known != known[0]).any():
        raise ValueError(f"the coordinate {name!r} differs from trial to trial; rename the array")
    return known[0]


def mean_over(dataset: xr.Dataset, name: str, dim: str) -> xr.Dataset:
    """Average one variable over one dimension, without hiding anything.

    Trials that are missing or failed are left out, and `count` says how many took part. A NaN that
    a trial returned makes the average NaN: it is a result, not a gap. So does a series that ended
    before the others, from there on.

    Returns:
        `mean`, `error` (standard error of the mean; NaN for fewer than two) and `count`.
    """
    import xarray as xr

    values = dataset[name]
    if dim not in values.dims:
        raise ValueError(f"{name!r} has no dimension {dim!r}; it has {tuple(values.dims)}")
    present = finished(dataset).broadcast_like(values)
    count = present.sum(dim)
    # skipna=False: only the points known to be without a trial are replaced by zero weight.
    total = values.where(present, 0.0).sum(dim, skipna=False)
    mean = total / count
    squares = ((values - mean) ** 2).where(present, 0.0).sum(dim, skipna=False)
    error = np.sqrt(squares / (count - 1).where(count > 1) / count)
    made = xr.Dataset({"mean": mean.where(count > 0), "error": error, "count": count})
    for part in ("mean", "error"):
        made[part].attrs["units"] = values.attrs.get("units", "1")
    return made
