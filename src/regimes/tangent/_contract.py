"""Grams of layers from the factors of their gradients.

Three ways give the same numbers (spec `alignment.md` 1.3, spec `regimes.md` S9):

* one position: K = (right Gram + bias) * (left Gram), entry by entry;
* pairs: the same for every pair of positions, then summed, without writing a gradient out;
* expand: gradients written out chunk by chunk, then one matrix product a chunk.

A symmetric Gram is computed for column tiles on and above the diagonal only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from regimes.tangent._factors import Dense, Factor, Outer
from regimes.tangent._matmul import add_product_, product
from regimes.tangent._memory import left_limit, right_limit
from regimes.tangent._rights import Inputs


def add_gram_(
    out: Tensor, a: Factor, b: Factor, *, same: bool, workspace: int, fresh: bool = False
) -> None:
    """Add the Gram of two factors of one layer to `out`.

    Args:
        out: (m n, m n'), outputs first, accumulated in place; where `same`, only on and above
            the diagonal tiles.
        a: factor of the row samples.
        b: factor of the column samples.
        same: whether a and b are the same samples.
        workspace: bytes that temporaries may take.
        fresh: whether `out` holds nothing yet, not even zeros.
    """
    if fresh and not overwrites(a):
        out.zero_()
    if isinstance(a, Dense) and isinstance(b, Dense):
        _add_features(out, a.features, b.features, same)
    elif isinstance(a, Outer) and isinstance(b, Outer):
        if a.weight and a.strategy == "pairs":
            workspace = min(workspace, left_limit(out.device))
            if _is_single(a):
                _add_single(out, a, b, same, workspace, fresh and overwrites(a))
            else:
                _add_pairs(out, a, b, same, workspace)
            return
        if a.weight:
            _add_expanded(out, a, b, same, workspace)
        if a.bias:
            _add_features(out, a.bias_features(), b.bias_features(), same)
    else:
        raise TypeError(f"cannot contract {type(a).__name__} with {type(b).__name__}")


def overwrites(factor: Factor) -> bool:
    """Whether the Gram of this factor can be the first, written to memory that was not cleared."""
    return isinstance(factor, Outer) and _is_single(factor) and not factor.left_is_shared


def _is_single(factor: Outer) -> bool:
    """Whether the weight is used once a sample, on an input of its own: a linear layer."""
    pairs = factor.weight and factor.strategy == "pairs" and factor.left.shape[3] == 1
    return pairs and isinstance(factor.right, Inputs)


def diagonal(factor: Factor, workspace: int) -> Tensor:
    """Squared norms of the gradients, (m, n)."""
    if isinstance(factor, Dense):
        return factor.features.square().sum(2, dtype=_sum_dtype(factor.features))
    left = factor.left
    total = left.new_zeros(left.shape[:2], dtype=_sum_dtype(left))
    if factor.bias:
        total += factor.bias_features().square().sum(2)
    if not factor.weight:
        return total
    if left.shape[3] == 1:
        right = factor.right.gram_diagonal()
        return total + left.square().sum((2, 3)) * right
    for start, stop in _chunks(
        left.shape[2], factor.samples * _expanded_row_bytes(factor), workspace
    ):
        total += factor.expand(start, stop, workspace // 4).square().sum(2)
    return total


def mirror_(out: Tensor) -> None:
    """Copy what is above the diagonal below it."""
    size = out.shape[0]
    # strips whose columns a CPU's cache holds
    step = min(size, 4096 if out.device.type != "cpu" else 256 if size < 2048 else 128)
    whole = size - size % step
    _mirror_squares_(out, whole // step, step)
    if whole < size:
        _mirror_squares_(out[whole:, whole:], 1, size - whole)
    for start in range(0, size - step, step):
        out[start + step :, start : start + step] = out[start : start + step, start + step :].T


def _mirror_squares_(out: Tensor, count: int, side: int) -> None:
    """Mirror `count` squares along the diagonal of `out`, all at once.

    Each in halves: what lies between the halves is copied, then there are twice as many squares.
    """
    row, first = out.stride(0), out.storage_offset()
    while side % 2 == 0 and side > 16:
        half = side // 2
        stride = (side * (row + 1), row, 1)
        above = out.as_strided((count, half, half), stride, first + half)
        out.as_strided((count, half, half), stride, first + half * row).copy_(above.mT)
        count, side = 2 * count, half
    squares = out.as_strided((count, side, side), (side * (row + 1), row, 1), first)
    above = squares.triu(1)
    squares.triu_().add_(above.mT)


def select_output(factor: Factor, index: int) -> Factor:
    """The factor of one output only."""
    if isinstance(factor, Dense):
        return Dense(factor.features[index : index + 1])
    return replace(factor, left=factor.left[index : index + 1])


def fold_outputs(factor: Factor) -> Factor:
    """Treat the outputs as further entries of one gradient, so that the Gram sums over them."""
    if isinstance(factor, Dense):
        return Dense(factor.features.transpose(0, 1).flatten(1).unsqueeze(0))
    return replace(factor, left=factor.left.transpose(0, 1).flatten(1, 2).unsqueeze(0))


def _sum_dtype(tensor: Tensor) -> torch.dtype:
    return torch.float32 if tensor.dtype == torch.bfloat16 else tensor.dtype


def _row_tiles(rows: int, same: bool) -> Iterator[tuple[int, int, int]]:
    """(first row, last row, first column) of tiles that cover the upper triangle, or everything."""
    if not same:
        yield 0, rows, 0
        return
    step = _symmetric_step(rows)
    for start in range(0, rows, step):
        yield start, min(start + step, rows), start


def _symmetric_step(rows: int) -> int:
    """Rows a tile: small tiles skip more of the lower triangle, large ones run faster."""
    parts = 1 if rows < 192 else 2 if rows < 384 else 4 if rows < 1536 else 8
    return min(-(-rows // parts), 4096)


def _add_features(out: Tensor, a: Tensor, b: Tensor, same: bool) -> None:
    a, b = a.flatten(0, 1), b.flatten(0, 1)
    for start, stop, column in _row_tiles(a.shape[0], same):
        add_product_(out[start:stop, column:], a[start:stop], b[column:])


def _add_single(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int, fresh: bool) -> None:
    """Add (right Gram + bias) * left Gram, entry by entry, for every pair of outputs."""
    m, n, p, _ = a.left.shape
    grid = out.view(m, n, m, b.samples)
    rights, others = (x.dense()[:, 0] for x in (a.right, b.right))
    lefts, seconds = a.left[..., 0], b.left[..., 0]
    shared = a.left_is_shared and b.left_is_shared
    pair_bytes = max(4, a.left.element_size()) * (1 + m)
    for rows, columns in _sample_tiles(n, b.samples, same and m == 1, pair_bytes, workspace):
        right = product(rights[rows], others[columns])
        if a.bias:
            right += a.bias * b.bias
        if shared:
            _add_shared_left(grid[:, rows, :, columns], right, lefts[:, 0], seconds[:, 0], same)
            continue
        for index in range(m):
            first = index if same else 0  # the outputs before have met this one
            pairs = product(lefts[index, rows], seconds[first:, columns].reshape(-1, p))
            pairs = pairs.view(right.shape[0], m - first, right.shape[1])
            into = grid[index, rows, first:, columns]  # (rows, outputs, columns)
            if fresh:
                torch.mul(right.unsqueeze(1), pairs, out=into)
            else:
                into.addcmul_(right.unsqueeze(1), pairs)


def _add_pairs(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int) -> None:
    """The same for every pair of positions, summed.

    One output takes half of the samples' pairs, several take half of the outputs' pairs.
    """
    m, n, _, positions = a.left.shape
    grid = out.view(m, n, m, b.samples)
    pair_bytes = max(4, a.left.element_size()) * positions**2 * (1 + 2 * m)
    for rows, columns in _sample_tiles(n, b.samples, same and m == 1, pair_bytes, workspace):
        part, other = a.rows(rows.start, rows.stop), b.rows(columns.start, columns.stop)
        _add_pair_tile(grid[:, rows, :, columns], part, other, same)


def _add_pair_tile(out: Tensor, a: Outer, b: Outer, same: bool) -> None:
    m, n, _, t = a.left.shape
    k, s = b.left.shape[1], b.left.shape[3]
    rights = a.right.gram(b.right)  # (t, n, s, k)
    if a.bias:
        rights += a.bias * b.bias
    lefts, others = a.left_rows(), b.left_rows()
    for index in range(m):
        first = index if same else 0
        pairs = product(lefts[index], others[first:].flatten(0, 1)).view(t, n, m - first, s, k)
        pairs.mul_(rights.unsqueeze(2))
        out[index, :, first:] += pairs.sum((0, 3))  # (n, outputs, k)


def _add_shared_left(out: Tensor, rights: Tensor, a: Tensor, b: Tensor, same: bool) -> None:
    """Add where all samples have the left factors a and b, (m, p): the readout of a network.

    Different outputs then mostly have nothing in common, and their pairs are left alone.
    """
    for first, row in enumerate(product(a, b).tolist()):
        for second in range(first if same else 0, len(row)):
            if row[second]:
                out[first, :, second].add_(rights, alpha=row[second])


def _sample_tiles(
    rows: int, columns: int, half: bool, pair_bytes: int, workspace: int
) -> Iterator[tuple[slice, slice]]:
    """Tiles of sample pairs that fit the workspace; half of them if one side of the diagonal do."""
    fit = max(1, int((workspace / pair_bytes) ** 0.5))
    whole = workspace // (pair_bytes * max(1, columns))  # rows that fit beside every column
    step = max(1, min(max(fit, whole), rows))
    if half:
        step = min(step, _symmetric_step(rows))
    width = max(1, workspace // (pair_bytes * step))
    for start in range(0, rows, step):
        for first in range(start if half else 0, columns, width):
            yield slice(start, min(start + step, rows)), slice(first, min(first + width, columns))


def _add_expanded(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int) -> None:
    device = a.left.device
    limit = min(right_limit(device), workspace // 4)
    row_bytes = _expanded_row_bytes(a) * a.samples + (
        0 if same else _expanded_row_bytes(b) * b.samples
    )
    budget = min(left_limit(device), workspace // 2)
    for start, stop in _chunks(a.left.shape[2], row_bytes, budget):
        first = a.expand(start, stop, limit)
        second = first if same else b.expand(start, stop, limit)
        _add_features(out, first, second, same)


def _expanded_row_bytes(factor: Outer) -> int:
    """Bytes a sample of one row of the written-out weight gradient."""
    return factor.left.shape[0] * factor.right.size * factor.left.element_size()


def _chunks(rows: int, row_bytes: int, workspace: int) -> Iterator[tuple[int, int]]:
    count = max(1, -(-rows * row_bytes // max(1, workspace)))
    step = max(1, -(-rows // count))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)
