"""Last on the way to a Gram: gradients as factors, and the Grams that factors contract to.

`layers/` has a file for every kind of layer: how its gradient becomes a factor.
"""

from regimes.tangent.contraction._factors import (
    Dense,
    Factor,
    Outer,
    allocate,
    is_finite,
    rounded,
    write_rows,
    written_apart,
    written_out,
)
from regimes.tangent.contraction._gram import (
    diagonal,
    fold_outputs,
    is_linear,
    mirror_,
    select_output,
    write_gram_,
)
from regimes.tangent.contraction._matmul import add_product_
from regimes.tangent.contraction._overlap import Overlap
from regimes.tangent.contraction._pixels import MOST_SPOTS, fused
from regimes.tangent.contraction._strategy import Strategy

__all__ = [
    "MOST_SPOTS",
    "Dense",
    "Factor",
    "Outer",
    "Overlap",
    "Strategy",
    "add_product_",
    "allocate",
    "diagonal",
    "fold_outputs",
    "fused",
    "is_finite",
    "is_linear",
    "mirror_",
    "rounded",
    "select_output",
    "write_gram_",
    "write_rows",
    "written_apart",
    "written_out",
]
