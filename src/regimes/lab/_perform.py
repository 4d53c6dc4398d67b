"""Run trials in this process: the one piece of work every executor hands out."""

from __future__ import annotations

import datetime
import functools
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from regimes.lab._checkpoint import Checkpoints
from regimes.lab._config import Point, TrialConfig
from regimes.lab._environment import environment
from regimes.lab._record import FAILED, FINISHED, Encoded, Record, encode
from regimes.lab._registry import load
from regimes.lab._store import Store
from regimes.lab._study import Study
from regimes.lab._trial import TrialResult

GROUP_SIZE = 64  # trials
GROUP_SECONDS = 0.1  # finished work that a crash may lose, besides the trial in flight


@dataclass(frozen=True)
class Job:
    """What a worker must know once, as plain JSON values; the trials come later."""

    study: str
    module: str
    store: str
    device: str = "cpu"
    path: tuple[str, ...] = ()  # the driver's sys.path: where studies of the user's own lie

    def load(self) -> Study:
        """Import the study in this process."""
        sys.path.extend(entry for entry in self.path if entry not in sys.path)
        study = load(self.study, self.module)
        limit_threads()
        return study


@dataclass(frozen=True)
class Outcome:
    """What the driver hears of a trial; the result itself goes to the store."""

    key: str
    status: str  # "finished", "failed", or "found" when another process had done it meanwhile
    seconds: float = 0.0
    nonfinite: tuple[str, ...] = ()
    error: str = ""  # one line
    no_memory: bool = False  # why it failed
    watched: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values (NaN, which some studies watch, included)."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """The inverse of `as_dict`."""
        return cls(**{**data, "nonfinite": tuple(data["nonfinite"])})


FOUND = "found"


def limit_threads() -> None:
    """Give torch, when a study has loaded it, the threads the environment grants."""
    granted = os.environ.get("OMP_NUM_THREADS")
    torch = sys.modules.get("torch")
    if granted and granted.isdigit() and torch is not None:
        torch.set_num_threads(int(granted))


def perform(
    study: Study, config: TrialConfig, *, device: str = "cpu", store: Store | None = None
) -> Record:
    """Run one trial; whatever it raises becomes a failed record with its traceback.

    Checkpoints that it asks for go to `store`; without one there are none.

    Raises:
        KeyboardInterrupt: the user's own; one that the trial raises is a failure like others.
    """
    process = os.getpid()
    params, point = study.rebuild(config, device=device)
    checkpoints = None if store is None else Checkpoints(store, config)
    point = Point(point, dtype=point.dtype, device=point.device, checkpoints=checkpoints)
    started, clock = _now(), time.perf_counter()
    status, result, error = FINISHED, TrialResult(), None
    try:
        returned = study.trial(params, point)
        if not isinstance(returned, TrialResult):
            raise TypeError(f"a trial must return a TrialResult, got {type(returned).__name__}")
        _check_members(study, point, returned)
        result = returned
    except BaseException as caught:  # a failing trial must not take the others along
        if isinstance(caught, KeyboardInterrupt) and _listens_to_ctrl_c():
            raise
        status, error = FAILED, _account(caught)
    if os.getpid() != process:
        os._exit(1)  # a child that the trial forked came back from it; the parent will answer
    return Record(
        config=config,
        status=status,
        result=result,
        error=error,
        seconds=time.perf_counter() - clock + (checkpoints.spent if checkpoints else 0.0),
        started=started,
        ended=_now(),
        provenance={
            **environment(),
            "device": device,
            "accelerator": _accelerator(device),
            "threads": _threads(),
        },
    )


def _account(error: BaseException) -> dict[str, str]:
    """An exception in words, even one that has none."""
    try:
        message = str(error)
    except BaseException as second:
        message = f"(its text cannot be shown: that raises {type(second).__name__})"
    return {
        "type": type(error).__name__,
        "message": message,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _listens_to_ctrl_c() -> bool:
    """Whether Ctrl-C raises KeyboardInterrupt here; workers and `Stop` see to it otherwise."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _accelerator(device: str) -> str | None:
    """The name of the GPU a trial ran on."""
    torch = sys.modules.get("torch")
    if torch is None or not device.startswith("cuda"):
        return None
    return str(torch.cuda.get_device_name(device))


