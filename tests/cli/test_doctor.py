import json
import subprocess
import sys
import time


def test_the_doctor_tells_versions_devices_and_places(regimes, tmp_path):
    text = regimes("doctor").stdout
    for piece in ("torch", "processor", "data root", "free disk", str(tmp_path / "store")):
        assert piece in text
    found = json.loads(regimes("doctor", "--json").stdout)
    assert found["versions"]["numpy"]
    assert "from REGIMES_STORE" in found["store"]


def test_help_is_quick_and_lists_the_commands():
    start = time.perf_counter()
    command = [sys.executable, "-m", "regimes", "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert time.perf_counter() - start < 5  # well under two on an idle machine
    for name in ("studies", "run", "claims", "report", "runs", "results", "doctor"):
        assert name in answer.stdout


def test_help_loses_no_words(regimes):
    for command, words in (("run", "study's own"), ("run", "one per core"), ("docs", "out/manual")):
        told = regimes(command, "--help").stdout.replace("│", " ")
        assert words in " ".join(told.split())
