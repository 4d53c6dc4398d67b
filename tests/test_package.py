"""The package as a whole: what importing it costs and offers."""

import json
import subprocess
import sys

import pytest

import regimes


def modules_after(statement):
    """Seconds that a statement takes in a fresh interpreter, and the modules it loads."""
    code = (
        "import json, sys, time; t = time.perf_counter()\n"
        f"{statement}\n"
        "print(json.dumps([time.perf_counter() - t, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_is_quick_and_loads_no_room():
    seconds, loaded = modules_after("import regimes")
    assert seconds < 2
    assert not {"torch", "plotly", "ray", "fastapi"} & set(loaded)


@pytest.mark.parametrize(
    "room", ["data", "nets", "kernels", "tangent", "flow", "measure", "theory", "lab"]
)
def test_rooms_load_no_plotting_cluster_or_web_code(room):
    _, loaded = modules_after(f"import regimes as rg; rg.{room}")
    heavy = {"plotly", "ray", "fastapi", "uvicorn", "sklearn", "pandas", "matplotlib"}
    assert not heavy & set(loaded)


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
