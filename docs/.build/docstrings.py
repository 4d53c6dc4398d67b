"""Docstrings as the manual's reference wants them; nothing changes in the code.

Examples that begin with `>>>` outside a section become code blocks. The fields of a dataclass, with
the comments behind them, become a list in its docstring if it has none.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^\s*(Example|Examples):\s*$")


def fenced(text: str) -> str:
    """The text with a fence around every free example."""
    out: list[str] = []
    inside = section = False
    for line in text.splitlines():
        if _SECTION.match(line):  # griffe knows the plural alone
            section, line = True, line.replace("Example:", "Examples:")
        if not section and not inside and line.startswith(">>> "):
            out += [] if not out or not out[-1] else [""]
            out.append("```pycon")
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join(out + (["```"] if inside else []))


class Docstrings(griffe.Extension):
    """Applied by griffe to everything it reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is None:
            return
        text = fenced(obj.docstring.value)
        if obj.is_class and "dataclass" in obj.labels and "Attributes:" not in text:
            text += fields(obj)
        obj.docstring.value = text


def fields(owner: griffe.Object) -> str:
    """A section with the fields of a dataclass and the comments behind them."""
    lines = []
    for field in owner.attributes.values():
        if field.name.startswith("_") or "property" in field.labels or field.annotation is None:
            continue
        _, _, comment = (field.source or "").partition("  # ")
        lines.append(f"    {field.name} ({field.annotation}): {' '.join(comment.split())}")
    return "\n\nAttributes:\n" + "\n".join(lines) if lines else ""
