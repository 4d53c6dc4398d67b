"""How the commands speak: tables, JSON, errors, and one set of exit codes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import typer

FAILED = 1  # trials or claims failed
USAGE = 2  # the command cannot be understood
BROKEN = 3  # the store or the executor cannot go on


def say(text: str = "", *, error: bool = False) -> None:
    """One line (or several) of plain text."""
    typer.echo(text, err=error)


def say_json(value: Any) -> None:
    """The answer for scripts: one JSON document on standard output."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False, default=str))


def fail(message: str, code: int = USAGE) -> NoReturn:
    """Say what is wrong on standard error and leave."""
    say(f"error: {message}", error=True)
    raise typer.Exit(code)


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn the library's errors about user input into messages without a traceback."""
    try:
        yield
    except ValueError as error:
        fail(str(error))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table: drawn by rich on a terminal, plain aligned columns in a pipe or a log."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        drawn = Table(box=None, header_style="bold", pad_edge=False)
        for heading in headings:
            drawn.add_column(heading, overflow="fold")
        for row in rows:
            drawn.add_row(*row)
        Console(markup=False).print(drawn)
        return
    widths = [max(len(row[i]) for row in (headings, *rows)) for i in range(len(headings))]
    for row in (headings, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())
