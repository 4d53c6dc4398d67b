"""Rotations of space and their representations, for data, networks and theory alike.

Angles are ZYZ, `R(a, b, c) = Z(a) Y(b) Z(c)`. Two bases of the irreducible representations are in
use and never mixed: the complex one, `D^l_mn = exp(-i m a) d^l_mn(b) exp(-i n c)` with the polar
axis z, for transforms on the sphere; the real one of e3nn with its polar axis y, for voxels and
points. `complex_to_real` leads from the first to the second.
"""

from regimes._rotations._angles import (
    grid_angles,
    haar_rotations,
    random_rotations,
    rotation_matrix,
    sphere_point,
    zyz_angles,
)
from regimes._rotations._decompose import decompose, intertwiners
from regimes._rotations._wigner import (
    complex_to_real,
    real_wigner,
    wigner_d,
    wigner_d_column,
    wigner_matrix,
)

__all__ = [
    "complex_to_real",
    "decompose",
    "grid_angles",
    "haar_rotations",
    "intertwiners",
    "random_rotations",
    "real_wigner",
    "rotation_matrix",
    "sphere_point",
    "wigner_d",
    "wigner_d_column",
    "wigner_matrix",
    "zyz_angles",
]
