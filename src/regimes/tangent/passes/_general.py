"""Gradients of parameters without known structure, sample by sample, for those parameters only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.func import vjp, vmap

from regimes._adapter import columns
from regimes._functional import functional_call
from regimes.tangent.network import Batch, Snapshot, _batch, checked_output


def general_features(
    snapshot: Snapshot, names: list[str], batch: Batch, cotangents: Tensor, *, batched: bool
) -> Tensor:
    """Gradients written out, (n, m, P) for the P entries of the named parameters.

    Args:
        snapshot: the network.
        names: parameters to differentiate.
        batch: n samples.
        cotangents: (m, c) weights of the outputs.
        batched: all samples in one vectorised call; False runs one sample at a time, for networks
            whose code looks at values.
    """
    parameters = {name: snapshot.parameters[name].detach() for name in names}

    def one(sample: Batch) -> Tensor:
        single = _batch.apply(sample, lambda t: t.unsqueeze(0))

        def forward(chosen: dict[str, Tensor]) -> Tensor:
            return functional(snapshot, chosen, single)[0]

        _, pull = vjp(forward, parameters)  # type: ignore[misc]
        pulled = vmap(lambda v: pull(v)[0])(cotangents)
        return torch.cat([pulled[name].flatten(1) for name in names], 1)

    if batched:
        return vmap(one)(batch)
    n = _batch.tensors(batch)[0].shape[0]
    rows = [
        _one_sample(snapshot, names, _batch.rows(batch, i, i + 1), cotangents) for i in range(n)
    ]
    return torch.stack(rows)


def can_batch(snapshot: Snapshot, names: list[str], batch: Batch, cotangents: Tensor) -> str:
    """Empty if the vectorised call works on this network, else the reason it does not."""
    try:
        general_features(snapshot, names, batch, cotangents, batched=True)
    except (RuntimeError, ValueError, NotImplementedError, TypeError) as error:
        return str(error).splitlines()[0]
    return ""


def functional(snapshot: Snapshot, chosen: dict[str, Tensor], batch: Batch) -> Any:
    """The network's outputs (n, c) with some parameters replaced."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if isinstance(batch, dict):
        kwargs = batch
    elif isinstance(batch, (tuple, list)):
        args = tuple(batch)
    else:
        args = (batch,)
    return columns(functional_call(snapshot.module, chosen, args, kwargs), snapshot.output)


def _one_sample(snapshot: Snapshot, names: list[str], single: Batch, cotangents: Tensor) -> Tensor:
    output = checked_output(_batch.call(snapshot.module, single), 1, snapshot.output)
    parameters = [snapshot.parameters[name] for name in names]
    rows = []
    for cotangent in cotangents:
        found = torch.autograd.grad(
            output, parameters, cotangent.unsqueeze(0), retain_graph=True, allow_unused=True
        )
        flat = [
            (torch.zeros_like(p) if g is None else g).flatten()
            for p, g in zip(parameters, found, strict=True)
        ]
        rows.append(torch.cat(flat))
    return torch.stack(rows)
