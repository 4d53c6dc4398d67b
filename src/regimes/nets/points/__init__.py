"""Networks on points in space, equivariant under rotations, mirrors and shifts [Geiger 2020c].

They stand on e3nn, which the extra `equivariant` installs: pip install 'regimes[equivariant]'.
"""

from regimes import _door
from regimes.nets.points._attention import EquivariantAttention
from regimes.nets.points._convolution import PointConvolution, PointNetwork
from regimes.nets.points._forces import ForceField, force_field
from regimes.nets.points._graph import Edges, edges_of, radius_graph
from regimes.nets.points._tensors import TensorParts, decompose_tensor

__all__ = [
    "Edges",
    "EquivariantAttention",
    "ForceField",
    "PointConvolution",
    "PointNetwork",
    "TensorParts",
    "decompose_tensor",
    "edges_of",
    "force_field",
    "radius_graph",
]

_door.keep(globals())
