"""How the gradient of each kind of layer becomes a factor: one file for every kind.

A new kind of layer is a `LayerKind` in a file of its own, named in `_table.py`.
"""

from regimes.tangent.contraction.layers._table import (
    factor_of,
    overlap_of,
    pairing_of,
    sides_of,
)

__all__ = ["factor_of", "overlap_of", "pairing_of", "sides_of"]
