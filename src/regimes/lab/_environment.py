"""Where and with what something was computed: machine, versions, commit, devices."""

from __future__ import annotations

import csv
import functools
import importlib.metadata
import io
import os
import platform
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PACKAGES = ("regimes", "torch", "numpy", "scipy", "scikit-learn", "xarray", "safetensors")


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver reports it."""

    index: str  # what CUDA_VISIBLE_DEVICES takes
    name: str
    memory: str


def cores() -> int:
    """CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_name() -> str:
    """The processor's own name for itself."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def gpus() -> list[Gpu]:
    """The GPUs this process may use, asked of the driver so that torch need not be imported."""
    found = [Gpu(*row) for row in _ask_driver()]
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return found
    by_index = {gpu.index: gpu for gpu in found}
    names = [name.strip() for name in allowed.split(",") if name.strip() not in ("", "-1")]
    return [by_index.get(name, Gpu(name, "unknown", "unknown")) for name in names]


def _ask_driver() -> list[list[str]]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, "--query-gpu=index,name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = csv.reader(io.StringIO(answer.stdout), skipinitialspace=True)
    return [row for row in rows if len(row) == 3]


@functools.cache
def commit() -> str | None:
    """The commit of the repository that holds the source; None outside git.

    As `git describe` gives it, with "+" when any file beside the package (in `src`) differs from
    that commit or is not in it.
    """
    package = Path(__file__).parents[1]

    def git(*arguments: str) -> str:
        # without the lock that `git status` takes to refresh its index: a run that is killed at
        # that moment would leave it behind, and the user's next commit would be refused
        command = ["git", "--no-optional-locks", "-C", str(package.parent), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        ).stdout.strip()

    try:
        revision = git("describe", "--always", "--long", "--abbrev=40")
        if not git("ls-files", "--", package.name):  # installed inside somebody else's repository
            return None
        return revision + ("+" if git("status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return None


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages results depend on; absent packages are left out."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@functools.cache
def machine() -> dict[str, Any]:
    """This machine in a few words."""
    return {
        "host": socket.gethostname(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": cpu_name(),
        "cores": cores(),
    }


def environment() -> dict[str, Any]:
    """Everything above as plain JSON values, for records and results."""
    return {"machine": machine(), "versions": versions(), "commit": commit()}
