"""The store: one folder per trial, written aside and renamed into place, never half visible.

Layout under the root:

    trials/<theme>/<what>/<key>/trial.json, arrays.safetensors
    summaries/<theme>/<what>/<label>/        what runs made of their trials
    checkpoints/<theme>/<what>/<key>/        what unfinished trials left on their way
    aside/<theme>/<what>/<key>-<time>/       damaged trials, kept for inspection
    tmp/                                     folders being written

arrays.safetensors is there when the trial returned arrays or series. Nothing is locked. A folder
appears under trials/ by one rename, which file systems (network ones included) do atomically; of
two writers of one trial the second finds the place taken and drops its copy, which holds the same
result.

Durability: files are flushed to the disk before the rename and the parent folder after it. `commit`
does this for a group of trials at once, because the first flush of a group pays for the others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from regimes.lab._config import TrialConfig
from regimes.lab._durable import TAKEN, Aside, flush, flush_folder, replace_folder
from regimes.lab._record import (
    FAILED,
    FINISHED,
    CorruptRecordError,
    Encoded,
    Record,
    check_arrays,
    decode,
    decode_json,
)

DEFAULT = "out/store"
VARIABLE = "REGIMES_STORE"
_JSON, _ARRAYS = "trial.json", "arrays.safetensors"
# errors that say nothing of the file
_NOT_THE_FILE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE)
_LEFTOVER_AGE = 3600.0  # seconds; a folder takes far less to write, whatever machine writes it


class StoreError(OSError):
    """The store cannot be written; the message names the place and what to do."""


@dataclass(frozen=True)
class Inspection:
    """What a store holds of a list of trials."""

    finished: dict[str, dict[str, Any]]  # key -> verified content of trial.json
    failed: dict[str, dict[str, Any]]
    set_aside: dict[str, str]  # key -> what was wrong with it


class Store:
    """Trials on disk, shared by any number of processes and machines."""

    def __init__(self, root: str | os.PathLike[str] | None = None) -> None:
        self.root = Path(root or os.environ.get(VARIABLE) or DEFAULT).absolute()

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def folder(self, study: str) -> Path:
        """Where the trials of one study lie."""
        return self.root / "trials" / study

    # -- reading ---------------------------------------------------------------------------------

    def studies(self) -> list[str]:
        """Names of the studies with trials in the store."""
        folders = (self.root / "trials").glob("*/*")
        return sorted(f"{path.parent.name}/{path.name}" for path in folders)

    def keys(self, study: str) -> set[str]:
        """Keys of the trials present, finished or failed, not verified."""
        try:
            return {path.name for path in os.scandir(self.folder(study))}
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def checkpoints(self, study: str, key: str) -> Path:
        """Where a trial leaves its state while it runs."""
        return self.root / "checkpoints" / study / key

    def with_checkpoints(self) -> list[tuple[str, str]]:
        """Study and key of the trials that have left checkpoints."""
        folders = sorted((self.root / "checkpoints").glob("*/*/*"))
        return [(f"{path.parts[-3]}/{path.parts[-2]}", path.name) for path in folders]

    def inspect(self, study: str, keys: Iterable[str]) -> Inspection:
        """Verify those trials of `keys` that are present, and set damaged ones aside."""
        present = self.keys(study)
        found = Inspection({}, {}, {})
        for key in keys:
            if key not in present:
                continue
            try:
                body, _ = self._read(study, key)
            except FileNotFoundError:
                continue  # replaced or pruned by another process meanwhile
            except CorruptRecordError as error:
                found.set_aside[key] = str(error)
                self.set_aside(study, key)
            else:
                (found.failed if body["status"] == FAILED else found.finished)[key] = body
        return found

    def contains(self, study: str, key: str) -> bool:
        """Whether the trial is finished; a quick look that does not read the arrays."""
        try:
            text = _bytes(f"{self.root}/trials/{study}/{key}", _JSON)
            return text is not None and decode_json(text, key)["status"] != FAILED
        except CorruptRecordError:
            return False

    def read(self, study: str, key: str, *, config: TrialConfig | None = None) -> Record:
        """One trial, verified; `config` spares reading a configuration that is known.

        Raises:
            CorruptRecordError: the files do not match their checksums.
            FileNotFoundError: there is no such trial.
        """
        body, arrays = self._read(study, key)
        try:
            return decode(body, arrays, config)
        except (ValueError, TypeError, KeyError, SafetensorError) as error:
            raise CorruptRecordError(f"whole, but it cannot be understood: {error}") from error

    def body(self, study: str, key: str) -> dict[str, Any]:
        """The verified content of trial.json."""
        return self._read(study, key)[0]

    def _read(self, study: str, key: str) -> tuple[dict[str, Any], bytes | None]:
        folder = f"{self.root}/trials/{study}/{key}"
        text = _bytes(folder, _JSON)
        if text is None:
            if os.path.lexists(folder):
                raise CorruptRecordError("trial.json is missing")
            raise FileNotFoundError(f"no trial {key} of {study} in {self.root}")
        body = decode_json(text, key)
        arrays = _bytes(folder, _ARRAYS) if body["arrays"] else None
        check_arrays(body, arrays)
        return body, arrays

    # -- writing ---------------------------------------------------------------------------------

    def commit(self, group: Sequence[Encoded]) -> None:
        """Make a group of trials durable and visible, each completely or not at all.

        Raises:
            StoreError: something could not be written. The trials of the group before it are in
                place; nothing is visible of the others.
        """
        waiting: list[tuple[Encoded, Aside]] = []
        try:
            try:
                for item in group:
                    waiting.append((item, Aside(self._fresh(), _files(item))))
            finally:  # what was written before an error is good and is kept
                flush([aside for _, aside in waiting])
                for study in {self._publish(item, aside) for item, aside in waiting}:
                    flush_folder(self.folder(study))
            for item in group:
                if item.status == FINISHED:
                    with contextlib.suppress(OSError):  # `sweep` will find it
                        self.forget(item.study, item.key)
        except OSError as error:
            for _, aside in waiting:
                aside.drop()  # those not published; of the others nothing is left here
            raise self._unwritable(error) from error

    def _publish(self, item: Encoded, aside: Aside) -> str:
        parent = f"{self.root}/trials/{item.study}"
        place = f"{parent}/{item.key}"
        try:
            if not os.path.exists(parent):  # noqa: PTH110 - plain texts: this runs for every trial
                Path(parent).mkdir(parents=True, exist_ok=True)
            os.rename(aside.path, place)  # noqa: PTH104
        except OSError as error:
            if error.errno not in TAKEN:
                raise
            if not self.contains(item.study, item.key):  # a failed or damaged trial gives way
                replace_folder(Path(place), _files(item), Path(self._fresh()))
            aside.drop()  # otherwise somebody else finished the same trial first
        return item.study

    def add(self, place: Path, files: Mapping[str, bytes]) -> None:
        """Put a new folder in its place, whole and durable; one that is there already stays."""
        aside = Aside(self._fresh(), files)
        try:
            flush([aside])
            place.parent.mkdir(parents=True, exist_ok=True)
            Path(aside.path).rename(place)
            flush_folder(place.parent)
        except OSError as error:
            aside.drop()
            if error.errno not in TAKEN:
                raise

    def set_aside(self, study: str, key: str) -> None:
        """Move a damaged trial out of the way, to aside/; it stays where nothing can be written."""
        target = self.root / "aside" / study / f"{key}-{time.time_ns()}"
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.folder(study) / key).rename(target)

    def remove(self, study: str, key: str) -> None:
        """Delete one trial and its checkpoints; readers see it whole or not at all."""
        self._delete(self.folder(study) / key)
        self.forget(study, key)

    def forget(self, study: str, key: str) -> None:
        """Delete the checkpoints of one trial."""
        place = f"{self.root}/checkpoints/{study}/{key}"
        if os.path.exists(place):  # noqa: PTH110 - plain texts: this runs for every trial
            self._delete(Path(place))

    def _delete(self, folder: Path) -> None:
        doomed = Path(self._fresh())
        doomed.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(doomed / folder.name)
        shutil.rmtree(doomed, ignore_errors=True)

    def replace(self, folder: Path, files: dict[str, bytes]) -> None:
        """Write a folder of the store anew, for example a summary."""
        try:
            replace_folder(folder, files, Path(self._fresh()))
        except OSError as error:
            raise self._unwritable(error) from error

    def sweep(self) -> int:
        """Delete what processes left when they died; returns how many folders.

        That is what they had written half, and checkpoints of trials that are finished.
        """
        oldest = time.time() - _LEFTOVER_AGE
        count = 0
        for path in (self.root / "tmp").glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    shutil.rmtree(path, ignore_errors=True)
                    count += 1
        for study, key in self.with_checkpoints():
            with contextlib.suppress(OSError):
                if self.contains(study, key):
                    self.forget(study, key)
                    count += 1
        return count

    def _fresh(self) -> str:
        return f"{self.root}/tmp/{os.urandom(8).hex()}"

    def _unwritable(self, error: OSError) -> StoreError:
        free = ""
        with contextlib.suppress(OSError):
            free = f"; {shutil.disk_usage(self.root).free / 2**20:.0f} MiB free there"
        return StoreError(
            error.errno,
            f"cannot write to the store {self.root}: {error.strerror or error}{free}. "
            "Finished trials in it are safe. Free some space, or choose another place with "
            f"--store or {VARIABLE}, and give the same command again",
        )


def _files(item: Encoded) -> dict[str, bytes]:
    files = {_JSON: item.trial_json}
    return files if item.arrays is None else {**files, _ARRAYS: item.arrays}


def _bytes(folder: str, name: str) -> bytes | None:
    try:
        # `open` and not Path: this runs 10,000 times at a resume
        with open(f"{folder}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # a folder in its place, no permission, a broken disk
        if error.errno in _NOT_THE_FILE:
            raise
        raise CorruptRecordError(f"{name} cannot be read: {error.strerror}") from error
