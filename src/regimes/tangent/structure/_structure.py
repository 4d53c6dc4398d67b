"""What is known about a network before any Gram: its sites, and what a sample costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from regimes.tangent.network import Batch, GroupOf, _batch
from regimes.tangent.structure._graph import Entries
from regimes.tangent.structure._layout import Layout
from regimes.tangent.structure._sites import Site, group_sites


@dataclass(frozen=True)
class KnownSite:
    """A site with its layout and its sizes, as needed to choose a strategy."""

    signature: tuple[str, ...]
    parameters: tuple[str, ...]
    layout: Layout
    sides: tuple[int, int] | None  # (p, q) of a weight kept as factors, else None
    gradient_elements: int  # entries per sample of the gradient at its output
    input_elements: int  # entries per sample of the saved input
    pairing: tuple[int, int]  # multiply-adds and passes of the right factors at two positions
    pixels: tuple[int, int] | None  # products of pixels for two samples, and channels of each

    @property
    def positions(self) -> int:
        """T, how often a sample uses the weight."""
        return self.gradient_elements // self.sides[0] if self.sides else 1


@dataclass(frozen=True, eq=False)  # one examination is one structure: plans are kept by it
class Structure:
    """Everything the engines need to know about one network on one kind of input."""

    outputs: int
    sites: tuple[KnownSite, ...]
    tied: frozenset[str]
    general: Mapping[str, str]  # parameter -> why it takes the general engine
    loop_reason: str  # why the general engine must go sample by sample; empty if it need not
    shapes: Mapping[str, torch.Size]
    saved_bytes: int  # kept by autograd for a sample's backward pass
    widest_bytes: int  # largest intermediate tensor of a sample
    by_hand: bool  # whether the backward pass may be done by the rules of `passes/`
    channels_last: bool  # whether passes are faster with the channels of a pixel side by side
    seconds: float  # that the examination took, more than plain autograd takes for two samples

    def arranged(self, batch: Batch) -> Batch:
        """A batch in the order of memory in which the network is run."""
        return _batch.channels_last(batch) if self.channels_last else batch

    def match(self, entries: Entries, group_of: GroupOf) -> list[Site]:
        """The sites of a new pass, in the order of this structure.

        Raises:
            ValueError: the network built another graph than it did on the probe.
        """
        kept = tuple(use for use in entries.uses if use.parameter not in self.general)
        sites = group_sites(kept, self.tied, group_of)
        same = [site.signature() for site in sites] == [site.signature for site in self.sites]
        if not same or not entries.unknown.keys() <= self.general.keys():
            raise ValueError(
                "the network changes its computation from batch to batch (control flow that "
                "depends on the values or the batch size); use engine='jacobian'"
            )
        return sites
