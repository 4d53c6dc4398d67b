"""Kernels: functions of two points, and machines that learn with them.

A kernel is any function from inputs (n, ...) and (m, ...) to values (n, m). Nothing here knows
networks: their tangent kernels are kernels like any other.
"""

from regimes import _door
from regimes.kernels._conjugate_gradients import Operator, Solution, conjugate_gradients
from regimes.kernels._covariance import Covariance, Gaussian, Laplace, Matern
from regimes.kernels._exact_flow import ExactFlow, exact_flow
from regimes.kernels._hard_margin import Learned, Machine, fit_machine, hard_margin, quiet_solver
from regimes.kernels._nested import Nested, nested_regression
from regimes.kernels._posterior import Posterior, posterior
from regimes.kernels._regression import Factor, Regression, factorise, regression
from regimes.kernels._ridge import RidgeFit, kernel_ridge
from regimes.kernels._soft_margin import SoftMargin, soft_margin
from regimes.kernels._teacher_error import teacher_error
from regimes.kernels._values import Kernel, gram, grams, kernel_values

__all__ = [
    "Covariance",
    "ExactFlow",
    "Factor",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Learned",
    "Machine",
    "Matern",
    "Nested",
    "Operator",
    "Posterior",
    "Regression",
    "RidgeFit",
    "SoftMargin",
    "Solution",
    "conjugate_gradients",
    "exact_flow",
    "factorise",
    "fit_machine",
    "gram",
    "grams",
    "hard_margin",
    "kernel_ridge",
    "kernel_values",
    "nested_regression",
    "posterior",
    "quiet_solver",
    "regression",
    "soft_margin",
    "teacher_error",
]

_door.keep(globals())
