"""What a diagnosis is made of: the case as given, and what has been found so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import torch
from torch import Tensor, nn

from regimes._adapter import columns
from regimes.curvature._losses import LossLike
from regimes.diagnosis._layers import Layer, Moment
from regimes.diagnosis._number import Number
from regimes.diagnosis._probes import Probes
from regimes.diagnosis._watch import Watch
from regimes.diagnosis._words import MEANINGS

_AT_ONCE = 250  # probes of a forward pass
_COMPANY = 2  # samples that are passed by themselves; one alone is refused by some layers
_INTERACT = 1e-2  # change of a sample's outputs with its company, relative to the outputs' size


@final
@dataclass(frozen=True)
class Case:
    """Two networks, or the trained one alone, and the probes.

    Attributes:
        first: before training, or None.
        last: after it.
        known: probes of the training points.
        held: of points not trained on, or None.
        outputs: how many the network has.
        pick: from what the network returns to its outputs.
        loss: what was trained on, as far as it is known.
        step_size: of gradient descent, or None.
        memory: bound for kernels.
        watch: of the time.
    """

    first: nn.Module | None
    last: nn.Module
    known: Probes
    held: Probes | None
    outputs: int
    pick: Callable[[Any], Any] | None
    loss: LossLike | None
    step_size: float | None
    memory: str | int | None
    watch: Watch

    @property
    def shown(self) -> Probes:
        """The points that accuracies are counted on."""
        return self.known if self.held is None else self.held

    @property
    def networks(self) -> dict[str, nn.Module]:
        """Those that are known, under "before" and "after"."""
        return (
            {} | ({"before": self.first} if self.first is not None else {}) | {"after": self.last}
        )


@final
@dataclass
class Found:
    """What has been found, in the order it was; see `Diagnosis`."""

    numbers: dict[str, Number] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    by_layer: tuple[Layer, ...] = ()
    spectra: dict[str, tuple[float, ...]] = field(default_factory=dict)
    course: tuple[Moment, ...] = ()
    seen: int = 0  # probes whose kernels were compared
    linear_error: float = math.nan  # of the first-order model at the start

    def add(self, name: str, value: float, error: float | None = None, also: str = "") -> None:
        """One number with its meaning, and what is special about it here."""
        self.numbers[name] = Number(value, error, MEANINGS[name] + also)


def called(network: nn.Module, x: Any) -> Any:
    """The network at inputs: a mapping goes by name, a tuple by position."""
    if isinstance(x, dict):
        return network(**x)
    return network(*x) if isinstance(x, tuple | list) else network(x)


def outputs_of(
    network: nn.Module, probes: Probes, pick: Callable[[Any], Any] | None, name: str
) -> Tensor:
    """Outputs (n, c) of all probes, some at a time.

    Raises:
        ValueError: not a row a sample, or not finite; `name` says whose.
    """
    made = []
    for rows in torch.arange(len(probes)).split(_AT_ONCE):
        with torch.no_grad():
            made.append(columns(called(network, probes.part(rows).x), pick))
    found = torch.cat(made)
    if len(found) != len(probes):
        raise ValueError(
            f"the network returned {len(found)} rows for {len(probes)} inputs; it must give "
            "one row an input, without letting samples interact"
        )
    if not bool(torch.isfinite(found).all()):
        raise ValueError(
            f"outputs of the network {name} training are not all finite: its weights or the "
            "inputs hold infinities or NaN"
        )
    return found


def check_alone(network: nn.Module, probes: Probes, pick: Callable[[Any], Any] | None) -> None:
    """Refuse a network whose outputs for a sample depend on the others of its batch.

    Raises:
        ValueError: they do.
    """
    few = probes.first(8)
    if len(few) < _COMPANY + 1:
        return
    together = outputs_of(network, few, pick, "after")
    alone = outputs_of(network, few.first(_COMPANY), pick, "after")
    size = float(together.double().square().mean().sqrt())
    apart = float((together[:_COMPANY] - alone).abs().max())
    if apart > _INTERACT * size:
        raise ValueError(
            f"the outputs for one input change by {apart:.2g} when others are in its batch, beside "
            f"outputs of size {size:.2g}: the samples interact even in evaluation mode, so the "
            "network has no tangent kernel of single points. Batch norm must keep running "
            "statistics (track_running_stats=True), and nothing may average over the batch"
        )
