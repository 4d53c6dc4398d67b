"""`regimes doctor`: what this installation has and where it looks."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from regimes.cli._options import JsonOption, ResultsOption, StoreOption
from regimes.cli._output import say, say_json
from regimes.lab import (
    Store,
    discover,
    environment,
    results_root,
    results_roots,
    stored_summaries,
)
from regimes.lab._environment import gpus

_EXTRAS = {
    "ray": "ray",
    "web": "fastapi",
    "equivariant": "e3nn",
    "lightning": "lightning",
    "rl": "gymnasium",
}


def doctor(
    store: StoreOption = None, results: ResultsOption = None, as_json: JsonOption = False
) -> None:
    """Show versions, devices, threads, folders and free disk space."""
    found = _examine(Store(store), results)
    if as_json:
        say_json(found)
        return
    width = max(map(len, found))
    for name, value in found.items():
        lines = _lines(value)
        say(f"{name.ljust(width)}  {lines[0]}")
        for line in lines[1:]:
            say(f"{' ' * width}  {line}")


def _examine(store: Store, results: str | None) -> dict[str, Any]:
    import torch

    facts = environment()
    catalogue = discover()
    data = os.environ.get("REGIMES_DATA")
    free = shutil.disk_usage(_existing(store.root)).free
    return {
        "python": f"{platform.python_version()} on {facts['machine']['system']}",
        "versions": {k: v for k, v in facts["versions"].items() if k != "python"},
        "commit": facts["commit"] or "unknown (not a git checkout)",
        "processor": f"{facts['machine']['processor']}, {facts['machine']['cores']} cores",
        "torch threads": str(torch.get_num_threads()),
        "gpus": [f"{gpu.index}: {gpu.name}, {gpu.memory}" for gpu in gpus()] or ["none"],
        "torch cuda": "available" if torch.cuda.is_available() else "not available",
        "extras": [
            f"{extra}: {'installed' if importlib.util.find_spec(module) else 'not installed'}"
            for extra, module in _EXTRAS.items()
        ],
        "data root": _folder(data) if data else "REGIMES_DATA is not set; data are downloaded",
        "store": f"{_folder(store.root)} ({_origin('REGIMES_STORE')})",
        "results": f"{_folder(results_root(results))} ({_origin('REGIMES_RESULTS')})",
        "records": f"{_records(results)} known here",
        "free disk": f"{free / 2**30:.1f} GiB at the store",
        "studies": str(len(catalogue.studies)),
        "broken": [f"{module}: {why}" for module, why in catalogue.broken.items()] or ["none"],
    }


def _records(results: str | None) -> int:
    return sum(1 for _ in stored_summaries(*results_roots(results), data=False))


def _folder(path: str | Path) -> str:
    absolute = Path(path).absolute()
    return f"{absolute}{'' if absolute.is_dir() else ', not there yet'}"


def _origin(variable: str) -> str:
    return f"from {variable}" if os.environ.get(variable) else f"default; set {variable} to change"


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [", ".join(f"{k} {v}" for k, v in value.items())]
    return value if isinstance(value, list) else [value]
