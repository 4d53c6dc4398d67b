import sys

import pytest

from regimes.lab import discover, find

STUDY = """
from dataclasses import dataclass
from regimes.lab import TrialResult, study

@dataclass(frozen=True)
class Params:
    i: tuple[int, ...] = (1,)

@study("{name}", version=1, sizes={{"smoke": Params()}}, axes=["i"])
class Fresh:
    '''One file is enough.'''

    @staticmethod
    def trial(params, point):
        return TrialResult({{"x": 1.0}})
"""


def test_the_packages_own_studies_are_found():
    assert "compression/alpha-scan" in discover().studies


def test_a_module_of_the_users_own_is_found_by_its_name(tmp_path, monkeypatch, toys):
    (tmp_path / "my_fresh_study.py").write_text(STUDY.format(name="mine/fresh"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setenv("REGIMES_STUDIES", "my_fresh_study, toy_studies")
    assert find("mine/fresh").module == "my_fresh_study"
    assert find("toy/echo").module == "toy_studies"


def test_a_broken_module_does_not_hide_the_others(tmp_path, monkeypatch, toys):
    (tmp_path / "my_broken_study.py").write_text("raise RuntimeError('half written')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REGIMES_STUDIES", "my_broken_study,toy_studies")
    catalogue = discover()
    assert "toy/echo" in catalogue.studies
    assert "half written" in catalogue.broken["my_broken_study"]
    with pytest.raises(ValueError, match="half written"):
        find("mine/other")


def test_an_unknown_name_lists_the_nearest(toys):
    with pytest.raises(ValueError, match="unknown study 'toy/ecko'; nearest: toy/echo"):
        find("toy/ecko")


def test_two_modules_may_not_use_one_name(tmp_path, monkeypatch, toys):
    (tmp_path / "my_other_echo.py").write_text(STUDY.format(name="toy/echo"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REGIMES_STUDIES", "my_other_echo")
    assert "two studies are called 'toy/echo'" in discover().broken["my_other_echo"]
