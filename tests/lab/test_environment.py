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


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with a package of two rooms, and git in it."""
    source = tmp_path / "src" / "regimes" / "lab" / "_environment.py"
    for path in (source, source.parents[1] / "studies" / "one.py", tmp_path / "notes.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    monkeypatch.setattr(module, "__file__", str(source))

    def git(*words):
        identity = ["-c", "user.name=n", "-c", "user.email=e@e"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    return tmp_path, git


def test_the_commit_is_that_of_the_whole_source(checkout, monkeypatch):
    root, git = checkout
    assert module.commit.__wrapped__() is None  # no commit yet
    git("add", ".")
    git("commit", "-q", "-m", "first")
    clean = module.commit.__wrapped__()
    assert len(clean) == 40
    (root / "notes.md").write_text("other words\n")
    assert module.commit.__wrapped__() == clean
    study = root / "src" / "regimes" / "studies" / "one.py"
    study.write_text("x = 2\n")
    assert module.commit.__wrapped__() == f"{clean}+"
    git("checkout", "--", "src")
    assert module.commit.__wrapped__() == clean
    study.with_name("another.py").write_text("")
    assert module.commit.__wrapped__() == f"{clean}+"


def test_looking_writes_nothing_into_the_repository(checkout):
    root, git = checkout
    git("add", ".")
    git("commit", "-q", "-m", "first")
    os.utime(root / "src" / "regimes" / "studies" / "one.py", (1, 1))  # git would refresh its index
    index = root / ".git" / "index"
    before = index.stat().st_mtime_ns, index.read_bytes()
    assert module.commit.__wrapped__()
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before


def test_a_tag_is_named_beside_the_commit(checkout):
    _, git = checkout
    git("add", ".")
    git("commit", "-q", "-m", "first")
    plain = module.commit.__wrapped__()
    git("tag", "-a", "v1", "-m", "one")
    assert module.commit.__wrapped__() == f"v1-0-g{plain}"


def test_a_package_inside_somebody_elses_repository_has_no_commit(checkout, monkeypatch):
    root, git = checkout
    git("add", ".")
    git("commit", "-q", "-m", "first")
    stranger = root / ".venv" / "site-packages" / "regimes" / "lab" / "_environment.py"
    stranger.parent.mkdir(parents=True)
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
