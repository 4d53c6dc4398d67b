"""The command as the user typed it, for records and for messages that say how to go on."""

from __future__ import annotations

import contextvars
import shlex
from typing import Any

from typer.core import TyperGroup

_words: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("words", default=())


class RememberWords(TyperGroup):
    """The top of the command line: keeps its words before they are taken apart."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words apart as always."""
        _words.set(tuple(args))
        return super().parse_args(ctx, args)


def typed() -> str:
    """The whole command with nothing added, quoted for a shell."""
    return shlex.join(["regimes", *_words.get()])
