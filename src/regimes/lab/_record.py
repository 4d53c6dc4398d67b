"""One trial as it lies on disk: a JSON text and a safetensors file, each with its checksum."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from regimes.lab._config import TrialConfig, canonical_json, digest
from regimes.lab._trial import Array, Scalar, Series, TrialResult, times_name

FORMAT = 1
FINISHED, FAILED = "finished", "failed"

# A text ends with the checksum of all before it, so that it can be verified without parsing.
_SEAL, _END = ',"checksum":"', '"}'


class CorruptRecordError(ValueError):
    """A stored trial that does not match its checksum, or cannot be read at all."""


@dataclass(frozen=True)
class Record:
    """One trial that was run: what it was, what came out, when, where and with which software."""

    config: TrialConfig
    status: str  # "finished" or "failed"
    result: TrialResult = field(default_factory=TrialResult)
    error: Mapping[str, str] | None = None  # type, message, traceback
    seconds: float = 0.0
    started: str = ""
    ended: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the trial's folder."""
        return self.config.key


@dataclass(frozen=True)
class Encoded:
    """A record as bytes: what travels between processes and lands in the store."""

    study: str
    key: str
    status: str
    trial_json: bytes
    arrays: bytes | None  # safetensors; None when the trial returned scalars only


def encode(record: Record) -> Encoded:
    """The record as bytes, checksums included."""
    tensors, layout = _flatten(record.result)
    arrays = safetensors.numpy.save(tensors) if tensors else None
    body = {
        "format": FORMAT,
        "key": record.key,
        "config": record.config.as_dict(),
        "status": record.status,
        "scalars": {k: _pack(v) for k, v in record.result.scalars.items()},
        "layout": layout,
        "nonfinite": list(record.result.nonfinite),
        "seed": record.config.point.get("seed", record.config.params.get("seed")),
        "error": record.error,
        "seconds": record.seconds,
        "started": record.started,
        "ended": record.ended,
        "provenance": record.provenance,
        "arrays": None if arrays is None else {"bytes": len(arrays), "sha256": digest(arrays)},
    }
    return Encoded(record.config.study, record.key, record.status, seal(body), arrays)


def seal(body: Mapping[str, Any]) -> bytes:
    """JSON that ends with the checksum of all before it."""
    text = canonical_json(body)
    return f"{text[:-1]}{_SEAL}{digest(text)}{_END}".encode()


def unseal(text: bytes, name: str, key: str, known: int) -> dict[str, Any]:
    """The inverse of `seal`, after checksum, format and key of the file `name` were found right."""
    start, end, written = text.rpartition(_SEAL.encode())
    if not end or written.decode(errors="replace") != digest(start + b"}") + _END:
        raise CorruptRecordError(f"{name} does not match its checksum")
    body: dict[str, Any] = json.loads(text)
    if body["format"] != known:
        raise CorruptRecordError(f"{name} has format {body['format']}, known is {known}")
    if body["key"] != key:
        raise CorruptRecordError(f"{name} belongs to trial {body['key']}")
    return body


def decode_json(text: bytes, key: str) -> dict[str, Any]:
    """The content of trial.json, after its checksum and its key were found right."""
    return unseal(text, "trial.json", key, FORMAT)


def check_arrays(body: Mapping[str, Any], arrays: bytes | None) -> None:
    """Compare the arrays file with what trial.json says of it."""
    said = body["arrays"]
    if said is None:
        return
    if arrays is None:
        raise CorruptRecordError("arrays.safetensors is missing")
    if len(arrays) != said["bytes"]:
        raise CorruptRecordError(
            f"arrays.safetensors has {len(arrays)} bytes instead of {said['bytes']}"
        )
    if digest(arrays) != said["sha256"]:
        raise CorruptRecordError("arrays.safetensors does not match its checksum")


def decode(
    body: Mapping[str, Any], arrays: bytes | None, config: TrialConfig | None = None
) -> Record:
    """The record from verified content; a configuration known already need not be read again."""
    tensors = safetensors.numpy.load(arrays) if arrays is not None else {}
    layout = body["layout"]
    return Record(
        config=config or TrialConfig.from_dict(body["config"]),
        status=body["status"],
        result=TrialResult(
            scalars={k: _unpack(v) for k, v in body["scalars"].items()},
            arrays={k: Array(dims, tensors[k]) for k, dims in layout["arrays"].items()},
            series={
                k: Series(tensors[times_name(k)], tensors[k], dims=tuple(dims))
                for k, dims in layout["series"].items()
            },
        ),
        error=body["error"],
        seconds=body["seconds"],
        started=body["started"],
        ended=body["ended"],
        provenance=body["provenance"],
    )


def _flatten(result: TrialResult) -> tuple[dict[str, np.ndarray], dict[str, dict[str, list[str]]]]:
    tensors = {name: array.values for name, array in result.arrays.items()}
    for name, series in result.series.items():
        tensors[name] = series.values
        tensors[times_name(name)] = series.times
    layout = {
        "arrays": {name: list(array.dims) for name, array in result.arrays.items()},
        "series": {name: list(series.dims) for name, series in result.series.items()},
    }
    return tensors, layout


def _pack(value: Scalar) -> Any:
    # JSON has no NaN and no infinity: they are written as {"float": "nan"}.
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _unpack(value: Any) -> Scalar:
    return float(value["float"]) if isinstance(value, dict) else value
