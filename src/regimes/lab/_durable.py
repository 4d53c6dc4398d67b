"""Files that survive a crash: written aside, flushed to the disk, renamed into place."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)  # what rename says of a place in use
_MANY = 8  # folders from which one flush of the whole file system costs less than many small ones


class Aside:
    """A folder being written next to its final place, with its files still open for flushing."""

    def __init__(self, path: str, files: Mapping[str, bytes]) -> None:
        """Make the folder and write the files; on any error nothing of it remains."""
        self.path = path
        self.open: list[int] = []
        try:
            os.mkdir(path)  # noqa: PTH102 - plain texts here: this runs for every trial
        except FileNotFoundError:
            Path(path).mkdir(parents=True)
        try:
            for name, content in files.items():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                self.open.append(os.open(f"{path}/{name}", flags, 0o644))
                view = memoryview(content)
                while view:
                    view = view[os.write(self.open[-1], view) :]
        except OSError:
            self.drop()
            raise

    def close(self) -> None:
        """Close the files."""
        while self.open:
            os.close(self.open.pop())

    def drop(self) -> None:
        """Remove the folder."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)


def flush(folders: Sequence[Aside]) -> None:
    """Wait until the disk has the files; a network file system may report a full disk here."""
    sync_file_system = _syncfs()
    if len(folders) >= _MANY and sync_file_system is not None:
        sync_file_system(folders[0].open[0])
    else:
        for folder in folders:
            for file in folder.open:
                os.fsync(file)
            flush_folder(folder.path)
    for folder in folders:
        folder.close()


@functools.cache
def _syncfs() -> Callable[[int], None] | None:
    """Linux can flush one file system in one call; Python has no name for it."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)

    def call(file: int) -> None:
        if library.syncfs(file) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return call if hasattr(library, "syncfs") else None


def flush_folder(path: str | Path) -> None:
    """Make the names in a folder durable."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def replace_folder(target: Path, files: Mapping[str, bytes], scratch: Path) -> None:
    """Put a folder with these files at `target`, in the place of what was there before.

    A reader finds the old folder, the new one, or for an instant none, never a mixture. Of two
    processes that do this at once, one wins.
    """
    made = Aside(f"{scratch}-new", files)
    try:
        flush([made])
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            target.rename(scratch)
        Path(made.path).rename(target)
        flush_folder(target.parent)
    except OSError as error:
        made.drop()
        if error.errno not in TAKEN:
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
