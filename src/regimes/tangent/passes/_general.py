"""Gradients of parameters without known structure, sample by sample, for those parameters only."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import vjp, vmap

from regimes.tangent.network import Batch, Snapshot, _batch, real
from regimes.tangent.passes._gradients import agree, weighted_gradients

_ROUNDING = 1e-5  # relative: a network may cast to float32, whatever its parameters are


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
            return snapshot.run(single, chosen)[0]

        _, pull = vjp(forward, parameters)  # type: ignore[misc]
        pulled = vmap(lambda v: pull(v)[0])(cotangents)
        return _side_by_side([pulled[name] for name in names])

    if batched:
        return vmap(one)(batch)
    n = _batch.tensors(batch)[0].shape[0]
    rows = [
        _one_sample(snapshot, names, _batch.rows(batch, i, i + 1), cotangents) for i in range(n)
    ]
    return torch.stack(rows)


def can_batch(snapshot: Snapshot, names: list[str], batch: Batch, cotangents: Tensor) -> str:
    """Empty if the vectorised call works and agrees with autograd, else why it does not."""
    try:
        found = general_features(snapshot, names, batch, cotangents, batched=True)[0]
    except (RuntimeError, ValueError, NotImplementedError, TypeError) as error:
        return str(error).splitlines()[0].split(". ")[0]
    true = _one_sample(snapshot, names, _batch.rows(batch, 0, 1), cotangents)
    if agree(found, true, at_least=_ROUNDING):
        return ""
    return "its vectorised gradient is not that of its backward pass"


def _one_sample(snapshot: Snapshot, names: list[str], single: Batch, cotangents: Tensor) -> Tensor:
    parameters = [snapshot.parameters[name] for name in names]
    with torch.enable_grad():
        output = snapshot(single)
    return _side_by_side(weighted_gradients(output, parameters, cotangents.unsqueeze(1)))


def _side_by_side(gradients: list[Tensor]) -> Tensor:
    """Gradients (m, *shape) as rows (m, P)."""
    m = len(gradients[0])
    return torch.cat([real(gradient).reshape(m, -1) for gradient in gradients], 1)
