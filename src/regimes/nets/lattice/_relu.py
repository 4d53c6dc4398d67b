"""ReLU where it commutes with the group: on components that elements only permute."""

from __future__ import annotations

from torch import Tensor, nn

from regimes._check import instance
from regimes.nets.lattice._fields import LatticeFields


class PermutedRelu(nn.ReLU):
    """ReLU of every component, for representations that permute them [Cohen 2019, section 3.3].

    Raises:
        ValueError: for any other representation, with which ReLU does not commute.

    Example:
        >>> PermutedRelu(LatticeFields.of("p4", "regular", 2))
        PermutedRelu(2 x regular)
    """

    def __init__(self, fields: LatticeFields) -> None:
        super().__init__()
        instance("fields", fields, LatticeFields, "LatticeFields")
        if not fields.representation.is_permutation:
            raise ValueError(
                f"ReLU commutes with permutations alone, which {fields} are not; use regular or "
                "trivial fields, or a norm or gate"
            )
        self.fields = fields

    def forward(self, field: Tensor) -> Tensor:
        """The field with its negative components at zero."""
        self.fields.check(field)
        return super().forward(field)

    def extra_repr(self) -> str:
        """On which fields."""
        return str(self.fields)
