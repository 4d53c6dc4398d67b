r"""Formulas of the manual as MathML, made when it is built: `$` in a line, `$$` around a block.

Browsers draw MathML themselves, so a page needs no script and no font for it.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_INLINE = r"(?<![\\$\w])\$(?P<tex>[^\s$](?:[^$]*[^\s$])?)\$(?![\w$])"
_BLOCK = r"\$\$(?P<tex>[^$]+)\$\$"


class _Formula(InlineProcessor):
    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    # the base class names these two in capitals of its own
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Any, int, int]:  # noqa: N802
        mathml = convert(m["tex"].strip(), display=self.display)
        ElementTree.fromstring(mathml)  # what is not well formed stops the build
        return self.md.htmlStash.store(mathml), m.start(0), m.end(0)


class Formulas(Extension):
    """Adds both patterns, before backslashes and underscores are looked at."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Called by Markdown with itself."""
        md.inlinePatterns.register(_Formula(_BLOCK, md, "block"), "formula-block", 186)
        md.inlinePatterns.register(_Formula(_INLINE, md, "inline"), "formula", 185)


def makeExtension(**settings: Any) -> Formulas:  # noqa: N802
    """What Markdown calls to load the extension."""
    return Formulas(**settings)
