"""Kernels: functions of two points, and machines that learn with them.

A kernel is any function from inputs (n, ...) and (m, ...) to values (n, m). Nothing here knows
networks: their tangent kernels are kernels like any other.
"""

from regimes import _door
from regimes.kernels._conjugate_gradients import Operator, Solution, conjugate_gradients
from regimes.kernels._exact_flow import ExactFlow, exact_flow
from regimes.kernels._hard_margin import Learned, Machine, fit_machine, hard_margin, quiet_solver
from regimes.kernels._posterior import Posterior, posterior
from regimes.kernels._ridge import RidgeFit, kernel_ridge
from regimes.kernels._values import Kernel, kernel_values

__all__ = [
    "ExactFlow",
    "Kernel",
    "Learned",
    "Machine",
    "Operator",
    "Posterior",
    "RidgeFit",
    "Solution",
    "conjugate_gradients",
    "exact_flow",
    "fit_machine",
    "hard_margin",
    "kernel_ridge",
    "kernel_values",
    "posterior",
    "quiet_solver",
]

_door.keep(globals())
