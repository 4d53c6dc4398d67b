"""What a long trial leaves behind while it runs, so that a kill costs minutes and not the trial.

    checkpoints/<theme>/<what>/<key>/<name>/<number>/state.json, arrays.safetensors

The highest number that matches its checksum counts. It appears by one rename, and only then those
before it go, so that there is a whole one at every moment. All of them go when the trial's record
is in the store.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.numpy

from regimes.lab._config import TrialConfig, digest
from regimes.lab._environment import commit, versions
from regimes.lab._record import CorruptRecordError, check_arrays, seal, unseal
from regimes.lab._store import Store
from regimes.lab._trial import as_numpy

VARIABLE = "REGIMES_CHECKPOINT_SECONDS"
DEFAULT_SECONDS = 120.0

_FORMAT = 1
_JSON, _ARRAYS = "state.json", "arrays.safetensors"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_ENDED = 0.25  # of the interval: a run that has ended is worth saving sooner
_SHARE = 20.0  # saving takes at most one part in so many of the time,
_PATIENCE = 10.0  # unless that makes the interval longer than so many times


class Checkpoints:
    """The checkpoints of one trial, each with a name of its own.

    Attributes:
        spent: seconds that the trial had taken before the checkpoint from which it goes on.
    """

    def __init__(self, store: Store, config: TrialConfig) -> None:
        self.store, self.config = store, config
        self.folder = store.checkpoints(config.study, config.key)
        self.spent = 0.0
        self.works = True  # until the disk says otherwise
        self._begin = time.monotonic()
        self._names: set[str] = set()

    @property
    def seconds(self) -> float:
        """Time the trial has taken, what it took before it was stopped included."""
        return self.spent + time.monotonic() - self._begin

    def named(self, name: str) -> Checkpoint:
        """The checkpoint of one flow or descent of the trial."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"a checkpoint's name is lower case, digits and -_., got {name!r}")
        if name in self._names:
            raise ValueError(
                f"this trial has asked for the checkpoint {name!r} before; give each flow or "
                "descent in it a name of its own: point.checkpoint('second')"
            )
        self._names.add(name)
        return Checkpoint(self, self.folder / name, _interval())


class Checkpoint:
    """Where one flow or descent leaves its state; see `regimes.flow.Checkpoint`."""

    def __init__(self, trial: Checkpoints, folder: Path, interval: float) -> None:
        self._trial, self._folder, self._interval = trial, folder, interval
        self._last, self._wait = time.monotonic(), interval

    def due(self, *, ended: bool) -> bool:
        """Whether the interval is over."""
        waited = time.monotonic() - self._last
        return self._trial.works and waited >= self._wait * (_ENDED if ended else 1.0)

    def save(self, tensors: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Put the state in the store; where it cannot be written, say so once and go on."""
        begin = time.monotonic()
        arrays = safetensors.numpy.save({name: as_numpy(v) for name, v in tensors.items()})
        config = self._trial.config
        body = {
            "format": _FORMAT,
            "key": config.key,
            "config": config.as_dict(),
            "software": _software(),
            "seconds": self._trial.seconds,
            "saved": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "about": about,
            "arrays": {"bytes": len(arrays), "sha256": digest(arrays)},
        }
        try:
            older = _numbers(self._folder)
            place = self._folder / f"{max(older, default=0) + 1:08d}"
            self._trial.store.add(place, {_JSON: seal(body), _ARRAYS: arrays})
            for number in older:
                shutil.rmtree(self._folder / f"{number:08d}", ignore_errors=True)
        except OSError as error:
            self._trial.works = False
            warnings.warn(
                f"this trial goes on without checkpoints, {self._folder} cannot be written: "
                f"{error.strerror or error}",
                RuntimeWarning,
                stacklevel=2,
            )
        self._last = time.monotonic()
        dear = min(_SHARE * (self._last - begin), _PATIENCE * self._interval)
        self._wait = max(self._interval, dear)

    def load(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The newest state that is whole and was made by this software; None without one."""
        import safetensors.torch

        for number in sorted(_numbers(self._folder), reverse=True):
            place = self._folder / f"{number:08d}"
            try:
                body, arrays = _read(place, self._trial.config.key)
            except (CorruptRecordError, OSError) as error:
                _ignore(place, str(error))
                continue
            if body["software"] != _software():
                _ignore(place, f"it was made by {body['software']}, this is {_software()}")
                continue
            self._trial.spent = max(self._trial.spent, float(body["seconds"]))
            return safetensors.torch.load(arrays), body["about"]
        return None


@dataclass(frozen=True)
class Begun:
    """A trial that has left a checkpoint and no record: it runs, or was stopped."""

    study: str
    key: str
    config: Mapping[str, Any]
    seconds: float
    saved: str


def begun(store: Store) -> Iterator[Begun]:
    """The trials with a checkpoint that are neither finished nor failed."""
    for study, key in store.with_checkpoints():
        if key in store.keys(study):
            continue
        bodies = []
        for place in store.checkpoints(study, key).glob("*/*"):
            with contextlib.suppress(CorruptRecordError, OSError):
                bodies.append(_body(place, key))
        if bodies:
            body = max(bodies, key=lambda each: each["saved"])
            yield Begun(study, key, body["config"], body["seconds"], body["saved"])


def _interval() -> float:
    text = os.environ.get(VARIABLE, "")
    try:
        seconds = float(text) if text else DEFAULT_SECONDS
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ValueError(f"{VARIABLE} must be a number of seconds, 0 or more, got {text!r}")
    return seconds


def _numbers(folder: Path) -> list[int]:
    try:
        return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _body(place: Path, key: str) -> dict[str, Any]:
    return unseal((place / _JSON).read_bytes(), _JSON, key, _FORMAT)


def _read(place: Path, key: str) -> tuple[dict[str, Any], bytes]:
    body = _body(place, key)
    arrays = (place / _ARRAYS).read_bytes()
    check_arrays(body, arrays)
    return body, arrays


def _software() -> dict[str, Any]:
    """What else must be the same for the last bits to be."""
    return {"commit": commit(), **versions()}


def _ignore(place: Path, reason: str) -> None:
    warnings.warn(f"the checkpoint {place} is not used: {reason}", RuntimeWarning, stacklevel=3)
