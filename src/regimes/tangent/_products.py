"""Products with the tangent kernel, for when the Gram must not exist.

Theta v = J (J^T v): a vector-Jacobian product gathers the samples into one set of parameter
directions, a Jacobian-vector product spreads it out again. Several columns travel together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import jvp, vmap

from regimes._check import positive_int
from regimes._random import generator
from regimes.tangent.contraction import add_product_
from regimes.tangent.network import Batch, Snapshot, _batch, real
from regimes.tangent.passes import weighted_gradients

Direction = dict[str, Tensor]  # parameter -> (k, *shape), k directions in parameter space
Push = Callable[[Snapshot, Batch, Direction], Tensor]  # J u of some samples, (n, c, k)

# forward-mode differentiation under vmap is broken in torch 2.11: columns go one by one there
_BATCHED_FORWARD = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 12)


@dataclass(frozen=True)
class Limits:
    """Samples per pass and columns at a time that keep within the memory budget."""

    samples: int
    columns: int
    push: Push


@dataclass(frozen=True)
class TraceEstimate:
    """A stochastic trace with its standard error."""

    value: float
    error: float
    samples: int


def pull(snapshot: Snapshot, batch: Batch, v: Tensor, limits: Limits) -> Direction:
    """J^T v: sum over samples and outputs of v times the gradient.

    Args:
        snapshot: the network.
        batch: n samples.
        v: (n, c, k).
        limits: how much at once.
    """
    names = list(snapshot.parameters)
    parameters = list(snapshot.parameters.values())
    total = [p.new_zeros(v.shape[2], *p.shape) for p in parameters]
    for start in range(0, v.shape[0], limits.samples):
        stop = min(start + limits.samples, v.shape[0])
        with torch.enable_grad():
            output = snapshot(_batch.rows(batch, start, stop))
        seeds = v[start:stop].permute(2, 0, 1)
        for into, part in zip(total, weighted_gradients(output, parameters, seeds), strict=True):
            into += part
    return dict(zip(names, total, strict=True))


def push(snapshot: Snapshot, batch: Batch, direction: Direction, limits: Limits) -> Tensor:
    """J u: directional derivatives of the outputs, (n, c, k)."""
    n = _batch.tensors(batch)[0].shape[0]
    parts = [
        limits.push(snapshot, _batch.rows(batch, start, min(start + limits.samples, n)), direction)
        for start in range(0, n, limits.samples)
    ]
    return torch.cat(parts)


def _push_forward(snapshot: Snapshot, batch: Batch, direction: Direction) -> Tensor:
    parameters = {name: p.detach() for name, p in snapshot.parameters.items()}

    def along(u: dict[str, Tensor]) -> Tensor:
        return jvp(lambda chosen: snapshot.run(batch, chosen), (parameters,), (u,))[1]

    if _BATCHED_FORWARD:
        return vmap(along, out_dims=2)(direction)
    k = next(iter(direction.values())).shape[0]
    columns = [along({name: u[i] for name, u in direction.items()}) for i in range(k)]
    return torch.stack(columns, 2)


def _push_twice_backward(snapshot: Snapshot, batch: Batch, direction: Direction) -> Tensor:
    """J u as the derivative of v -> (J^T v) . u, for operations without a forward mode."""
    with torch.enable_grad():
        output = snapshot(batch)
        v = torch.zeros_like(output, requires_grad=True)
        parameters = list(snapshot.parameters.values())
        pulled = torch.autograd.grad(output, parameters, v, create_graph=True, allow_unused=True)
    pairs = [
        (gradient, u)
        for gradient, u in zip(pulled, direction.values(), strict=True)
        if gradient is not None and gradient.requires_grad
    ]
    (spread,) = torch.autograd.grad(
        [gradient for gradient, _ in pairs], v, [u for _, u in pairs], is_grads_batched=True
    )
    return spread.permute(1, 2, 0)


def _push_row_by_row(snapshot: Snapshot, batch: Batch, direction: Direction) -> Tensor:
    """J u with the rows of J written out, as many at a time as there are columns of u."""
    with torch.enable_grad():
        output = snapshot(batch)
    parameters = list(snapshot.parameters.values())
    columns = torch.cat([real(u).reshape(len(u), -1) for u in direction.values()], 1)
    rows: list[Tensor] = []
    for some in torch.arange(output.numel(), device=output.device).split(len(columns)):
        seeds = torch.zeros(len(some), output.numel(), dtype=output.dtype, device=output.device)
        seeds.scatter_(1, some[:, None], 1.0)
        gradients = weighted_gradients(
            output, parameters, seeds.view(-1, *output.shape), retain=True
        )
        row = torch.cat([real(g).reshape(len(some), -1) for g in gradients], 1)
        rows.append(row.new_zeros(len(row), len(columns)))
        add_product_(rows[-1], row, columns)
    return torch.cat(rows).view(*output.shape, -1)


def way_to_push(snapshot: Snapshot, batch: Batch) -> Push:
    """The fastest way to J u that is the transpose of J^T v, which is what training sees.

    Some operations have no forward rule or no second derivative, an embedding's padding row has a
    forward derivative though training never moves it, and a hook may change the gradient.
    """
    padded = any(
        isinstance(child, (nn.Embedding, nn.EmbeddingBag)) and child.padding_idx is not None
        for child in snapshot.module.modules()
    )
    few = _batch.probe(batch, 2)
    gen = generator(0, "tangent/forward")

    def drawn(like: Tensor, *shape: int) -> Tensor:
        dtype = torch.complex128 if like.is_complex() else torch.float64
        return torch.randn(*shape, *like.shape, generator=gen, dtype=dtype).to(like)

    with torch.enable_grad():
        output = snapshot(few)
    direction = {name: drawn(p, 2) for name, p in snapshot.parameters.items()}
    v = drawn(output)
    pulled = weighted_gradients(output, list(snapshot.parameters.values()), v[None])
    true = sum(
        (real(u).double() * real(g).double()).reshape(len(u), -1).sum(1)
        for u, g in zip(direction.values(), pulled, strict=True)
    )
    tolerance = 3 * torch.finfo(snapshot.dtype).eps ** 0.5
    for way in (_push_twice_backward,) if padded else (_push_forward, _push_twice_backward):
        try:
            found = way(snapshot, few, direction).double()
        except (NotImplementedError, RuntimeError):
            continue
        gap = (found * v[..., None]).sum((0, 1)) - true
        if bool((gap.abs() <= tolerance * v.norm() * found.norm()).all()):
            return way
    return _push_row_by_row


def matvec(snapshot: Snapshot, x: Batch, x2: Batch, v: Tensor, c: int, limits: Limits) -> Tensor:
    """Theta(x, x2) v for v of shape (n2,), (n2, c) or with one more axis of columns."""
    n2 = _batch.size(x2)
    columns, shape = as_columns(v, n2, c)
    columns = columns.to(snapshot.device, snapshot.dtype)
    done = [
        push(snapshot, x, pull(snapshot, x2, part, limits), limits)
        for part in columns.split(limits.columns, 2)
    ]
    result = finite(torch.cat(done, 2))
    return result.reshape(result.shape[0], *shape[1:])


def as_columns(v: Tensor, n: int, c: int) -> tuple[Tensor, torch.Size]:
    """View a vector or several as (n, c, k).

    Raises:
        ValueError: the shape does not fit n samples and c outputs.
    """
    shapes = [(n, c), (n, c, -1)] if c > 1 else [(n,), (n, -1), (n, 1, -1)]
    fits = v.dim() in [len(s) for s in shapes] and v.shape[0] == n
    if fits and c > 1:
        fits = v.shape[1] == c
    if fits and c == 1 and v.dim() == 3:
        fits = v.shape[1] == 1
    if not fits:
        expected = " or ".join(str(s).replace("-1", "k") for s in shapes)
        raise ValueError(f"expected a vector of shape {expected}, got {tuple(v.shape)}")
    return v.reshape(n, c, -1), v.shape


def as_direction(snapshot: Snapshot, u: Tensor) -> Direction:
    """Flat directions (P,) or (k, P) by parameter, each (k, *shape).

    Raises:
        ValueError: not as many numbers as there are parameters.
    """
    sizes = [p.numel() for p in snapshot.parameters.values()]
    if u.dim() not in (1, 2) or u.shape[-1] != sum(sizes):
        raise ValueError(
            f"directions must have shape ({sum(sizes)},) or (k, {sum(sizes)}), got {tuple(u.shape)}"
        )
    parts = torch.atleast_2d(u).to(snapshot.device, snapshot.dtype).split(sizes, 1)
    named = zip(snapshot.parameters.items(), parts, strict=True)
    return {name: part.reshape(-1, *p.shape) for (name, p), part in named}


def gram(snapshot: Snapshot, x: Batch, x2: Batch, c: int, limits: Limits) -> Tensor:
    """The whole Gram (n, c, n2, c), column by column."""
    n2 = _batch.size(x2)
    eye = torch.eye(n2 * c, dtype=snapshot.dtype, device=snapshot.device).view(n2, c, n2 * c)
    full = matvec(snapshot, x, x2, eye if c > 1 else eye[:, 0], c, limits)
    return full.reshape(-1, c, n2, c)


def stochastic_trace(
    snapshot: Snapshot, x: Batch, c: int, samples: int, seed: int, limits: Limits
) -> TraceEstimate:
    """Hutchinson's estimate of the trace: the mean of ||J^T z||^2 over random signs z."""
    samples = positive_int("samples", samples, least=2)
    n = _batch.size(x)
    signs = torch.randint(0, 2, (n, c, samples), generator=generator(seed, "tangent/trace"))
    z = (2.0 * signs - 1.0).to(snapshot.device, snapshot.dtype)
    values = torch.cat(
        [squared_norms(pull(snapshot, x, part, limits)) for part in z.split(limits.columns, 2)]
    ).double()
    return TraceEstimate(float(values.mean()), float(values.std() / samples**0.5), samples)