def perform_all(
    study: Study,
    configs: Sequence[TrialConfig],
    *,
    device: str,
    is_done: Callable[[str], bool],
    stopping: Callable[[], bool] = lambda: False,
    store: Store | None = None,
    begins: Callable[[str], None] = lambda key: None,
) -> Iterator[list[tuple[Encoded, Outcome]]]:
    """Run trials one by one and yield them in groups small enough that little is ever unsaved.

    `store` takes the checkpoints of long trials; `begins` hears the key of each when it starts.
    """
    group: list[tuple[Encoded, Outcome]] = []
    unsaved = 0.0
    for config in configs:
        if stopping():
            break
        if is_done(config.key):
            group.append((_NOTHING, Outcome(config.key, FOUND)))
            continue
        begins(config.key)
        record = perform(study, config, device=device, store=store)
        group.append(_packed(study, record))
        unsaved += record.seconds
        if len(group) >= GROUP_SIZE or unsaved >= GROUP_SECONDS:
            yield group
            group, unsaved = [], 0.0
    if group:
        yield group


def _packed(study: Study, record: Record) -> tuple[Encoded, Outcome]:
    """The record for the store and for the driver; failed when its result cannot be stored."""
    try:
        return encode(record), outcome_of(study, record)
    except Exception as caught:
        error = _account(caught)
        error["message"] = f"the result cannot be stored: {error['message']}"
        failed = replace(record, status=FAILED, result=TrialResult(), error=error)
        return encode(failed), outcome_of(study, failed)


_NOTHING = Encoded("", "", FOUND, b"", None)


def save(store: Store, group: Sequence[tuple[Encoded, Outcome]]) -> None:
    """Commit what a group computed."""
    store.commit([item for item, _ in group if item is not _NOTHING])


# of Python, of torch on a GPU and on a CPU, of CUDA's libraries
_NO_MEMORY = ("memoryerror:", "out of memory", "can't allocate memory", "alloc_failed")


def outcome_of(study: Study, record: Record) -> Outcome:
    """The short account of a record."""
    error = f"{record.error['type']}: {record.error['message']}" if record.error else ""
    memory = bool(record.error) and any(sign in error.lower() for sign in _NO_MEMORY)
    return Outcome(
        key=record.key,
        status=record.status,
        seconds=record.seconds,
        nonfinite=record.result.nonfinite,
        error=error.splitlines()[0][:500] if error else "",
        no_memory=memory,
        watched=_watched(study, record.result),
    )


def _watched(study: Study, result: TrialResult) -> dict[str, float]:
    best = {}
    for name, better in study.watch.items():
        if name in result.arrays:
            values = result.arrays[name].values.astype(float).ravel()
        else:
            values = np.array([result.scalars.get(name, np.nan)], dtype=float)
        values = values[np.isfinite(values)]
        if values.size:
            best[name] = float(values.min() if better == "min" else values.max())
    return best


def _check_members(study: Study, point: Mapping[str, Any], result: TrialResult) -> None:
    taken = {*study.axis_names} & {*result.scalars, *result.arrays, *result.series}
    if taken:
        raise ValueError(f"a trial must not return a value named like an axis: {sorted(taken)}")
    shapes = [(name, item.dims, item.values.shape) for name, item in result.arrays.items()]
    shapes += [(name, item.dims, item.values.shape) for name, item in result.series.items()]
    for name, dims, shape in shapes:
        for dim, length in zip(dims, shape, strict=True):
            axis = next((axis for axis in study.axes if axis.name == dim), None)
            if axis is None:
                continue
            if not axis.stacked:
                raise ValueError(f"{name!r} has the dimension {dim!r}, an axis not stacked")
            if length != len(point[dim]):
                raise ValueError(
                    f"{name!r} has {length} entries along {dim!r}, the point has {len(point[dim])}"
                )


@functools.cache
def _threads() -> int:
    granted = os.environ.get("OMP_NUM_THREADS", "")
    return int(granted) if granted.isdigit() else os.cpu_count() or 1


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
