"""Fixtures of the command line's tests."""

import importlib
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regimes.cli import app
from regimes.lab import Store, _registry


def pytest_configure(config):
    config.addinivalue_line("markers", "ray: needs the package ray, skipped when it is absent")


@pytest.fixture(autouse=True)
def toys(monkeypatch, tmp_path):
    """The lab tests' toy studies, and a store and results folder of this test's own."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "lab"))
    monkeypatch.setenv("REGIMES_STUDIES", "toy_studies")
    monkeypatch.setenv("REGIMES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("REGIMES_RESULTS", str(tmp_path / "results"))
    sys.modules.pop("toy_studies", None)
    yield importlib.import_module("toy_studies")
    sys.modules.pop("toy_studies", None)
    for name, study in list(_registry._registered.items()):
        if not study.module.startswith("regimes."):
            del _registry._registered[name]


@pytest.fixture
def store(toys):
    return Store()


@pytest.fixture
def regimes(toys):
    """Call the command line in this process."""

    def call(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call
