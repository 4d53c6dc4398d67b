"""The study shown in CONTRIBUTING works as it stands, in a file of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regimes.lab import Store, find, run

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "example_study.py"


def shown():
    """The first complete study among CONTRIBUTING's Python blocks."""
    page = ROOT / "CONTRIBUTING.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return next((block for block in blocks if "@study(" in block), None)


@pytest.fixture
def walk(tmp_path, monkeypatch, toys):
    source = shown() or KEPT.read_text(encoding="utf-8")
    (tmp_path / "walk.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REGIMES_STUDIES", "walk")
    yield find("example/walk")
    sys.modules.pop("walk", None)


def test_the_page_shows_the_study_that_is_kept_here():
    assert shown() is not None, "CONTRIBUTING.md must show a complete study"
    assert shown().strip() == KEPT.read_text(encoding="utf-8").strip()


def test_it_is_short_enough_to_be_read():
    code = [line for line in KEPT.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(code) <= 46


def test_it_is_found_and_runs_and_its_claim_holds(walk, tmp_path):
    summary = run(walk, store=Store(tmp_path / "store"))
    assert summary.complete
    assert [claim.verdict for claim in summary.claims] == ["reproduced"]
    assert list(walk.figures(summary.dataset)) == ["Distance"]


def test_it_runs_from_the_command_line_without_touching_the_lab(walk, tmp_path):
    environment = {**os.environ, "REGIMES_STORE": str(tmp_path / "store")}
    command = [sys.executable, "-m", "regimes", "run", "example/walk", "--json"]
    answer = subprocess.run(
        [*command, "--workers", "1", "--set", "walkers=50"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert json.loads(answer.stdout)["finished"] == 3
