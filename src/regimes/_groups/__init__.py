"""Finite groups, their representations and the kernels that commute with them [Cohen 2019].

What layers on lattices and the theory of homogeneous spaces both stand on: numpy alone, so that
`theory` can offer it and `nets` can build layers of it.
"""

from regimes._groups._compact import kernel_space_compact
from regimes._groups._cosets import Cosets, cosets
from regimes._groups._finite import FiniteGroup, finite_group, part_of
from regimes._groups._induced import induced, of_space
from regimes._groups._lattice_kernels import kernel_space_grid, lattice_action, orbit_kernels
from regimes._groups._named import cyclic_group, dihedral_group, polyhedral_group
from regimes._groups._null_space import fits, fixed_vectors, intertwining_maps
from regimes._groups._representation import Representation, planar_frequency, representation

__all__ = [
    "Cosets",
    "FiniteGroup",
    "Representation",
    "cosets",
    "cyclic_group",
    "dihedral_group",
    "finite_group",
    "fits",
    "fixed_vectors",
    "induced",
    "intertwining_maps",
    "kernel_space_compact",
    "kernel_space_grid",
    "lattice_action",
    "of_space",
    "orbit_kernels",
    "part_of",
    "planar_frequency",
    "polyhedral_group",
    "representation",
]
