"""The same numbers of runs of this library's own flows and descents."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regimes.flow import LogTimes, NetworkSnapshot, Observer
from regimes.flow._schedules import Schedule
from regimes.observe._numbers import Wanted, kernel_numbers
from regimes.tangent import TangentKernel


def on_flow(
    x: Tensor,
    labels: Tensor,
    name: str = "alignment",
    *,
    when: Schedule | None = None,
    wanted: Wanted | None = None,
) -> Observer:
    """An observer for `flow.gradient_flow` and `flow.descend` of one number of the kernel.

    Args:
        x: points of the probe, for all members.
        labels: theirs.
        name: which number, as `kernel_numbers` names them; those of layers come as a row.
        when: a schedule of the flow; None for log-spaced times.
        wanted: see `Wanted`; layers are left out unless the name asks for them.

    Example:
        >>> from regimes import data, flow, nets
        >>> ds = data.stripe(n_train=20, n_test=10, d=2)
        >>> watch = {"rank": on_flow(ds.x_train, ds.y_train, "effective_rank")}
        >>> run = flow.gradient_flow(
        ...     nets.FullyConnected(2, 8), ds, ensemble=2, max_steps=5, observe=watch)
        >>> run.recordings["rank"].last.shape
        torch.Size([2])
    """
    layers = name.startswith("layer_")
    spectra = name in ("layer_max", "layer_effective_rank")
    chosen = wanted or Wanted(layers=layers, layer_spectra=spectra)

    def measure(snapshot: NetworkSnapshot) -> Tensor:
        return torch.stack(
            [
                _number(snapshot.network(i), x, labels, name, chosen)
                for i in range(len(snapshot.numbers))
            ]
        )

    return Observer(measure, when or LogTimes())


def _number(network: Any, x: Tensor, labels: Tensor, name: str, wanted: Wanted) -> Tensor:
    kernel = TangentKernel(network.eval(), copy=False)
    grams = kernel.by_layer(x) if wanted.layers else {"": kernel(x)}
    found = kernel_numbers(grams, labels, wanted)
    if name not in found:
        raise ValueError(f"no number {name!r} of a kernel; there are {', '.join(sorted(found))}")
    return found[name]
