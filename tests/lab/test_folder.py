"""Judges and figures that lie beside a study's declaration."""

import importlib
import sys

import pytest

from regimes.lab._folder import CLAIMS, FIGURES, found_for


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A study's folder: made of these files, imported, its class `Own` returned."""

    def made(init="class Own: ...", **files):
        folder = tmp_path / "beside_study"
        folder.mkdir()
        for name, text in {"__init__": init, **files}.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module("beside_study").Own

    yield made
    for name in [name for name in sys.modules if name.startswith("beside_study")]:
        del sys.modules[name]


def test_files_of_known_names_are_taken(package):
    own = package(_claims="claim = 'judged'", _figures="FIGURES = {'title': 1}")
    assert found_for(own, *CLAIMS) == "judged"
    assert found_for(own, *FIGURES) == {"title": 1}


def test_what_the_class_says_goes_before(package):
    own = package("class Own: claims = 'its own'", _claims="claim = 'judged'")
    assert found_for(own, *CLAIMS) == "its own"
    assert found_for(own, *FIGURES) is None


def test_a_study_in_one_file_has_nothing_beside_it():
    assert found_for(type("Own", (), {"__module__": __name__}), *CLAIMS) is None


def test_a_file_without_the_name_is_refused(package):
    own = package(_claims="judges = 1")
    with pytest.raises(ValueError, match=r"beside_study\._claims holds no claim.*claims = \.\.\."):
        found_for(own, *CLAIMS)
