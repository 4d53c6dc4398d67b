"""Downloads through pooch: hash-checked, with a progress bar, and whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from regimes.data._sources import Source

CACHE_VARIABLE = "REGIMES_CACHE"
_CHUNK = 1 << 16


def cache_folder() -> Path:
    """Where downloads are kept: REGIMES_CACHE, or the system's cache folder for regimes."""
    value = os.environ.get(CACHE_VARIABLE)
    if value:
        return Path(value).expanduser()
    import pooch

    return Path(pooch.os_cache("regimes"))


def fetch(source: Source, file: str, advice: str) -> Path:
    """The path of a file of an image set in the cache, downloaded if it is not there.

    The download goes to a temporary file that takes the final name once its md5 sum is right; a
    failed one leaves nothing behind. The mirrors are tried in order.

    Args:
        source: the image set.
        file: one of the files of `source.md5`.
        advice: what to tell the user when no mirror can be reached.

    Returns:
        The path.

    Raises:
        FileNotFoundError: if no mirror delivers the file.
        ValueError: if what a mirror delivers has the wrong sum.
        OSError: if the cache folder cannot be written to.
    """
    import pooch
    import requests

    folder = cache_folder() / source.name
    failures, wrong = [], []
    for mirror in source.mirrors:
        url = mirror + file
        with ProgressBar(f"{source.name}/{file}") as bar:
            loader = pooch.HTTPDownloader(
                progressbar=bar if bar.visible else False, chunk_size=_CHUNK
            )
            try:
                path = pooch.retrieve(
                    url,
                    known_hash=f"md5:{source.md5[file]}",
                    fname=file,
                    path=folder,
                    downloader=loader,
                )
                return Path(path)
            except requests.RequestException as error:
                failures.append(f"{url}: {_reason(error)}")
            except ValueError:
                wrong.append(url)
            except OSError as error:
                raise OSError(
                    f"cannot write {file} to the cache {folder}: {error}; set {CACHE_VARIABLE} to "
                    "a folder that you can write to"
                ) from error
    with contextlib.suppress(OSError):
        folder.rmdir()  # made for this download; stays if it holds anything
    if wrong:
        raise ValueError(
            f"the file at {', '.join(wrong)} does not have the md5 sum {source.md5[file]} that "
            f"{source.name} should have; nothing was kept. Try again later, or get {file} elsewhere"
        )
    raise FileNotFoundError(f"{advice}. Download failed: {'; '.join(failures)}")


def _reason(error: Exception) -> str:
    """The innermost cause in one line: network libraries wrap it several times."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__  # type: ignore[assignment]
    return f"{type(error).__name__} ({str(inner)[:200]})"


class ProgressBar:
    """A rich progress bar with the interface pooch asks for; shown on a terminal only.

    Args:
        title: text left of the bar.
        console: a rich console; None writes to standard error.
    """

    def __init__(self, title: str, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        console = Console(stderr=True) if console is None else console
        self.visible = bool(console.is_terminal)
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console
        )
        self._task = self._progress.add_task(title, total=None)

    @property
    def total(self) -> float | None:
        """Bytes to come; None when the server does not say."""
        return self._progress.tasks[0].total

    @total.setter
    def total(self, size: float) -> None:
        # Pooch sets the size when the first byte arrives; a file in the cache never gets here.
        self._progress.update(self._task, total=size or None)
        if self.visible:
            self._progress.start()

    def update(self, size: int) -> None:
        """Count `size` bytes more."""
        self._progress.update(self._task, advance=size)

    def reset(self) -> None:
        """Start counting again."""
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        """Pooch calls this at the end; the bar stops when the `with` block ends."""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress.live.is_started:
            self._progress.stop()
