"""What lies beside a study's declaration in its folder: its judges and its figures.

`studies/<theme>/<study>/` has them in files of known names, so the class that declares the study
need not mention them: `claim` in `_claims.py` and `FIGURES` in `_figures.py`.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from typing import Any

CLAIMS = ("claims", "_claims", "claim")  # attribute of the class; else the file, and its name there
FIGURES = ("figures", "_figures", "FIGURES")


def found_for(cls: type, attribute: str, file: str, name: str) -> Any:
    """What a class says itself, else what the file in its folder holds; None without either.

    Raises:
        ValueError: the file is there and does not hold the name.
    """
    own, module = getattr(cls, attribute, None), cls.__module__
    is_folder = hasattr(sys.modules.get(module), "__path__")
    if own is not None or not is_folder or find_spec(f"{module}.{file}") is None:
        return own
    beside = importlib.import_module(f"{module}.{file}")
    if not hasattr(beside, name):
        raise ValueError(
            f"{module}.{file} holds no {name}, which is taken for the {attribute} of "
            f"{cls.__name__}: call it so, or say {attribute} = ... in the class"
        )
    return getattr(beside, name)
