"""`regimes docs` opens the manual that was built, or says how to build it."""

import webbrowser
from pathlib import Path

import pytest


@pytest.fixture
def opened(monkeypatch):
    addresses = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_the_built_manual_is_opened(regimes, opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "out" / "manual" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    regimes("docs")
    regimes("docs", "--folder", "out/manual")
    assert opened == [page.as_uri()] * 2


def test_without_one_it_says_how_to_build_it(regimes, opened, tmp_path):
    answer = regimes("docs", "--folder", tmp_path / "none", code=1)
    assert "make docs" in answer.stderr
    assert not opened


def test_docstrings_are_fenced_and_fields_listed(tmp_path, monkeypatch):
    griffe = pytest.importorskip("griffe", reason="needs the extra 'docs'")
    build = Path(__file__).parents[2] / "docs" / ".build"
    monkeypatch.syspath_prepend(str(build))
    (tmp_path / "some.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass Fit:\n"
        '    """A fit.\n\n    >>> 1 + 1\n    2\n    """\n\n    size: float  # of it\n\n'
        'def double(x):\n    """Twice.\n\n    Example:\n        >>> double(2)\n        4\n    """\n'
    )
    extensions = griffe.load_extensions(str(build / "docstrings.py") + ":Docstrings")
    package = griffe.load("some", search_paths=[tmp_path], extensions=extensions)
    text = package["Fit"].docstring.value
    doubled = package["double"].docstring.parse("google")[-1]
    assert doubled.kind.value == "examples"
    assert "```pycon\n>>> 1 + 1\n2\n```" in text
    assert "Attributes:\n    size (float): of it" in text
