"""Packings of discs just above jamming: the reference system of the transition."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regimes._check import positive_int, real
from regimes._random import generator
from regimes.theory._discs import (
    DiscPackings,
    energy_and_force,
    find_rattlers,
    hessian_parts,
    overlaps,
)

_LOOSE = 1e-22  # energy per disc of a packing that does not jam
_WITHIN = 10.0  # factor around the energy that is asked for
_AT_REST = 1e-7  # largest force left, over the mean force of a contact
_ROUNDING = (
    1e-7  # relative error of the energy: an overlap of 1e-8 is a difference of lengths near 1
)
_FASTEST = 0.1  # by what the distance to jamming is multiplied at most, from step to step


def jammed_discs(
    n: int,
    samples: int = 1,
    seed: int = 0,
    *,
    ratio: float = 1.4,
    energy: float = 1e-16,
    start: float = 0.9,
    max_rounds: int = 200,
) -> DiscPackings:
    """Discs at the density where they begin to jam [Geiger 2019, sec. II and fig. 2].

    Half of them are larger by a factor, which avoids crystals. From places at random at a density
    well above jamming the energy is minimised, and the density lowered, again and again: as
    `U ~ (phi - phi_c)^2`, each rest tells how far jamming is, `2 U/(dU/dphi)`. A packing that
    comes loose returns to where it jammed and takes half of the step. All samples move together.

    Minimisation is by damped Newton steps, `(H + mu) dx = force`, with H0 for H where that is not
    positive: they converge fast near jamming, where first-order methods crawl.

    Args:
        n: number of discs.
        samples: packings.
        seed: of the places.
        ratio: of the two radii.
        energy: U per disc to stop at, within a factor of ten; more is further above jamming.
        start: first density.
        max_rounds: changes of the density.

    Returns:
        The packings; `converged` is False for one that did not get there.

    Example:
        >>> packings = jammed_discs(10, samples=2)
        >>> (packings.contacts == packings.freedom + 1).tolist()  # isostatic
        [True, True]
    """
    count, draws = positive_int("n", n, least=4), positive_int("samples", samples)
    goal, first = real("energy", energy, above=1e-20, below=1e-2), real("start", start, above=0.0)
    if first > 2:
        raise ValueError(f"start is a density and must lie in (0, 2], got {start!r}")
    source = generator(seed, "jammed_discs")
    places = torch.rand(draws, count, 2, generator=source, dtype=torch.float64)
    shape = torch.ones(count, dtype=torch.float64)
    shape[count // 2 :] = real("ratio", ratio, above=0.0)
    shape = shape / (math.pi * shape.square().sum()).sqrt()  # of density 1

    density = torch.full((draws,), first, dtype=torch.float64)
    done = torch.zeros(draws, dtype=torch.bool)
    x = _rest(places, density.sqrt()[:, None] * shape, done)
    jammed, jammed_at = x.clone(), density.clone()
    loose_at = torch.zeros_like(density)
    for _ in range(positive_int("max_rounds", max_rounds)):
        radii = density.sqrt()[:, None] * shape
        each = energy_and_force(x, radii)[0] / count
        holds = each > _LOOSE
        jammed = torch.where(holds[:, None, None], x, jammed)
        jammed_at = torch.where(holds, density, jammed_at)
        loose_at = torch.where(holds, loose_at, density)
        done = holds & (each < _WITHIN * goal) & (each > goal / _WITHIN)
        if bool(done.all()):
            break
        next_density = _next(x, radii, density, each, goal)
        never = ~holds & (jammed_at <= loose_at)  # loose from the start
        between = (jammed_at + loose_at) / 2
        bisected = torch.where(never, density * 1.05, between)
        inside = (next_density > loose_at) | (loose_at > density)
        moved = torch.where(holds & inside, next_density, bisected)
        density = torch.where(done, density, moved)
        x = _rest(
            torch.where(done[:, None, None], x, jammed), density.sqrt()[:, None] * shape, done
        )
    return _described(x, density.sqrt()[:, None] * shape, density, done)


def _next(x: Tensor, radii: Tensor, density: Tensor, each: Tensor, goal: float) -> Tensor:
    """The density nearer to jamming, from the energy and its derivative."""
    delta, _, _ = overlaps(x, radii)
    sums = radii.unsqueeze(2) + radii.unsqueeze(1)
    slope = (delta.clamp_min(0) * sums).sum((1, 2)) / 2 / (2 * density)  # R ~ sqrt(phi)
    above = 2 * each * x.shape[1] / slope.clamp_min(1e-300)  # phi - phi_c
    share = (goal / each.clamp_min(1e-300)).sqrt().clamp_min(_FASTEST)
    return density - above * (1 - share)


def _rest(x: Tensor, radii: Tensor, done: Tensor, most: int = 3000) -> Tensor:
    """Positions at rest, or without overlap; those done stay."""
    x = x.clone()
    size = 2 * x.shape[1]
    going = torch.nonzero(~done)[:, 0]
    damping = torch.full((len(x),), 1e-2, dtype=x.dtype)
    energy, force = energy_and_force(x, radii)
    for _ in range(most):
        if not len(going):
            return x
        own, held, mu = x[going], radii[going], damping[going]
        factor = _damped(*hessian_parts(own, held), mu)
        move = torch.cholesky_solve(force[going].reshape(-1, size, 1), factor).view_as(own)
        tried = own + move
        new_energy, new_force = energy_and_force(tried, held)
        before, pull = energy[going], force[going].square().sum((1, 2))
        calmer = (new_energy <= before * (1 + _ROUNDING)) & (new_force.square().sum((1, 2)) < pull)
        better = calmer | (new_energy < before * (1 - _ROUNDING))
        at = going[better]
        x[at], energy[at], force[at] = tried[better], new_energy[better], new_force[better]
        damping[going] = torch.where(better, mu / 4, mu * 5).clamp(1e-13, 1e3)
        delta, _, _ = overlaps(x[going], held)
        pressed = delta.clamp_min(0)
        typical = pressed.sum((1, 2)) / (pressed > 0).sum((1, 2)).clamp_min(1)
        left = force[going].norm(dim=-1).amax(1)
        over = (energy[going] / x.shape[1] < _LOOSE / 10) | (left < _AT_REST * typical)
        stuck = ~better & (damping[going] >= 1e3)  # rounding is all that is left
        going = going[~(over | stuck)]
    return x


def _damped(stiff: Tensor, bent: Tensor, mu: Tensor) -> Tensor:
    """A Cholesky factor of `H0 + Hp + mu`, of `H0 + mu` where that is not positive."""
    stiff.diagonal(dim1=1, dim2=2).add_(mu[:, None])
    factor, info = torch.linalg.cholesky_ex(stiff + bent)
    bad = info > 0
    if bool(bad.any()):
        factor[bad] = torch.linalg.cholesky(stiff[bad])
    return factor


def _described(x: Tensor, radii: Tensor, density: Tensor, done: Tensor) -> DiscPackings:
    energy, force = energy_and_force(x, radii)
    delta, _, _ = overlaps(x, radii)
    loose = find_rattlers(delta)
    kept = ~loose
    touching = (delta > 0) & kept.unsqueeze(1) & kept.unsqueeze(2)
    pressed = delta.clamp_min(0)
    typical = pressed.sum((1, 2)) / touching.sum((1, 2)).clamp_min(1)
    left = force.norm(dim=-1).amax(1) / typical.clamp_min(1e-300)
    return DiscPackings(
        x.remainder(1.0),
        radii,
        density,
        energy / x.shape[1],
        left,
        loose,
        touching.sum((1, 2)) // 2,
        2 * kept.sum(1) - 2,
        done & (left < 10 * _AT_REST),
    )
