"""Kernels: functions of two points, and machines that learn with them.

A kernel is any function from inputs (n, ...) and (m, ...) to values (n, m). Nothing here knows
networks: their tangent kernels are kernels like any other.
"""

from regimes import _door
from regimes.kernels._hard_margin import Learned, Machine, fit_machine, hard_margin, quiet_solver
from regimes.kernels._values import Kernel, kernel_values

__all__ = [
    "Kernel",
    "Learned",
    "Machine",
    "fit_machine",
    "hard_margin",
    "kernel_values",
    "quiet_solver",
]

_door.keep(globals())
