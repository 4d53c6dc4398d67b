"""Passes through the network that leave behind the factors of every gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regimes._memory import give_back
from regimes.tangent.contraction import (
    Dense,
    Factor,
    Outer,
    Strategy,
    allocate,
    is_finite,
    rounded,
    write_rows,
    written_apart,
)
from regimes.tangent.contraction.layers import factor_of
from regimes.tangent.network import Batch, GroupOf, Snapshot, _batch
from regimes.tangent.passes._backward import find_route
from regimes.tangent.passes._general import general_features
from regimes.tangent.passes._gradients import gradients_at
from regimes.tangent.structure import Site, Structure, read_graph


@dataclass(frozen=True)
class Recipe:
    """How to run the passes.

    Attributes:
        cotangents: (m, c) weights of the outputs that are differentiated.
        strategies: what is kept of the gradient at every site.
        dtype: precision the factors are kept in.
        chunk: samples per pass.
        group_of: parameter -> the group it belongs to.
    """

    cotangents: Tensor
    strategies: tuple[Strategy, ...]
    dtype: torch.dtype
    chunk: int
    group_of: GroupOf


Factors = Mapping[tuple[str, ...], Factor]  # parameters -> factor of their gradient


def collect(snapshot: Snapshot, structure: Structure, batch: Batch, recipe: Recipe) -> Factors:
    """Factors of all trainable parameters for all samples, chunk by chunk."""
    n = _batch.tensors(batch)[0].shape[0]
    if recipe.chunk >= n:
        return dict(_one_chunk(snapshot, structure, batch, recipe))
    kept: dict[tuple[str, ...], Factor] = {}
    for start in range(0, n, recipe.chunk):
        part = _batch.rows(batch, start, min(start + recipe.chunk, n))
        for key, factor in _one_chunk(snapshot, structure, part, recipe):
            if key not in kept:
                kept[key] = allocate(factor, n)
            write_rows(kept[key], start, factor)
        del factor
        give_back()  # several passes only because memory is short
    return kept


def _one_chunk(
    snapshot: Snapshot, structure: Structure, batch: Batch, recipe: Recipe
) -> Iterator[tuple[tuple[str, ...], Factor]]:
    n = _batch.tensors(batch)[0].shape[0]
    if n == 1 and structure.sites:
        # torch skips broadcasts and copies for a batch of one, which changes the graph
        for key, factor in _one_chunk(snapshot, structure, _batch.probe(batch, 2), recipe):
            yield key, factor.rows(0, 1)
        return
    if structure.sites:
        with torch.enable_grad():
            output = snapshot(structure.arranged(batch))
            graph = read_graph(output, snapshot.parameters)
            sites = structure.match(graph, recipe.group_of)
            nodes = [site.node for site in sites]
            route = find_route(output, graph.parents, nodes) if structure.by_hand else None
            reached: Iterable[tuple[int, Tensor | None]]
            if route is not None:
                reached = route.pull(recipe.cotangents)
            else:  # retained: the factors read the inputs that the graph keeps
                reached = _used_up(gradients_at(output, recipe.cotangents, nodes, retain=True))
        yield from _site_factors(structure, sites, reached, n, recipe)
        del output, graph, sites, nodes, route, reached
    if structure.general:
        names = list(structure.general)
        by_group: dict[str, list[str]] = {}
        for name in names:
            by_group.setdefault(recipe.group_of(name), []).append(name)
        features = general_features(
            snapshot, names, batch, recipe.cotangents, batched=not structure.loop_reason
        )
        features = features.detach().transpose(0, 1)  # outputs first
        sizes = [structure.shapes[name].numel() for name in names]
        columns = dict(zip(names, features.split(sizes, 2), strict=True))
        for members in by_group.values():
            joined = torch.cat([columns[name] for name in members], 2)
            yield tuple(members), Dense(joined.to(recipe.dtype))


def _used_up(gradients: list[Tensor | None]) -> Iterator[tuple[int, Tensor | None]]:
    """Every gradient with its number, forgotten here as soon as it is taken."""
    for at in range(len(gradients)):
        gradient, gradients[at] = gradients[at], None
        yield at, gradient
        del gradient


def _site_factors(
    structure: Structure,
    sites: list[Site],
    reached: Iterable[tuple[int, Tensor | None]],
    n: int,
    recipe: Recipe,
) -> Iterator[tuple[tuple[str, ...], Factor]]:
    """Factors at the sites, from (number, gradient) as the backward pass comes by."""
    tied: dict[str, Tensor] = {}
    for at, gradient in reached:
        site, known = sites[at], structure.sites[at]
        if gradient is None:
            raise ValueError(
                f"no gradient reaches {known.parameters[0]!r} for this batch though it did on the "
                "probe; use engine='jacobian'"
            )
        name = known.parameters[0]
        shared = name in structure.tied
        strategy = Strategy.ORDERED if shared else recipe.strategies[at]
        factor = factor_of(site, gradient, known.layout, n, structure.shapes, strategy)
        if isinstance(factor, Outer) and strategy == Strategy.DENSE:
            for use, features in written_apart(site, factor):
                yield (use,), Dense(features.to(recipe.dtype))
            continue
        if factor is None:
            raise ValueError(f"parameter {name!r} lost its structure; use engine='jacobian'")
        if shared and isinstance(factor, Dense):
            total = tied.get(name)
            tied[name] = factor.features if total is None else total + factor.features
        else:
            yield known.parameters, rounded(factor, recipe.dtype)
    for name, features in tied.items():
        yield (name,), Dense(features.to(recipe.dtype))


def refuse_not_finite(result: Tensor, *factors: Factors) -> None:
    """Name the layer where a result that is not finite has it from.

    Every entry of every factor enters the result, so looking at that alone is enough while all is
    well. A result that overflowed by itself is let through.

    Raises:
        ValueError: a factor holds NaN or infinity.
    """
    if math.isfinite(float(result.sum())):
        return
    for parameters, factor in (item for each in factors for item in each.items()):
        if not is_finite(factor):
            where = ", ".join(parameters)
            raise ValueError(f"NaN or infinity in the gradient or the input of layer with {where}")
