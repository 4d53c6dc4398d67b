"""How trials that are not a plain grid become one dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from regimes.lab import Results

_FINISHED = 2  # in `trial_state` of `lab.collect`


def merge_batches(results: Results) -> xr.Dataset:
    """Collected trials with the axes `batch` and `member` as one axis of seeds."""
    from regimes.lab import collect

    dataset = collect(results)
    if "member" not in dataset.dims:  # nothing is finished yet
        return dataset
    kept = {name: dataset[name] for name in dataset.coords if name not in ("batch", "member")}
    stacked = dataset.stack(seed=("batch", "member")).reset_index("seed").reset_coords(drop=True)
    return stacked.assign_coords(kept | {"seed": np.arange(stacked.sizes["seed"])})


def one_variable_each(results: Results, axis: str) -> xr.Dataset:
    """Collected trials of unlike parts: a variable belongs to one of them, so it loses the axis."""
    from regimes.lab import collect

    whole = collect(results)
    own = {
        name: whole[name].sel({axis: record.config.point[axis]}, drop=True)
        for record in results
        for name in (*record.result.scalars, *record.result.arrays)
    }
    return whole.assign(own)


def finished_parts(dataset: xr.Dataset, axis: str) -> set[str]:
    """The parts that have run."""
    return set(dataset[axis].values[(dataset.trial_state == _FINISHED).values])
