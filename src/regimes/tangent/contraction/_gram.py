"""Grams of layers from the factors of their gradients.

Four ways give the same numbers:

* one position: K = (right Gram + bias) * (left Gram), entry by entry;
* pairs: the same for every pair of positions, then summed, without writing a gradient out;
* pixels: of a convolution, every pair of pixels, shifted and summed (`_pixels.py`);
* expand: gradients written out chunk by chunk, then one matrix product per chunk.

A symmetric Gram is computed for column tiles on and above the diagonal only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from regimes.tangent.contraction._cache_sizes import left_limit, right_limit
from regimes.tangent.contraction._factors import Dense, Factor, Outer
from regimes.tangent.contraction._matmul import add_product_, product
from regimes.tangent.contraction._pixels import add_pixels_
from regimes.tangent.contraction._right import Inputs
from regimes.tangent.contraction._strategy import Strategy


def write_gram_(
    out: Tensor, layers: Iterable[tuple[Factor, Factor]], *, same: bool, workspace: int
) -> None:
    """Write the sum of the Grams of some layers to `out`, whatever it held.

    Args:
        out: (m n, m n'), outputs first; where `same`, only on and above the diagonal tiles.
        layers: factors of the row samples and of the column samples, taken one by one.
            Linear layers are best first: they need no zeros to be added to.
        same: whether rows and columns are the same samples.
        workspace: bytes that temporaries may take.
    """
    fresh = True  # nothing of worth in `out` yet
    waiting: list[tuple[Outer, Outer]] = []
    for a, b in layers:
        linear = is_linear(a)
        if linear and isinstance(a, Outer) and isinstance(b, Outer):
            waiting.append((a, b))
            if a.left.shape[0] > 1:  # tiles of several outputs stay in the cache for the others
                continue
        if waiting:
            _add_linear(out, waiting, same, workspace, fresh)
            fresh = False
            waiting.clear()
        if not linear:
            if fresh:
                out.zero_()
                fresh = False
            add_gram_(out, a, b, same=same, workspace=workspace)
    if waiting:
        _add_linear(out, waiting, same, workspace, fresh)
    elif fresh:
        out.zero_()


def add_gram_(out: Tensor, a: Factor, b: Factor, *, same: bool, workspace: int) -> None:
    """Add the Gram of one layer, with arguments as in `write_gram_`."""
    if isinstance(a, Dense) and isinstance(b, Dense):
        _add_features(out, a.features, b.features, same)
    elif isinstance(a, Outer) and isinstance(b, Outer):
        if a.weight and a.strategy == Strategy.PAIRS:
            if not _is_single(a):
                _add_pairs(out, a, b, same, workspace)
            elif a.left_is_shared and b.left_is_shared:
                _add_readout(out, a, b, same, workspace)
            else:
                _add_linear(out, [(a, b)], same, workspace, fresh=False)
            return
        if a.weight and a.strategy == Strategy.PIXELS:
            add_pixels_(out, a, b, same, workspace)
        elif a.weight:
            _add_expanded(out, a, b, same, workspace)
        if a.bias:
            _add_features(out, a.bias_features(), b.bias_features(), same)
    else:
        raise TypeError(f"cannot contract {type(a).__name__} with {type(b).__name__}")


def is_linear(factor: Factor) -> bool:
    """Whether this is a linear layer with gradients of its own for every sample."""
    return isinstance(factor, Outer) and _is_single(factor) and not factor.left_is_shared


def _is_single(factor: Outer) -> bool:
    """Whether the weight is used once per sample, on an input of its own."""
    pairs = factor.weight and factor.strategy == Strategy.PAIRS and factor.left.shape[3] == 1
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
        left.shape[2], factor.samples * _expanded_row_bytes(factor), workspace // 2
    ):
        written = factor.expand(start, stop, workspace // 4)
        total += torch.linalg.vector_norm(written, dim=2, dtype=total.dtype).square_()
    return total


def mirror_(out: Tensor) -> None:
    """Copy what is above the diagonal below it."""
    size = out.shape[0]
    # strips whose columns a CPU's cache holds; a small matrix is one square
    step = min(size, 4096 if out.device.type != "cpu" else 768 if size < 768 else 128)
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
    while side % 2 == 0 and side > 32:
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
    """Rows per tile: small tiles skip more of the lower triangle, large ones run faster."""
    parts = 1 if rows < 192 else 2 if rows < 384 else 4 if rows < 1536 else 8
    return min(-(-rows // parts), 4096)


def _add_features(out: Tensor, a: Tensor, b: Tensor, same: bool) -> None:
    a, b = a.flatten(0, 1), b.flatten(0, 1)
    for start, stop, column in _row_tiles(a.shape[0], same):
        add_product_(out[start:stop, column:], a[start:stop], b[column:])


def _add_linear(
    out: Tensor, layers: list[tuple[Outer, Outer]], same: bool, workspace: int, fresh: bool
) -> None:
    """Add (right Gram + bias) * left Gram of linear layers, or write it where `fresh`.

    Entry by entry, for every pair of outputs. Tensors are cut into tiles before any are multiplied:
    after a product that filled the cache, every small step of Python takes ten times as long.
    """
    m, n, _, _ = layers[0][0].left.shape
    k = layers[0][1].samples
    workspace = min(workspace, left_limit(out.device))
    pair_bytes = max(4, layers[0][0].left.element_size()) * (len(layers) + m)
    tiles = _sample_tiles(n, k, same and m == 1, pair_bytes, workspace)
    rights = [(a.right.dense()[:, 0], b.right.dense()[:, 0], a.bias * b.bias) for a, b in layers]
    lefts = [(a.left[..., 0], b.left[..., 0]) for a, b in layers]
    if m == 1:
        both = [(*right, *left) for right, left in zip(rights, lefts, strict=True)]
        cut = [
            (out[r, c], [(x[r], y[c], bias, u[0, r], v[0, c]) for x, y, bias, u, v in both])
            for r, c in tiles
        ]
        for into, parts in cut:
            for number, (x, y, bias, u, v) in enumerate(parts):
                gram = _right_gram(x, y, bias)
                _add_times(into, gram, product(u, v), fresh and number == 0)
        return
    grid = out.view(m, n, m, k)
    for r, c in tiles:
        grams = [_right_gram(x[r], y[c], bias).unsqueeze(1) for x, y, bias in rights]
        sides = [(u[:, r].unbind(), v[:, c]) for u, v in lefts]
        rows = []
        for index, into in enumerate(grid[:, r, :, c].unbind()):
            first = index if same else 0  # the outputs before have met this one
            into = into.narrow(1, first, m - first)  # (rows, outputs, columns)
            rows.append((into, [(u[index], v[first:]) for u, v in sides]))
        for into, factors in rows:
            for number, (gram, (u, v)) in enumerate(zip(grams, factors, strict=True)):
                # flat only now: of some columns it is a copy, and one at a time is enough
                pairs = product(u, v.flatten(0, 1)).view(into.shape)
                _add_times(into, gram, pairs, fresh and number == 0)


def _add_times(into: Tensor, a: Tensor, b: Tensor, fresh: bool) -> None:
    """Add a * b, or write it where `fresh`."""
    if fresh:
        torch.mul(a, b, out=into)
    else:
        into.addcmul_(a, b)


def _right_gram(x: Tensor, y: Tensor, bias: float) -> Tensor:
    """Gram of the inputs x and y of a linear layer, (n, q) and (n', q), with that of the bias."""
    gram = product(x, y)
    if bias:
        gram += bias
    return gram


def _add_readout(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int) -> None:
    """Add where all samples have one left factor: the last layer of a network.

    Different outputs then mostly have nothing in common, and their pairs are left alone.
    """
    m, n, _, _ = a.left.shape
    grid = out.view(m, n, m, b.samples)
    common = product(a.left[:, 0, :, 0], b.left[:, 0, :, 0])  # (m, m)
    rights, others = a.right.dense()[:, 0], b.right.dense()[:, 0]
    different = common - common.diagonal().diag()
    apart = (different.triu() if same else different).nonzero().tolist()
    workspace = min(workspace, left_limit(out.device))
    pair_bytes = 2 * max(4, a.left.element_size())
    tiles = [
        (grid[:, r, :, c], rights[r], others[c])
        for r, c in _sample_tiles(n, b.samples, same and m == 1, pair_bytes, workspace)
    ]
    scale = common.diagonal()
    for into, x, y in tiles:
        right = _right_gram(x, y, a.bias * b.bias)
        into.diagonal(dim1=0, dim2=2).addcmul_(right.unsqueeze(2), scale)
        for first, second in apart:
            into[first, :, second].addcmul_(right, common[first, second])


def _add_pairs(out: Tensor, a: Outer, b: Outer, same: bool, workspace: int) -> None:
    """The same for every pair of positions, summed.

    One output takes half of the samples' pairs, several take half of the outputs' pairs.
    """
    m, n, _, positions = a.left.shape
    grid = out.view(m, n, m, b.samples)
    workspace = min(workspace, left_limit(out.device))
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
    """Bytes per sample of one row of the written-out weight gradient."""
    return factor.left.shape[0] * factor.right.size * factor.left.element_size()


def _chunks(rows: int, row_bytes: int, workspace: int) -> Iterator[tuple[int, int]]:
    count = max(1, -(-rows * row_bytes // max(1, workspace)))
    step = max(1, -(-rows // count))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)
