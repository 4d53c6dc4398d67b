"""Fixtures of the lab's tests."""

import importlib
import sys
from pathlib import Path

import pytest

from regimes.lab import Store, _registry

# imported by the tests themselves
collect_ignore = ["toy_studies.py", "long_study.py", "example_study.py"]
HERE = Path(__file__).parent


def pytest_configure(config):
    config.addinivalue_line("markers", "ray: needs the package ray, skipped when it is absent")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def toys(monkeypatch):
    """The module of toy studies, importable by workers and found by the command line."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("REGIMES_STUDIES", "toy_studies")
    sys.modules.pop("toy_studies", None)
    yield importlib.import_module("toy_studies")
    sys.modules.pop("toy_studies", None)
    for name, study in list(_registry._registered.items()):
        if not study.module.startswith("regimes."):
            del _registry._registered[name]


@pytest.fixture
def begun(tmp_path):
    """A folder in which trials leave a mark when they begin, and a way to count them."""
    folder = tmp_path / "begun"
    folder.mkdir()

    class Begun:
        path = str(folder)

        def count(self):
            return len(list(folder.iterdir()))

    return Begun()
