"""What older forms of a study left behind, in the form the study has now.

A study that is regrouped or renames a quantity keeps what was computed: `stored` says under which
name a parameter stands in keys and files, `renamed` how dimensions and values of older trials and
summaries are called now, and a study's `formerly(params, config)` how the same trial was configured
before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regimes.lab._config import TrialConfig
from regimes.lab._record import FINISHED, CorruptRecordError, Record, encode
from regimes.lab._trial import Array, Series, TrialResult

if TYPE_CHECKING:
    import xarray as xr

    from regimes.lab._store import Store
    from regimes.lab._study import Study


def renamed_dataset(dataset: xr.Dataset, names: Mapping[str, str]) -> xr.Dataset:
    """A dataset with old names exchanged for new ones.

    Where the new name is a variable over the old dimension, the same in every trial, its values
    become the coordinate.

    >>> import xarray as xr
    >>> old = xr.Dataset({"scale": (("width", "at"), [[1.0, 3.0]]), "x": ("at", [5, 6])})
    >>> new = renamed_dataset(old, {"at": "scale"})
    >>> new.x.dims, new.scale.values.tolist()
    (('scale',), [1.0, 3.0])
    """
    for old, new in names.items():
        if old not in dataset.dims and old not in dataset.variables:
            continue
        values = None
        if new in dataset.variables and old in dataset[new].dims:
            values = dataset[new].max([dim for dim in dataset[new].dims if dim != old]).values
            dataset = dataset.drop_vars(new)
        dataset = dataset.rename({old: new})
        if values is not None:
            dataset = dataset.assign_coords({new: (new, values)})
    return dataset


def renamed_result(
    result: TrialResult, names: Mapping[str, str], axes: frozenset[str]
) -> TrialResult:
    """A trial's values under their new names; what is now an axis is no value any more."""

    def dims(old: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(dim, dim) for dim in old)

    def kept(values: Mapping[str, Any]) -> dict[str, Any]:
        found = {names.get(name, name): value for name, value in values.items()}
        return {name: value for name, value in found.items() if name not in axes}

    return TrialResult(
        kept(result.scalars),
        {
            name: Array(dims(array.dims), array.values)
            for name, array in kept(result.arrays).items()
        },
        {
            name: Series(series.times, series.values, dims=dims(series.dims))
            for name, series in kept(result.series).items()
        },
    )


def former_record(study: Study, params: Any, config: TrialConfig, store: Store) -> Record | None:
    """The trial as an older form of the study left it in the store, in its present form."""
    former = study.formerly(params, config)
    if former is None or former.key == config.key:
        return None
    try:
        found = store.read(former.study, former.key)
    except (FileNotFoundError, CorruptRecordError):
        return None
    if found.status != FINISHED:
        return None
    result = renamed_result(found.result, study.new_names, frozenset(study.axis_names))
    provenance = {**found.provenance, "formerly": former.key}
    return replace(found, config=config, result=result, provenance=provenance)


def adopt(study: Study, params: Any, configs: tuple[TrialConfig, ...], store: Store) -> int:
    """Give trials of older forms their present keys; returns how many were found."""
    if not study.has_former_forms or not (present := store.keys(study.name)):
        return 0
    missing = [config for config in configs if config.key not in present]
    found = [former_record(study, params, config, store) for config in missing]
    adopted = [encode(record) for record in found if record is not None]
    store.commit(adopted)
    return len(adopted)
