"""Signals on the sphere and on SO(3): rotations, transforms, correlations and networks of them."""

from regimes import _door
from regimes._rotations import (
    complex_to_real,
    decompose,
    intertwiners,
    random_rotations,
    real_wigner,
    rotation_matrix,
    sphere_point,
    wigner_d,
    wigner_matrix,
    zyz_angles,
)

__all__ = [
    "complex_to_real",
    "decompose",
    "intertwiners",
    "random_rotations",
    "real_wigner",
    "rotation_matrix",
    "sphere_point",
    "wigner_d",
    "wigner_matrix",
    "zyz_angles",
]

_door.keep(globals())
