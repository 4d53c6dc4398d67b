"""Torch's threads spin briefly where nobody has said how long."""

import os
import subprocess
import sys

import pytest

from regimes import _waiting

TELL = "import os; print(os.environ.get('GOMP_SPINCOUNT'), os.environ.get('OMP_WAIT_POLICY'))"


def told(first: str, **settings: str) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    command = [sys.executable, "-c", f"{first}; {TELL}"]
    return subprocess.run(
        command, env=clean | settings, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_set_before_torch_is_loaded():
    assert told("import regimes") == f"{_waiting.SPINS} None"


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_a_setting_of_the_user_is_left_alone(name):
    assert told("import regimes", **{name: "7"}) == ("7 None" if name[0] == "G" else "None 7")


def test_too_late_once_torch_is_loaded():
    assert told("import sys; sys.modules['torch'] = sys; import regimes") == "None None"
