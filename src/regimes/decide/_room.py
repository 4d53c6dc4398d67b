"""Whether the systems of a long memory fit into this machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regimes._memory import parse_bytes, readable

if TYPE_CHECKING:
    from torch import Tensor

_COPIES = 3  # a matrix, what it is made of, its factors
_FREE = 2**28  # bytes that are taken without asking


def room_for(systems: int, size: int, like: Tensor, what: str) -> None:
    """Raise where so many square systems of this size need more memory than there is.

    Args:
        systems: members times hypotheses.
        size: unknowns of each.
        like: a tensor of the kind and the device of the systems.
        what: whose they are, as in "Memento of depth 9".
    """
    need = _COPIES * systems * size**2 * like.element_size()
    if need > _FREE and need > (have := parse_bytes(None, like.device)):
        raise ValueError(
            f"{what} makes {systems} systems of {size} unknowns, {readable(need)}, and "
            f"{readable(have)} may be used; take a shorter memory or fewer members at once"
        )
