"""Which operation of the graph is which kind of layer."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from regimes.tangent.contraction._factors import Factor, Outer, written_out
from regimes.tangent.contraction._overlap import Overlap
from regimes.tangent.contraction._strategy import Strategy
from regimes.tangent.contraction.layers._convolution import CONVOLUTION
from regimes.tangent.contraction.layers._elementwise import ELEMENTWISE
from regimes.tangent.contraction.layers._embedding import EMBEDDING
from regimes.tangent.contraction.layers._kind import LayerKind, Reached, Shapes
from regimes.tangent.contraction.layers._linear import LINEAR
from regimes.tangent.structure import Layout, Node, Site

# every other operation that `structure/_graph.py` knows is elementwise
KINDS: Mapping[str, LayerKind] = {
    "AddmmBackward0": LINEAR,
    "MmBackward0": LINEAR,
    "ConvolutionBackward0": CONVOLUTION,
    "EmbeddingBackward0": EMBEDDING,
}


def factor_of(
    site: Site, gradient: Tensor, layout: Layout, n: int, shapes: Shapes, strategy: Strategy
) -> Factor | None:
    """The factor of the site's parameters.

    Args:
        site: the operation.
        gradient: (m, *shape of its output), for m outputs of the network.
        layout: where the samples are in its output.
        n: number of samples.
        shapes: shapes of the parameters.
        strategy: how it will be contracted; ORDERED writes it out here.

    Returns:
        The factor, or None if the operation pairs a parameter with the samples themselves, which
        only the general engine can treat.
    """
    factor = _kind(site.node).factor(Reached(site, gradient, layout, n, shapes, strategy))
    if strategy == Strategy.ORDERED and isinstance(factor, Outer):
        return written_out(factor)
    return factor


def sides_of(site: Site, shapes: Shapes) -> tuple[int, int] | None:
    """(p, q) where the weight gradient is a sum of outer products worth keeping as factors."""
    return None if site.role("weight") is None else _kind(site.node).sides(site, shapes)


def pairing_of(site: Site, shapes: Shapes, positions: int) -> tuple[int, int]:
    """Cost of the right factors for a pair of positions: (multiply-adds, passes over it)."""
    sides = sides_of(site, shapes)
    return (1, 0) if sides is None else _kind(site.node).pairing(site, shapes, sides, positions)


def overlap_of(site: Site, shapes: Shapes) -> Overlap | None:
    """Which pixels the positions of a weight that is kept as factors share, if any."""
    sides = sides_of(site, shapes)
    return None if sides is None else _kind(site.node).overlap(site, shapes)


def _kind(node: Node) -> LayerKind:
    return KINDS.get(node.name(), ELEMENTWISE)
