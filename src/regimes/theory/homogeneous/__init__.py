"""Fields on homogeneous spaces and the linear maps between them that commute with the group.

The theory of [Cohen 2019] for finite groups, where every statement is one about matrices.
"""

from regimes.theory.homogeneous._correlation import group_correlation, twist, twisted_correlation
from regimes.theory.homogeneous._double_cosets import DoubleCoset, double_cosets
from regimes.theory.homogeneous._kernel_space import KernelSpace, kernel_dimension, kernel_space
from regimes.theory.homogeneous._mackey import Mackey

__all__ = [
    "DoubleCoset",
    "KernelSpace",
    "Mackey",
    "double_cosets",
    "group_correlation",
    "kernel_dimension",
    "kernel_space",
    "twist",
    "twisted_correlation",
]
