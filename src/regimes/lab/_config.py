"""The configuration of one trial: canonical text, and the hash that names its folder."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regimes.lab._checkpoint import Checkpoint, Checkpoints

KEY_LENGTH = 20  # hex digits: 80 bits, no collision before 1e10 trials

DTYPES = ("float32", "float64")
DEVICES = ("cpu", "cuda")


def canonical_json(value: Any) -> str:
    """One value, one text: sorted keys, no spaces, shortest float form, no NaN.

    >>> canonical_json({"b": (1, 2.5), "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(text: str | bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


class Point(Mapping[str, Any]):
    """Where in the scan a trial stands: one value per axis, a tuple of values for a stacked axis.

    Values are read as `point["width"]` or `point.width`. `point.dtype` and `point.device` say in
    which precision and where to compute. A long flow or descent in the trial takes
    `checkpoint=point.checkpoint()` and survives a kill.

    >>> point = Point({"width": 100, "seed": (0, 1)})
    >>> point.width, point["seed"], point
    (100, (0, 1), Point(width=100, seed=(0, 1)))
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        *,
        dtype: str = "float64",
        device: str = "cpu",
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._values = dict(values)
        self.dtype = dtype
        self.device = device
        self._checkpoints = checkpoints

    def checkpoint(self, name: str = "run") -> Checkpoint | None:
        """Where a flow or descent of the trial leaves its state; several need different names.

        None, which saves nothing, where the trial does not run beside a store.
        """
        return None if self._checkpoints is None else self._checkpoints.named(name)

    def __getitem__(self, axis: str) -> Any:
        return self._values[axis]

    def __getattr__(self, axis: str) -> Any:
        try:
            return self.__dict__["_values"][axis]
        except KeyError:
            raise AttributeError(f"this point has no axis {axis!r}: {self}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Point({', '.join(f'{axis}={value!r}' for axis, value in self.items())})"


@dataclass(frozen=True)
class TrialConfig:
    """Everything a trial's result depends on. Two equal configurations are the same trial.

    `params` holds the parameters that are not scanned; the scanned ones are in `point`, so that
    a longer scan leaves the trials already done valid.
    """

    study: str
    version: int
    params: Mapping[str, Any]
    point: Mapping[str, Any]
    dtype: str

    @functools.cached_property
    def key(self) -> str:
        """The name of the trial's folder."""
        return digest(canonical_json(self.as_dict()))[:KEY_LENGTH]

    def as_dict(self) -> dict[str, Any]:
        """The configuration as plain JSON values."""
        return {
            "study": self.study,
            "version": self.version,
            "params": dict(self.params),
            "point": dict(self.point),
            "dtype": self.dtype,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrialConfig:
        """The inverse of `as_dict`; lists, JSON's only sequence, become tuples again."""
        return cls(
            study=data["study"],
            version=data["version"],
            params=_tuples(data["params"]),
            point=_tuples(data["point"]),
            dtype=data["dtype"],
        )


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
