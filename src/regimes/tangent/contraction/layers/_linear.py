"""Linear layers: a weight that multiplies the inputs at every position."""

from __future__ import annotations

from regimes.tangent.contraction._factors import Outer
from regimes.tangent.contraction._right import Inputs
from regimes.tangent.contraction.layers._kind import LayerKind, Reached, Shapes
from regimes.tangent.structure import Site


def _factor(here: Reached) -> Outer:
    node = here.site.node
    left = here.by_sample().transpose(2, 3)  # (m, n, p, T)
    if left.shape[3] == 1 and left.stride(1) != 0:
        left = left.contiguous()  # whatever order the backward pass left it in
    use = here.site.role("weight")
    if use is None:
        return here.outer(left, None)
    saved = node._saved_mat1 if node.name() == "AddmmBackward0" else node._saved_self
    right = Inputs(here.layout.split(saved.detach(), here.samples))
    return here.outer(left, right, right_major=not use.transposed)


def _sides(site: Site, shapes: Shapes) -> tuple[int, int]:
    use = site.uses[0]  # the weight comes first
    first, second = shapes[use.parameter]
    return (first, second) if use.transposed else (second, first)


LINEAR = LayerKind(_factor, _sides)
