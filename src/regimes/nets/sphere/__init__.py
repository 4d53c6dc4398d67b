"""Signals on the sphere and on SO(3): rotations, transforms, correlations and networks of them."""

from regimes import _door
from regimes._rotations import (
    complex_to_real,
    decompose,
    grid_angles,
    intertwiners,
    random_rotations,
    real_wigner,
    rotation_matrix,
    sphere_point,
    wigner_d,
    wigner_matrix,
    zyz_angles,
)
from regimes.nets.sphere._classical import (
    SpinSphericalCorrelation,
    dh_convolution,
    spin_fft,
    spin_ifft,
)
from regimes.nets.sphere._correlation import S2Correlation, SO3Correlation
from regimes.nets.sphere._grid import beta_weights, s2_points
from regimes.nets.sphere._molecule import ResidualBlock, SphericalMolecule
from regimes.nets.sphere._networks import PlanarBaseline, SphericalMNIST, SphericalShapes
from regimes.nets.sphere._points import (
    s2_equatorial,
    s2_everywhere,
    s2_near_identity,
    so3_equatorial,
    so3_everywhere,
    so3_identity,
    so3_near_identity,
)
from regimes.nets.sphere._pool import Oversampled, s2_integrate, so3_integrate, so3_max
from regimes.nets.sphere._rotate import rotate, rotate_s2, rotate_so3, spectral_size
from regimes.nets.sphere._transform import s2_fft, s2_ifft, so3_fft, so3_ifft

__all__ = [
    "Oversampled",
    "PlanarBaseline",
    "ResidualBlock",
    "S2Correlation",
    "SO3Correlation",
    "SphericalMNIST",
    "SphericalMolecule",
    "SphericalShapes",
    "SpinSphericalCorrelation",
    "beta_weights",
    "complex_to_real",
    "decompose",
    "dh_convolution",
    "grid_angles",
    "intertwiners",
    "random_rotations",
    "real_wigner",
    "rotate",
    "rotate_s2",
    "rotate_so3",
    "rotation_matrix",
    "s2_equatorial",
    "s2_everywhere",
    "s2_fft",
    "s2_ifft",
    "s2_integrate",
    "s2_near_identity",
    "s2_points",
    "so3_equatorial",
    "so3_everywhere",
    "so3_fft",
    "so3_identity",
    "so3_ifft",
    "so3_integrate",
    "so3_max",
    "so3_near_identity",
    "spectral_size",
    "sphere_point",
    "spin_fft",
    "spin_ifft",
    "wigner_d",
    "wigner_matrix",
    "zyz_angles",
]

_door.keep(globals())
