"""How trials lie in a dataset: on the grid of their axes, or as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from regimes.lab._config import TrialConfig
from regimes.lab._parameters import BLOCK, every_value
from regimes.lab._record import FAILED, FINISHED
from regimes.lab._states import STATES

if TYPE_CHECKING:
    from regimes.lab._gather import Results


@dataclass(frozen=True, eq=False)
class Entry:
    """One value of one trial."""

    config: TrialConfig
    dims: tuple[str, ...]
    value: Any


class Layout(Protocol):
    """How trials lie on the dimensions of a dataset."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]

    def place(self, config: TrialConfig) -> tuple[slice, ...]:
        """The cells of a trial along the dimensions."""
        ...

    def coords(self) -> dict[str, Any]:
        """The values of all axes, as xarray takes them."""
        ...

    def length(self, dim: str, seen: int) -> int:
        """Entries along a dimension of a value itself, of which trials have up to `seen`."""
        ...

    def inside(self, entry: Entry, dims: tuple[str, ...], shape: tuple[int, ...]) -> Any:
        """Where along its own dimensions a trial's value goes."""
        ...


class Grid:
    """The axes that tell trials apart: separate ones, and those cut into batches."""

    def __init__(self, results: Results) -> None:
        self.study, self.params = results.study, results.params
        self.axes = [axis for axis in self.study.axes if not axis.stacked or axis.batch]
        self.dims: tuple[str, ...] = tuple(axis.name for axis in self.axes)
        values = [getattr(self.params, name) for name in self.dims]
        self.shape: tuple[int, ...] = tuple(len(axis) for axis in values)
        self._index = [{value: i for i, value in enumerate(axis)} for axis in values]

    def place(self, config: TrialConfig) -> tuple[slice, ...]:
        """The cells of a trial: one on a separate axis, consecutive ones on an axis that is cut."""
        own = self.study.values_of(config)
        found = []
        for axis, index in zip(self.axes, self._index, strict=True):
            value = own[axis.name]
            first = index[value[0] if axis.stacked else value]
            found.append(slice(first, first + (len(value) if axis.stacked else 1)))
        return tuple(found)

    def coords(self) -> dict[str, Any]:
        return {
            axis.name: (
                axis.name,
                np.asarray(getattr(self.params, axis.name)),
                {"units": axis.unit},
            )
            for axis in self.study.axes
        }

    def length(self, dim: str, seen: int) -> int:
        return seen

    def inside(self, entry: Entry, dims: tuple[str, ...], shape: tuple[int, ...]) -> Any:
        return tuple(slice(0, n) for n in shape)


class Table:
    """A union of grids: a row per trial."""

    def __init__(self, results: Results) -> None:
        self.study, self.params = results.study, results.params
        self.dims: tuple[str, ...] = ("trial",)
        self.shape: tuple[int, ...] = (len(results.configs),)
        self._points = [self.study.values_of(config) for config in results.configs]
        self._row = {config.key: i for i, config in enumerate(results.configs)}
        self._members = {
            axis.name: {v: i for i, v in enumerate(every_value(self.params, axis.name))}
            for axis in self.study.axes
            if axis.stacked
        }

    def place(self, config: TrialConfig) -> tuple[slice, ...]:
        row = self._row[config.key]
        return (slice(row, row + 1),)

    def coords(self) -> dict[str, Any]:
        made: dict[str, Any] = {BLOCK: ("trial", np.array([at[BLOCK] for at in self._points]))}
        for axis in self.study.axes:
            about = {"units": axis.unit}
            if axis.stacked:
                made[axis.name] = (axis.name, np.array(list(self._members[axis.name])), about)
            else:
                values = [at.get(axis.name) for at in self._points]
                made[axis.name] = ("trial", _column(values), about)
        return made

    def length(self, dim: str, seen: int) -> int:
        return len(self._members[dim]) if dim in self._members else seen

    def inside(self, entry: Entry, dims: tuple[str, ...], shape: tuple[int, ...]) -> Any:
        own = self.study.values_of(entry.config)
        places: list[Any] = []
        for dim, n in zip(dims, shape, strict=True):
            index = self._members.get(dim)
            places.append(range(n) if index is None else [index[value] for value in own[dim]])
        # one row of the table, so the outer product of the inner places is all there is
        return np.ix_(*places) if places else ()


