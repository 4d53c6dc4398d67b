import os
import subprocess
import sys
from pathlib import Path

import pytest

from regimes.lab import _environment as module
from regimes.lab import environment


def test_the_environment_is_plain_and_complete():
    facts = environment()
    assert facts["versions"]["numpy"]
    assert facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["machine"]["cores"] == len(os.sched_getaffinity(0))
    assert "version" not in facts["machine"]


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """A stand-in for nvidia-smi that reports two GPUs."""
    tool = tmp_path / "nvidia-smi"
    lines = [f"echo '{index}, NVIDIA H200, 143771 MiB'" for index in (0, 1)]
    tool.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_gpus_are_asked_of_the_driver(driver, monkeypatch):
    assert [gpu.index for gpu in module.gpus()] == ["0", "1"]
    assert module.gpus()[0].name == "NVIDIA H200"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert [gpu.index for gpu in module.gpus()] == ["1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert module.gpus() == []


def test_the_commit_says_whether_files_were_changed(tmp_path, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=n", "-c", "user.email=e@e"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    source = tmp_path / "lab" / "_environment.py"
    source.parent.mkdir()
    source.write_text("x = 1\n")
    monkeypatch.setattr(module, "__file__", str(source))
    git("init", "-q")
    assert module.commit.__wrapped__() is None  # no commit yet
    git("add", ".")
    git("commit", "-q", "-m", "first")
    clean = module.commit.__wrapped__()
    assert len(clean) == 40
    source.write_text("x = 2\n")
    assert module.commit.__wrapped__() == f"{clean}+"
    stranger = tmp_path / "untracked" / "_environment.py"
    stranger.parent.mkdir()
    stranger.write_text("")
    monkeypatch.setattr(module, "__file__", str(stranger))
    assert module.commit.__wrapped__() is None


def test_importing_the_lab_is_light():
    heavy = ("torch", "xarray", "plotly", "ray", "sklearn", "scipy", "pandas")
    code = (
        "import sys, regimes.lab, regimes.cli; from regimes.lab import discover; discover();"
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []


def test_the_lab_knows_no_physics():
    rooms = ("data", "nets", "tangent", "flow", "measure", "theory", "studies")
    for path in Path(module.__file__).parent.glob("*.py"):
        for room in rooms:
            assert f"import regimes.{room}" not in path.read_text()
            assert f"from regimes.{room}" not in path.read_text()
