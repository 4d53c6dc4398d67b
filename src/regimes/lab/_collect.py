"""From trials to one xarray Dataset, and averages that do not hide what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab._config import TrialConfig
from regimes.lab._record import FAILED, FINISHED, CorruptRecordError, Record
from regimes.lab._store import Store
from regimes.lab._study import Study
from regimes.lab._trial import times_name

if TYPE_CHECKING:
    import xarray as xr

STATES = ("missing", FAILED, FINISHED, "left out")  # coded 0 to 3 in `trial_state`


@dataclass(frozen=True)
class Results:
    """The trials of one scan: those finished, with their values; the others by name.

    Iterating gives the finished records; `record.config.point` is the place in the scan and
    `record.result` what the trial returned.
    """

    study: Study
    params: Any
    configs: tuple[TrialConfig, ...]
    records: tuple[Record, ...]
    failed: tuple[str, ...]  # keys
    missing: tuple[str, ...]  # keys

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def gather(
    study: Study, params: Any, *, store: Store | None = None, dtype: str | None = None
) -> Results:
    """Read every finished trial of a scan, each verified; a damaged one counts as missing."""
    store = store or Store()
    configs = tuple(study.configs(params, dtype=dtype))
    present = store.keys(study.name)
    records, failed, missing = [], [], []
    for config in configs:
        record = None
        if config.key in present:
            try:
                record = store.read(study.name, config.key, config=config)
            except FileNotFoundError:
                pass
            except CorruptRecordError:
                store.set_aside(study.name, config.key)
        if record is None:
            missing.append(config.key)
        elif record.status == FAILED:
            failed.append(config.key)
        else:
            records.append(record)
    return Results(study, params, configs, tuple(records), tuple(failed), tuple(missing))


def collect(results: Results) -> xr.Dataset:
    """Every value of every trial on the grid of the scan.

    Dimensions are the separate axes, then the dimensions of the value itself. A series `x` has the
    dimension `x_step` in place of time, and its times are the variable `x_times`. Points without
    a finished trial, and the ends of arrays shorter than others, hold NaN (an empty text). What is
    what can be told from two variables on the separate axes: `trial_state` (0 missing, 1 failed,
    2 finished, 3 not wanted by the study) and `trial_nonfinite` (the trial itself returned a NaN or
    an infinity).
    """
    import xarray as xr

    study = results.study
    outer = [axis for axis in study.axes if not axis.stacked]
    grid = _Grid([axis.name for axis in outer], results.params)
    variables: dict[str, Any] = {}
    columns: dict[str, list[tuple[tuple[int, ...], tuple[str, ...], Any]]] = {}
    for record in results:
        place = grid.place(record.config)
        for name, dims, value in _values(record):
            columns.setdefault(name, []).append((place, dims, value))
    for name, entries in columns.items():
        dims, values = grid.fill(name, entries)
        unit = study.units.get(name, "s" if name == "trial_seconds" else "1")
        variables[name] = (dims, values, {"units": unit})
    variables["trial_state"] = (grid.dims, grid.states(results), {"units": "1"})
    coords = {
        axis.name: (axis.name, np.asarray(getattr(results.params, axis.name)), {"units": axis.unit})
        for axis in study.axes
    }
    own = {name for name, (dims, values, _) in variables.items() if dims == (*grid.dims, name)}
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


class _Grid:
    """The separate axes and where on them each trial lies."""

    def __init__(self, dims: Sequence[str], params: Any) -> None:
        self.dims = tuple(dims)
        values = [getattr(params, name) for name in dims]
        self.shape = tuple(len(axis) for axis in values)
        self._index = [{value: i for i, value in enumerate(axis)} for axis in values]

    def place(self, config: TrialConfig) -> tuple[int, ...]:
        return tuple(
            index[config.point[name]] for name, index in zip(self.dims, self._index, strict=True)
        )

    def fill(
        self, name: str, entries: Sequence[tuple[tuple[int, ...], tuple[str, ...], Any]]
    ) -> tuple[tuple[str, ...], np.ndarray]:
        """One array for all trials' values of one name, padded where trials differ in length."""
        own_dims = entries[0][1]
        for place, dims, _ in entries:
            if dims != own_dims:
                raise ValueError(
                    f"{name!r} has the dimensions {dims} in one trial and {own_dims} in another "
                    f"(at {place}); a name must mean the same in all trials"
                )
        inner = np.max([np.shape(value) for _, _, value in entries], axis=0).astype(int)
        covered = len(entries) == np.prod(self.shape, dtype=int)
        whole = covered and all(np.shape(value) == tuple(inner) for _, _, value in entries)
        array = _blank((*self.shape, *inner), [value for _, _, value in entries], whole=whole)
        for place, _, value in entries:
            corner = tuple(slice(0, n) for n in np.shape(value))
            array[place + corner] = value
        return (*self.dims, *own_dims), array

    def states(self, results: Results) -> np.ndarray:
        codes = np.full(self.shape, STATES.index("left out"), dtype=np.int8)
        state = dict.fromkeys(results.failed, STATES.index(FAILED))
        state |= {record.key: STATES.index(FINISHED) for record in results}
        for config in results.configs:
            codes[self.place(config)] = state.get(config.key, 0)
        return codes


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


def _blank(shape: tuple[int, ...], values: Sequence[Any], *, whole: bool) -> np.ndarray:
    """An array to be filled; where holes will remain it can hold a NaN or an empty text."""
    if isinstance(values[0], str):
        width = max(1, *(len(value) for value in values))
        return np.full(shape, "", dtype=f"<U{width}")
    kind = np.result_type(*{np.asarray(value).dtype for value in values})
    if whole:
        return np.empty(shape, dtype=kind)
    return np.full(shape, np.nan, dtype=kind if kind.kind == "f" else np.float64)


def _shared(name: str, values: np.ndarray) -> np.ndarray:
    rows = values.reshape(-1, values.shape[-1])
    known = rows[~np.isnan(rows).any(axis=1)] if rows.dtype.kind == "f" else rows
    if len(known) == 0 or (known != known[0]).any():
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
    state = dataset["trial_state"]
    present = (state == STATES.index(FINISHED)).broadcast_like(values)
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
