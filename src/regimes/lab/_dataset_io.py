"""An xarray Dataset as JSON (structure, texts) and safetensors (numbers): compact, no pickle.

A union of grids is padded with NaN wherever a block has not what others have. An array that is
mostly NaN is kept as the values that are not, in order, with a bit for each place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors.numpy

from regimes.lab._trial import as_numpy

if TYPE_CHECKING:
    import xarray as xr

STRUCTURE, NUMBERS = "dataset.json", "dataset.safetensors"
_PLACES = ": places"  # of the values of an array that is mostly NaN


def dataset_files(dataset: xr.Dataset) -> dict[str, bytes]:
    """The files that hold a dataset, by name.

    Raises:
        ValueError: for values or attributes that are neither numbers nor texts.
    """
    tensors: dict[str, np.ndarray] = {}
    structure: dict[str, Any] = {"attrs": _attributes("dataset", dataset.attrs), "variables": {}}
    for name, variable in dataset.variables.items():
        entry: dict[str, Any] = {
            "dims": list(variable.dims),
            "coordinate": name in dataset.coords,
            "attrs": _attributes(str(name), variable.attrs),
        }
        if variable.dtype.kind in "UO":
            entry["texts"] = np.asarray(variable.values, dtype=str).tolist()
        else:
            values = as_numpy(variable.values)
            known = _known(values)
            if known is not None:
                entry["shape"] = list(values.shape)
                tensors[f"{name}{_PLACES}"] = np.packbits(known)
                values = values[known]
            tensors[str(name)] = values
        structure["variables"][str(name)] = entry
    text = json.dumps(structure, indent=1, sort_keys=True, allow_nan=False)
    return {STRUCTURE: text.encode(), NUMBERS: safetensors.numpy.save(tensors)}


def dataset_from(files: Mapping[str, bytes]) -> xr.Dataset:
    """The inverse of `dataset_files`."""
    import xarray as xr

    structure = json.loads(files[STRUCTURE])
    tensors = safetensors.numpy.load(files[NUMBERS])
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    for name, entry in structure["variables"].items():
        values = np.asarray(entry["texts"]) if "texts" in entry else tensors[name]
        if "shape" in entry:
            values = _padded(values, tensors[f"{name}{_PLACES}"], entry["shape"])
        target = coordinates if entry["coordinate"] else variables
        target[name] = (tuple(entry["dims"]), values, entry["attrs"])
    return xr.Dataset(variables, coordinates, structure["attrs"])


def _known(values: np.ndarray) -> np.ndarray | None:
    """The places that are not NaN, where keeping them alone is shorter; else None."""
    if values.dtype.kind != "f" or values.ndim == 0:
        return None
    known: np.ndarray = ~np.isnan(values)
    return known if 2 * int(known.sum()) < known.size else None


def _padded(values: np.ndarray, places: np.ndarray, shape: list[int]) -> np.ndarray:
    """The array of this shape with the values at their places and NaN elsewhere."""
    full = np.full(shape, np.nan, values.dtype)
    full[np.unpackbits(places, count=full.size).astype(bool).reshape(shape)] = values
    return full


def _attributes(owner: str, attributes: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in attributes.items():
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, str | int | float | bool | list | tuple):
            raise ValueError(f"attribute {name!r} of {owner} must be a number or a text: {value!r}")
        plain[str(name)] = value
    return plain
