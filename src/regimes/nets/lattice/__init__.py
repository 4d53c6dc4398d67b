"""Networks on lattices and planes that commute with a group of rotations and mirrors [Cohen 2019].

Fields of any representation (`LatticeFields`), convolutions whose kernels commute with the group
(`LatticeConv`), in two and three dimensions and on the hexagonal lattice:

>>> import torch
>>> from regimes.nets import lattice
>>> numbers = lattice.LatticeFields.of("p4m", "trivial")
>>> functions = lattice.LatticeFields.of("p4m", "regular", 2)
>>> conv = lattice.LatticeConv(numbers, functions, dtype=torch.float64)
>>> conv
LatticeConv(1 x trivial -> 2 x regular of 8 elements, size=3, padding=zeros)
>>> x = torch.randn(1, 1, 6, 6, generator=torch.Generator().manual_seed(0)).double()
>>> one, two = conv(numbers.act(x, 3)), functions.act(conv(x), 3)
>>> bool((one - two).abs().max() < 1e-12)
True

On the pixels of a plane `PlanarConv` has kernels for all angles, and `EquivariantLinear` maps
fields on any finite homogeneous space.
"""

from regimes import _door
from regimes.nets.lattice._conv import LatticeConv
from regimes.nets.lattice._fields import LatticeFields, symmetry_names
from regimes.nets.lattice._linear import EquivariantLinear
from regimes.nets.lattice._network import LatticeCNN
from regimes.nets.lattice._planar import PlanarConv, PlanarFields
from regimes.nets.lattice._relu import PermutedRelu

__all__ = [
    "EquivariantLinear",
    "LatticeCNN",
    "LatticeConv",
    "LatticeFields",
    "PermutedRelu",
    "PlanarConv",
    "PlanarFields",
    "symmetry_names",
]

_door.keep(globals())
