"""An xarray Dataset as JSON (structure, texts) and safetensors (numbers): compact, no pickle."""

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
            tensors[str(name)] = as_numpy(variable.values)
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
        target = coordinates if entry["coordinate"] else variables
        target[name] = (tuple(entry["dims"]), values, entry["attrs"])
    return xr.Dataset(variables, coordinates, structure["attrs"])


def _attributes(owner: str, attributes: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in attributes.items():
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, str | int | float | bool | list | tuple):
            raise ValueError(f"attribute {name!r} of {owner} must be a number or a text: {value!r}")
        plain[str(name)] = value
    return plain
