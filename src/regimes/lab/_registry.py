"""Where studies are found: the package's own, entry points, and modules the user names."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regimes._check import nearest_first
from regimes.lab._ledger import ledger

if TYPE_CHECKING:
    from regimes.lab._study import Study

PACKAGE = "regimes.studies"
ENTRY_POINTS = "regimes.studies"
VARIABLE = "REGIMES_STUDIES"  # module names, separated by commas
NEAREST = 3  # names that are offered for one that is not known

_registered: dict[str, Study] = {}


@dataclass(frozen=True)
class Catalogue:
    """Every study found, by name, and the modules that could not be imported, with the reason."""

    studies: Mapping[str, Study]
    broken: Mapping[str, str]


def register(study: Study) -> None:
    """Make a study known by its name; called by the decorator."""
    known = _registered.get(study.name)
    if known is not None and known.module != study.module:
        raise ValueError(
            f"two studies are called {study.name!r}: one in {known.module}, one in {study.module}"
        )
    _registered[study.name] = study


def discover() -> Catalogue:
    """Import every module that may hold studies; a broken one does not hide the others."""
    broken = {}
    here = str(Path.cwd())
    if os.environ.get(VARIABLE) and "" not in sys.path and here not in sys.path:
        sys.path.insert(0, here)  # the user's own modules lie where they work
    for module in _modules():
        try:
            importlib.import_module(module)
        except Exception as error:  # somebody else's module may fail in any way
            broken[module] = f"{type(error).__name__}: {error}"
    return Catalogue(dict(sorted(_registered.items())), broken)


def find(name: str) -> Study:
    """The study of that name, or an error with the names nearest to it."""
    catalogue = discover()
    check_study(name, catalogue)
    return catalogue.studies[name]


def check_study(name: str, catalogue: Catalogue) -> None:
    """Refuse a name that no study has.

    Raises:
        ValueError: with the nearest names, and with what could not be imported.
    """
    if name in catalogue.studies:
        return
    if catalogue.broken:
        reasons = "; ".join(f"{module}: {why}" for module, why in catalogue.broken.items())
        raise ValueError(
            f"unknown study {name!r}, and some modules could not be imported: {reasons}"
        )
    near = ", ".join(nearest_first(name, catalogue.studies)[:NEAREST])
    raise ValueError(
        f"unknown study {name!r}; nearest: {near} "
        f"(`regimes studies` lists all {len(catalogue.studies)})"
    )


def themes(catalogue: Catalogue) -> list[str]:
    """Every theme: those of the ledger, then those of studies of the user's own."""
    known = [entry.theme for entry in ledger().values()]
    return list(dict.fromkeys([*known, *(study.theme for study in catalogue.studies.values())]))


def check_theme(name: str, catalogue: Catalogue) -> None:
    """Refuse a name that no theme has.

    Raises:
        ValueError: with every theme, the nearest first.
    """
    known = themes(catalogue)
    if name not in known:
        raise ValueError(
            f"there is no theme {name!r}; the themes are {', '.join(nearest_first(name, known))}"
        )


def load(name: str, module: str) -> Study:
    """The study in one known module: what a worker needs, without importing all the others."""
    if name not in _registered or _registered[name].module != module:
        importlib.import_module(module)
    if name not in _registered:
        raise ValueError(
            f"module {module} does not define the study {name!r}; studies must be defined at the "
            "top level of an importable module"
        )
    return _registered[name]


def _modules() -> Iterator[str]:
    package = importlib.import_module(PACKAGE)
    for info in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield info.name
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        yield entry.value.partition(":")[0]
    for name in os.environ.get(VARIABLE, "").split(","):
        if name.strip():
            yield name.strip()
