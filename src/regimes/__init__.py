"""regimes: a laboratory for how neural networks learn.

The rooms (`data`, `nets`, `kernels`, `tangent`, `flow`, `curvature`, `decide`, `measure`, ...) load
when they are first used, so that `import regimes` stays fast and a program that only draws data
never imports the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from regimes import _waiting

if TYPE_CHECKING:
    from regimes import (
        curvature,
        curves,
        data,
        decide,
        diagnosis,
        flow,
        kernels,
        lab,
        measure,
        nets,
        observe,
        tangent,
        theory,
    )
    from regimes.diagnosis import diagnose

__version__ = "0.1.0"

_waiting.settle()  # before torch is loaded, for it reads this once

_ROOMS = (
    "data",
    "nets",
    "kernels",
    "tangent",
    "flow",
    "curvature",
    "decide",
    "measure",
    "theory",
    "lab",
    "observe",
    "curves",
    "diagnosis",
)

__all__ = [
    "__version__",
    "curvature",
    "curves",
    "data",
    "decide",
    "diagnose",
    "diagnosis",
    "flow",
    "kernels",
    "lab",
    "measure",
    "nets",
    "observe",
    "tangent",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"regimes.{name}")
    if name == "diagnose":
        return importlib.import_module("regimes.diagnosis").diagnose
    raise AttributeError(f"module 'regimes' has no attribute {name!r}; its rooms are {_ROOMS}")


def __dir__() -> list[str]:
    return sorted(__all__)
