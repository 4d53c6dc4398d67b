"""How long torch's threads wait in a loop for the next piece of work before they sleep.

OpenMP's threads spin between two operations: the next one then starts at once, but on a machine
with other work the spinning thread holds the core which the thread it waits for needs, and small
operations take ten to a hundred times as long. libgomp, which torch brings on Linux, spins about a
millisecond. A few microseconds are as good on a quiet machine and nearly as good as none on a busy
one (`benchmarks/threads.py` measures both). It reads its setting once, when it is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, MutableMapping

SPINS = "1000"  # a few microseconds
_SETTINGS = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")  # whoever sets one of them has decided


def wait_briefly(environment: MutableMapping[str, str], loaded: Collection[str]) -> bool:
    """Set how long threads spin where nobody has and torch is not `loaded`; whether it was set.

    >>> environment = {}
    >>> wait_briefly(environment, loaded=[]), environment
    (True, {'GOMP_SPINCOUNT': '1000'})
    >>> wait_briefly({"OMP_WAIT_POLICY": "ACTIVE"}, loaded=[]), wait_briefly({}, loaded=["torch"])
    (False, False)
    """
    if "torch" in loaded or any(name in environment for name in _SETTINGS):
        return False
    environment["GOMP_SPINCOUNT"] = SPINS
    return True


def settle() -> None:
    """Apply this to the running process and those it starts."""
    wait_briefly(os.environ, sys.modules)
