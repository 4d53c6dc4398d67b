"""How many threads a piece of work is given.

A product of small matrices takes less time than it takes to wake and gather threads, and threads
that wait for one another hold the cores of a busy machine. Small work is therefore done by one
thread, and work on many members is handed out by members, a thread to each worker: then nothing
waits inside an operation. What is given depends on sizes and on `torch.get_num_threads()` alone.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch


@contextlib.contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """Within this, operations of this thread use one thread where the work is `small`.

    >>> with one_thread():
    ...     print(torch.get_num_threads())
    1
    """
    before = torch.get_num_threads()
    if not small or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


CALL = 5e-6  # seconds in Python for an operation, while no other thread can be there
_TWO = 1e-2  # seconds of work below which torch itself shares it better between two threads


def is_small(seconds: float) -> bool:
    """Whether several threads would cost more than they gain: many are woken for longer than two.

    >>> is_small(1e-6), is_small(1.0)
    (True, False)
    """
    return seconds < (5e-4 if torch.get_num_threads() <= 2 else 1e-3)


def workers_for(seconds: float, calls: float, most: int) -> int:
    """How many workers share work of so many seconds, each at a cost of so many in calls of Python.

    Only one of them is in Python at a time: w workers take `seconds / w + calls * w`.

    >>> threads = torch.get_num_threads()
    >>> workers_for(1e-3, 1e-3, most=100), workers_for(1e3, 1e-3, most=1)
    (1, 1)
    >>> workers_for(1e3, 1e-3, most=100) == min(threads, 100)
    True
    """
    threads = torch.get_num_threads()
    if threads <= 2 and seconds < _TWO:
        return 1
    best = int((seconds / calls) ** 0.5)
    return max(1, min(best, most, threads))


def slices(size: int, tile: int, workers: int) -> list[slice]:
    """Parts of about the same size, at most `tile` each and as many as `workers` or more.

    >>> slices(10, 8, 4)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 9, None), slice(9, 10, None)]
    """
    step = max(1, min(tile, -(-size // workers)))
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


def share(parts: Sequence[Callable[[], None]], workers: int) -> None:
    """Do all parts, a thread to each of the workers; an error of a part is raised here.

    >>> done = []
    >>> share([lambda i=i: done.append(i) for i in range(5)], workers=2)
    >>> sorted(done)
    [0, 1, 2, 3, 4]
    """
    if workers == 1:
        with one_thread():
            for part in parts:
                part()
        return
    # this thread is one of the workers
    crew = _crew(workers - 1)
    queue = iter(parts)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                part = next(queue, None)
            if part is None:
                return
            part()

    waiting = [crew.submit(work) for _ in range(workers - 1)]
    try:
        with one_thread():
            work()
    finally:
        errors = [future.exception() for future in waiting]
    for error in errors:
        if error is not None:
            raise error


@cache
def _crew(size: int) -> ThreadPoolExecutor:
    """Threads that stay, whose operations use one thread each."""
    before = torch.get_num_threads()
    ready = threading.Barrier(size + 1)
    crew = ThreadPoolExecutor(size, "regimes", initializer=_settle_down)
    for _ in range(size):
        crew.submit(ready.wait)
    ready.wait()
    torch.set_num_threads(before)  # threads that others start begin as before
    return crew


def _settle_down() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


if hasattr(os, "register_at_fork"):  # threads do not survive a fork; not every system has any
    os.register_at_fork(after_in_child=_crew.cache_clear)
