"""What the engine asks of one kind of layer, and what the kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes.tangent.contraction._factors import Factor, Outer
from regimes.tangent.contraction._overlap import Overlap
from regimes.tangent.contraction._right import Inputs, Right
from regimes.tangent.contraction._strategy import Strategy
from regimes.tangent.structure import Layout, Site

Shapes = Mapping[str, torch.Size]  # parameter -> its shape


@dataclass(frozen=True)
class Reached:
    """A site that a backward pass has come to.

    Attributes:
        site: the operation and its parameters.
        gradient: (m, *shape of its output), for m outputs of the network.
        layout: where the samples are in its output.
        samples: number of samples, n.
        shapes: shapes of the parameters.
        strategy: how the factor will be contracted.
    """

    site: Site
    gradient: Tensor
    layout: Layout
    samples: int
    shapes: Shapes
    strategy: Strategy

    def by_sample(self) -> Tensor:
        """The gradient with the samples apart, (m, n, inner, *rest)."""
        layout = self.layout
        if layout.axis == 0 and layout.inner == 1:  # the usual case: nothing moves
            return self.gradient.unsqueeze(2)
        split = Layout(layout.axis + 1, layout.inner, layout.sample_major)
        return split.split(self.gradient, self.samples).movedim(2, 0)

    def outer(self, left: Tensor, right: Right | None, *, right_major: bool = False) -> Outer:
        """Assemble a factor from left (m, n, p, T), folding the weight's multiplier into it.

        Args:
            left: output gradients by sample and position.
            right: what they were multiplied with; None where no weight is asked for.
            right_major: whether the weight is stored (q, p) instead of (p, q).
        """
        site = self.site
        weight, bias = site.role("weight"), site.role("bias")
        alpha, beta = 1.0, 1.0
        if site.node.name() == "AddmmBackward0":
            alpha, beta = float(site.node._saved_alpha), float(site.node._saved_beta)
        weight_scale = weight.scale * alpha if weight else 1.0
        bias_scale = bias.scale * beta if bias else 0.0
        if right is None or weight_scale == 0.0:  # the bias alone: inputs do not matter
            right = Inputs(left.new_zeros(left.shape[1], left.shape[3], 1))
            return Outer(left, right, False, bias_scale, False, self.strategy)
        if weight_scale != 1.0:
            left = left * weight_scale
        return Outer(left, right, True, bias_scale / weight_scale, right_major, self.strategy)


def never_kept(site: Site, shapes: Shapes) -> None:
    """No sides: the gradients are few numbers and always written out."""


def by_side(site: Site, shapes: Shapes, sides: tuple[int, int], positions: int) -> tuple[int, int]:
    """A pair of positions takes a product of q numbers, and no pass over it."""
    return sides[1], 0


def no_pixels(site: Site, shapes: Shapes) -> None:
    """Positions that share nothing."""


@dataclass(frozen=True)
class LayerKind:
    """How the gradient of one kind of layer becomes a factor, and what that costs.

    Attributes:
        factor: the factor, or None if the operation pairs a parameter with the samples themselves,
            which only the general engine can treat.
        sides: (p, q) of a weight whose gradient is a sum of outer products worth keeping as
            factors, else None. Asked only where there is a weight.
        pairing: cost of the right factors for a pair of positions, (multiply-adds, passes over
            it). Asked only where there are sides; these and the number of positions are given.
        overlap: which pixels the positions share, or None where they share none that can be
            multiplied one by one. Asked only where there are sides.
    """

    factor: Callable[[Reached], Factor | None]
    sides: Callable[[Site, Shapes], tuple[int, int] | None] = never_kept
    pairing: Callable[[Site, Shapes, tuple[int, int], int], tuple[int, int]] = by_side
    overlap: Callable[[Site, Shapes], Overlap | None] = no_pixels
