"""The package as a whole: what importing it costs and offers."""

import json
import subprocess
import sys

import pytest

import regimes

# importing torch takes most of the time, so one fresh interpreter loads one room after the other
IMPORTS = """
import json, sys, time
start = time.perf_counter()
import regimes
loaded = {"regimes": [time.perf_counter() - start, sorted(sys.modules)]}
for room in sys.argv[1:]:
    start, before = time.perf_counter(), set(sys.modules)
    getattr(regimes, room)
    loaded[room] = [time.perf_counter() - start, sorted(set(sys.modules) - before)]
print(json.dumps(loaded))
"""
ROOMS = (
    "data",
    "nets",
    "kernels",
    "tangent",
    "flow",
    "curvature",
    "decide",
    "measure",
    "theory",
    "lab",
    "observe",
    "curves",
)
HEAVY = {"plotly", "ray", "fastapi", "uvicorn", "sklearn", "pandas", "matplotlib"}


@pytest.fixture(scope="module")
def imports():
    """Of the package and then of each room: seconds, and the modules it is the first to load."""
    command = [sys.executable, "-c", IMPORTS, *ROOMS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_is_quick_and_loads_no_room(imports):
    seconds, loaded = imports["regimes"]
    assert seconds < 2
    assert not {"torch", "plotly", "ray", "fastapi"} & set(loaded)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_load_no_plotting_cluster_or_web_code(room, imports):
    _, loaded = imports[room]
    assert any(name.startswith(f"regimes.{room}") for name in loaded)
    assert not HEAVY & set(loaded)


def test_data_load_neither_scipy_nor_what_downloads(imports):
    _, loaded = imports["data"]
    assert not {"pooch", "scipy", "rich", "requests"} & set(loaded)


def test_unknown_room_lists_the_rooms():
    with pytest.raises(AttributeError, match="its rooms are"):
        regimes.no_such_room  # noqa: B018


def test_every_listed_name_is_there():
    for name in regimes.__all__:
        assert getattr(regimes, name) is not None


def test_recorded_results_are_known_outside_the_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGIMES_RESULTS", raising=False)
    shipped, own = regimes.lab.results_roots()
    assert own == tmp_path / "results"
    assert any(shipped.glob("regimes/phase-diagram/*/summary.json"))
    assert regimes.lab.results_roots("there") == (tmp_path / "there",)
