"""The one place that loads e3nn, which the extra `equivariant` installs."""

from __future__ import annotations

import importlib
from typing import Any


def e3nn() -> Any:
    """The module e3nn with its parts o3, nn, math and io.

    Raises:
        ImportError: where it is not installed, with the command that does it.
    """
    try:
        found = importlib.import_module("e3nn")
        for part in ("o3", "nn", "math", "io"):
            importlib.import_module(f"e3nn.{part}")
    except ImportError as error:
        raise ImportError(
            "this needs e3nn, which is not there; install it: pip install 'regimes[equivariant]'"
        ) from error
    return found