def longest(entries: Iterable[Entry]) -> dict[str, int]:
    """The most entries along each dimension, in any value of any trial."""
    found: dict[str, int] = {}
    for entry in entries:
        for dim, length in zip(entry.dims, np.shape(entry.value), strict=True):
            found[dim] = max(length, found.get(dim, 0))
    return found


def fill(
    layout: Layout, name: str, entries: Sequence[Entry], lengths: Mapping[str, int]
) -> tuple[tuple[str, ...], np.ndarray]:
    """One array for all trials' values of one name, padded to the lengths of its dimensions."""
    own_dims = entries[0].dims
    for entry in entries:
        _check_alike(name, entries[0], entry)
    inner_dims = tuple(dim for dim in own_dims if dim not in layout.dims)
    parts = [_turned(layout.dims, entry) for entry in entries]
    lead = len(layout.dims)
    shapes = [part.shape[lead:] for part in parts]
    inner = tuple(layout.length(dim, lengths[dim]) for dim in inner_dims)
    places = [layout.place(entry.config) for entry in entries]
    cells = sum(int(np.prod([s.stop - s.start for s in where])) for where in places)
    whole = cells == np.prod(layout.shape, dtype=int) and all(s == inner for s in shapes)
    array = _blank((*layout.shape, *inner), [entry.value for entry in entries], whole=whole)
    for entry, part, where, shape in zip(entries, parts, places, shapes, strict=True):
        array[(*where, *layout.inside(entry, inner_dims, shape))] = part
    return (*layout.dims, *inner_dims), array


def _check_alike(name: str, first: Entry, other: Entry) -> None:
    for what, one, two in (
        ("the dimensions", first.dims, other.dims),
        ("values that are", _kind(first.value), _kind(other.value)),
    ):
        if one != two:
            raise ValueError(
                f"{name!r} has {what} {one} in the trial at {dict(first.config.point)} and {two} "
                f"in the trial at {dict(other.config.point)}; a name must mean the same in all"
            )


def _kind(value: Any) -> str:
    return "texts" if isinstance(value, str) else "numbers"


def _turned(dims: tuple[str, ...], entry: Entry) -> np.ndarray:
    """A value with the layout's dimensions first; those it lacks are one entry long."""
    value = np.asarray(entry.value)
    first = [dim for dim in dims if dim in entry.dims]
    order = [*first, *(dim for dim in entry.dims if dim not in dims)]
    value = value.transpose([entry.dims.index(dim) for dim in order])
    return np.expand_dims(value, tuple(i for i, dim in enumerate(dims) if dim not in entry.dims))


def states(layout: Layout, results: Results) -> np.ndarray:
    """What became of every trial, as numbers of `STATES`."""
    codes = np.full(layout.shape, STATES.index("left out"), dtype=np.int8)
    state = dict.fromkeys(results.failed, STATES.index(FAILED))
    state |= {record.key: STATES.index(FINISHED) for record in results}
    for config in results.configs:
        codes[layout.place(config)] = state.get(config.key, 0)
    return codes


def _column(values: Sequence[Any]) -> np.ndarray:
    """One setting of all trials; what a trial lacks is NaN or an empty text."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known):
        return np.array(["" if value is None else value for value in values])
    if len(known) == len(values):
        return np.array(values)
    return np.array([np.nan if value is None else float(value) for value in values])


def _blank(shape: tuple[int, ...], values: Sequence[Any], *, whole: bool) -> np.ndarray:
    """An array to be filled; where holes will remain it can hold a NaN or an empty text."""
    if isinstance(values[0], str):
        width = max(1, *(len(value) for value in values))
        return np.full(shape, "", dtype=f"<U{width}")
    kind = np.result_type(*{np.asarray(value).dtype for value in values})
    if whole:
        return np.empty(shape, dtype=kind)
    return np.full(shape, np.nan, dtype=kind if kind.kind == "f" else np.float64)
