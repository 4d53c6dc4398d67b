"""Where factors go: into the tiles of Grams, with the outputs that are asked for, and into rows."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from regimes.tangent.contraction import (
    Dense,
    Factor,
    fold_outputs,
    select_output,
    write_gram_,
    written_out,
)
from regimes.tangent.network import Outputs


def write_tile(
    tile: Tensor,
    layers: list[tuple[Factor, Factor]],
    chosen: Outputs,
    same: bool,
    workspace: int,
) -> None:
    """Write every Gram of a tile (grams, k, n, k, n2)."""
    for index, view in enumerate(tile):
        # one by one, because an arranged factor may be a copy
        arranged = (_arranged_pair(a, b, chosen, index) for a, b in layers)
        matrix = view.view(view.shape[0] * view.shape[1], -1)
        write_gram_(matrix, arranged, same=same, workspace=workspace)


def _arranged_pair(a: Factor, b: Factor, chosen: Outputs, index: int) -> tuple[Factor, Factor]:
    first = _arranged(a, chosen, index)
    return first, first if b is a else _arranged(b, chosen, index)


def _arranged(factor: Factor, chosen: Outputs, index: int) -> Factor:
    """The factor with its outputs as this Gram wants them."""
    if chosen.fold:
        return fold_outputs(factor)
    return select_output(factor, index) if chosen.grams > 1 else factor


def write_columns(
    columns: dict[str, Tensor], factors: Mapping[tuple[str, ...], Factor], start: int, stop: int
) -> None:
    """The gradients of some samples, written out where each parameter has its columns."""
    missing = set(columns)
    for names, factor in factors.items():
        dense = factor if isinstance(factor, Dense) else written_out(factor)
        parts = dense.features.split([columns[name].shape[2] for name in names], 2)
        for name, part in zip(names, parts, strict=True):
            columns[name][:, start:stop] = part
        missing.difference_update(names)
    for name in missing:  # the output does not depend on it
        columns[name][:, start:stop] = 0.0
