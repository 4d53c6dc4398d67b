"""Operations of the graph with the trainable parameters that enter them."""

from __future__ import annotations

from dataclasses import dataclass

from regimes.tangent.network import GroupOf
from regimes.tangent.structure._graph import Node, Use


@dataclass(frozen=True)
class Site:
    """One operation of the graph and the parameters to differentiate there."""

    uses: tuple[Use, ...]

    @property
    def node(self) -> Node:
        """The operation."""
        return self.uses[0].node

    @property
    def kind(self) -> str:
        """Name of the operation, as autograd calls it, without the suffix."""
        return str(self.node.name()).removesuffix("Backward0")

    def role(self, role: str) -> Use | None:
        """The use with this role, if any."""
        return next((use for use in self.uses if use.role == role), None)

    def signature(self) -> tuple[str, ...]:
        """What identifies the site from one pass to the next."""
        return (self.kind, *(f"{use.parameter}:{use.role}" for use in self.uses))


def group_sites(uses: tuple[Use, ...], tied: frozenset[str], group_of: GroupOf) -> list[Site]:
    """Join the uses at one operation that belong to one group of parameters.

    Tied parameters get sites of their own: their gradients are summed over sites before any Gram.
    """
    sites: list[Site] = []
    together: dict[tuple[Node, str], int] = {}
    for use in uses:
        key = (use.node, group_of(use.parameter))
        if use.parameter in tied or use.role in ("shift", "factor", "copy"):
            sites.append(Site((use,)))
        elif key in together:
            at = together[key]
            # the weight first, as its gradient is written out first
            joined = sorted((*sites[at].uses, use), key=lambda u: u.role != "weight")
            sites[at] = Site(tuple(joined))
        else:
            together[key] = len(sites)
            sites.append(Site((use,)))
    return sites