def target_alignment(
    snapshot: Snapshot, x: Batch, y: Tensor, c: int, normalise: str, limits: Limits
) -> Tensor:
    """y^T K y / n^2 (or / ||y||^2) for each target, by one weighted gradient each."""
    if normalise not in ("mean", "rayleigh"):
        raise ValueError(f"normalise must be 'mean' or 'rayleigh', got {normalise!r}")
    n = _batch.size(x)
    columns, shape = as_columns(y, n, c)
    columns = columns.to(snapshot.device, snapshot.dtype)
    values = torch.cat(
        [
            squared_norms(pull(snapshot, x, part, limits))
            for part in columns.split(limits.columns, 2)
        ]
    )
    values = values / (n**2 if normalise == "mean" else columns.square().sum((0, 1)))
    single = len(shape) == (2 if c > 1 else 1)
    return values[0] if single else values


def squared_norms(direction: Direction) -> Tensor:
    """||u||^2 of each direction, (k,), in float32 or better."""
    flat = (real(u).reshape(len(u), -1) for u in direction.values())
    norms = [u.to(torch.promote_types(u.dtype, torch.float32)).square().sum(1) for u in flat]
    return finite(torch.stack(norms).sum(0))


def finite(product: Tensor) -> Tensor:
    """The product, refused where a number overflowed on the way."""
    if not torch.isfinite(product).all():
        dtype = str(product.dtype).removeprefix("torch.")
        raise ValueError(
            f"a product with the kernel is not finite in {dtype}: the vector holds NaN or "
            "infinity, or a gradient overflowed, which a higher precision mends "
            "(precision='float32' or 'float64')"
        )
    return product
