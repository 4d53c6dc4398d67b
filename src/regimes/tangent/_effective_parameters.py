"""How many directions in parameter space change a network's function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import grad, jacfwd, vmap

from regimes._adapter import one_tensor
from regimes._check import real
from regimes._functional import functional_call
from regimes.nets import Ensemble, FullyConnected, stack


@dataclass(frozen=True, eq=False)
class EffectiveParameters:
    """N_eff of R networks, every field of shape (R,)."""

    count: Tensor  # N_eff
    gap: Tensor  # least singular value that counts over the largest that does not, or infinite
    always_on: Tensor  # hidden units that no point switches off; -1 where there are no units
    always_off: Tensor  # hidden units that no point switches on; -1 where there are no units
    total: int  # parameters


def effective_parameters(
    network: nn.Module | Ensemble, x: Tensor, *, cutoff: float = 1e-10
) -> EffectiveParameters:
    """Effective degrees of freedom [Geiger 2019, app. A]: the rank of G, in float64.

    G has a row for every point mu and n = 0..d: `grad_w f(x_mu)` for n = 0, and
    `grad_w f(x_mu) + d/dx_n grad_w f(x_mu)`. So it sees all changes of f near the points, to first
    order; with few points alone, the gradients would be fewer than the parameters. Of relu networks
    each hidden neuron loses one to the scaling of what enters and leaves it, and more where it is
    on, or off, at all points.

    Args:
        network: a network, or several of one shape, with one output.
        x: points (P, ...); P (d + 1) at least twice the number of parameters, and enough for each
            unit to be switched on and off by several.
        cutoff: singular values up to this share of the largest count as zero.

    Raises:
        ValueError: fewer rows than parameters, networks with several outputs.

    Example:
        >>> from regimes import nets
        >>> net = nets.FullyConnected(2, 3, activation="linear", bias=True)
        >>> x = torch.randn(30, 2, generator=torch.Generator().manual_seed(0))
        >>> found = effective_parameters(net, x)
        >>> found.count.tolist(), found.total  # a linear function has d + 1
        ([3], 13)
    """
    members = network if isinstance(network, Ensemble) else stack([network])
    total = sum(value[0].numel() for value in members.parameters.values())
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim < 2 or not len(x):
        given = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be floating-point points of shape (P, ...), got {given}")
    if not bool(x.isfinite().all()):
        raise ValueError("x holds NaN or infinite entries")
    width = x[0].numel() + 1
    if len(x) * width < total:
        raise ValueError(
            f"{len(x)} points in {width - 1} dimensions give {len(x) * width} rows, fewer than the "
            f"{total} parameters; give at least {-(-2 * total // width)} points"
        )
    parameters, buffers = (
        {name: t.detach().double() if t.is_floating_point() else t for name, t in own.items()}
        for own in (members.parameters, members.buffers)
    )

    def output(w: Mapping[str, Tensor], b: Mapping[str, Tensor], one: Tensor) -> Tensor:
        found = one_tensor(
            functional_call(members.template, {**w, **b}, (one.unsqueeze(0),)), members.output
        )
        if found.numel() != 1:
            raise ValueError(
                f"effective parameters are those of one output, got {tuple(found.shape)} for one "
                "point"
            )
        return found.reshape(())

    def gradient(w: Mapping[str, Tensor], b: Mapping[str, Tensor], one: Tensor) -> Tensor:
        return torch.cat([part.flatten() for part in grad(output)(w, b, one).values()])

    def rows(w: Mapping[str, Tensor], b: Mapping[str, Tensor], one: Tensor) -> Tensor:
        first = gradient(w, b, one)
        mixed = jacfwd(gradient, argnums=2)(w, b, one).flatten(1)  # (N, d)
        return torch.cat([first.unsqueeze(0), first + mixed.mT])

    every = vmap(vmap(rows, in_dims=(None, None, 0)), in_dims=(0, 0, None))
    # a triangle with the same singular values takes in a block of points after the other
    triangle = x.new_zeros(members.size, 0, total, dtype=torch.float64)
    for block in x.double().split(-(-2 * total // width)):
        made = every(parameters, buffers, block).flatten(1, 2)
        triangle = torch.linalg.qr(torch.cat([triangle, made], 1), mode="r").R
    sizes = torch.linalg.svdvals(triangle)
    counted = sizes > real("cutoff", cutoff, above=0.0, below=1.0) * sizes[:, :1]
    least = sizes.masked_fill(~counted, torch.inf).amin(1)
    on, off = _constant_units(members, parameters, x.double())
    return EffectiveParameters(
        counted.sum(1), least / sizes.masked_fill(counted, 0.0).amax(1), on, off, total
    )


def _constant_units(
    members: Ensemble, parameters: Mapping[str, Tensor], x: Tensor
) -> tuple[Tensor, Tensor]:
    """Hidden units that are on, and off, at all points, (R,) each; -1 where there are none."""
    if not isinstance(members.template, FullyConnected) or members.template.depth == 0:
        unknown = torch.full((members.size,), -1, device=x.device)
        return unknown, unknown
    _, layers = members.template.layers_stacked(parameters, x)
    active = torch.cat([z > 0 for z in layers[:-1]], -1)  # (R, P, units)
    return active.all(1).sum(1), (~active).all(1).sum(1)
