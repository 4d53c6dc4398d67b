"""First on the way to a Gram: which parameters enter which operations, read from the graph."""

from regimes.tangent.structure._graph import (
    Node,
    Parents,
    Use,
    kept_tensors,
    read_graph,
    scalar_of,
)
from regimes.tangent.structure._layout import Layout, find_layout
from regimes.tangent.structure._sites import Site, group_sites
from regimes.tangent.structure._structure import KnownSite, Structure

__all__ = [
    "KnownSite",
    "Layout",
    "Node",
    "Parents",
    "Site",
    "Structure",
    "Use",
    "find_layout",
    "group_sites",
    "kept_tensors",
    "read_graph",
    "scalar_of",
]
