"""`regimes docs`: the manual, in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from regimes.cli._output import FAILED, fail, say


def docs(
    folder: Annotated[
        str | None, typer.Option("--folder", help="Of the built manual; else out/manual.")
    ] = None,
) -> None:
    """Open the manual, or say how it is built."""
    page = next(filter(Path.is_file, _places(folder)), None)
    if page is None:
        where = folder or "out/manual"
        fail(
            f"there is no manual in {where}; build it with `make docs` in a checkout of the "
            "sources, then call this there or with --folder",
            FAILED,
        )
    say(str(page))
    webbrowser.open(page.as_uri())


def _places(folder: str | None) -> list[Path]:
    """Where the first page may lie: where it was said, else here or beside the sources."""
    if folder is not None:
        return [Path(folder).absolute() / "index.html"]
    checkout = Path(__file__).parents[3]
    return [root / "out" / "manual" / "index.html" for root in (Path.cwd(), checkout)]
