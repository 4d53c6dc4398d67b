import subprocess
import sys
from types import SimpleNamespace

import pytest

from regimes import __version__
from regimes.cli._complete import settings, sizes, studies, themes


def test_the_module_runs_as_the_script_does():
    command = [sys.executable, "-m", "regimes", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert __version__ in told.stdout


def test_the_version_is_told(regimes):
    assert regimes("--version").stdout == f"regimes {__version__}\n"


@pytest.mark.parametrize(
    ("offer", "begun", "expected"),
    [
        (studies, "toy/e", ["toy/echo"]),
        (studies, "compression/al", ["compression/alpha-scan"]),
        (themes, "comp", ["compression"]),
        (sizes, "s", ["smoke"]),
    ],
)
def test_the_shell_is_offered_what_was_begun(offer, begun, expected):
    assert offer(begun) == expected


def test_the_shell_is_offered_the_parameters_of_the_study_that_is_named():
    def offered(args, **params):
        return settings(SimpleNamespace(params=params, args=args), "s")

    assert offered([], study="toy/echo", size="cpu") == ["seed=", "scale="]
    assert offered(["toy/echo"]) == ["seed=", "scale="]
    assert offered([]) == []
