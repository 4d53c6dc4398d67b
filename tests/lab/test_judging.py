"""The digest of the judging code, and judging without a run."""

import importlib
import sys

import pytest

from regimes.lab import _claims, find
from regimes.lab._judging import judged, judging_digest

SOURCE = """
from dataclasses import dataclass
from regimes.lab import TrialResult, study
from regimes.lab.judge import Claims, below
from {name}_claims import claim

@dataclass(frozen=True)
class Params:
    seed: tuple[int, ...] = (0,)

@study("toy/{name}", version=1, sizes={{"smoke": Params()}}, axes=["seed"])
class Study:
    claims = claim

    @staticmethod
    def trial(params, point):
        return TrialResult({{"x": 1.0}})
"""
CLAIMS = """
from regimes.lab.judge import Claims, below

claim = Claims()

@claim("OWN-1", "small")
def small(dataset):
    yield below("x", float(dataset.x.max()), {limit})
"""


@pytest.fixture
def declared(toys, tmp_path, monkeypatch):
    """Write a study and its judges as two modules, and give its digest."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(name, limit=2.0, *, study="", ends="\n"):
        texts = {name: SOURCE.format(name=name) + study}
        texts[f"{name}_claims"] = CLAIMS.format(limit=limit)
        for module, text in texts.items():
            (tmp_path / f"{module}.py").write_bytes(text.replace("\n", ends).encode())
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        importlib.import_module(name)
        return judging_digest(find(f"toy/{name}"))

    return made


def test_the_digest_changes_with_the_judges_and_with_nothing_else(declared):
    first = declared("a")
    assert len(first) == 16
    assert declared("b", limit=2.5) != first
    assert declared("c", study="# other words\n") == first
    assert declared("d", ends="\r\n") == first


def test_the_digest_changes_with_the_vocabulary(declared, tmp_path, monkeypatch):
    first = declared("a")
    other = tmp_path / "_claims.py"
    other.write_text("another rule")
    monkeypatch.setattr(_claims, "__file__", str(other))
    assert declared("b") != first


def test_claims_that_are_a_function_have_a_digest_too(toys):
    assert judging_digest(toys.Echo) != judging_digest(find("compression/cylinder"))


def test_judges_of_several_files_count(toys):
    study = find("regimes/foundations")
    modules = study.claims.__self__.modules
    assert {name.rpartition(".")[2] for name in modules} == {
        "_forms_claims",
        "_start_claims",
        "_training_claims",
        "_ends_claims",
    }


def test_an_unfinished_run_decides_nothing(toys):
    import xarray as xr

    data = xr.Dataset({"product": ("width", [1.0])})
    whole = judged(toys.Echo, data, finished=2, trials=2)
    part = judged(toys.Echo, data, finished=1, trials=2)
    assert [claim.verdict.value for claim in whole] == ["reproduced", "not reproduced"]
    assert part[0].why == "1 of 2 trials finished; so far reproduced"
