"""Distances between points by matrix products, in tiles, exact where points are close or equal.

`|x|^2 + |z|^2 - 2 x.z` is fast and loses digits where points are close: an error of 1e-8 in r^2 is
1e-4 in a kernel that falls linearly. So distances far below the size of the cloud are computed
again from the differences, which leaves exact zeros between equal points, and points of few
coordinates are never expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

_FEW = 16  # coordinates, up to which differences cost no more than a product
_CLOSE = 1e-6  # of the squared size of the cloud; above, the expansion keeps ten digits
_TILE = {"cpu": (512, 1024), "cuda": (8192, 8192)}  # what caches hold, or what fills a card
_PAIRS = 2**19  # numbers in one batch of differences


def fill_distances(
    out: Tensor, x: Tensor, z: Tensor | None, change: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Write `change(distance)` of all pairs into `out`, some at a time.

    Args:
        out: (n, m) in the dtype and on the device of x.
        x: points (n, D).
        z: points (m, D); None for x itself, of which each pair is then computed once.
        change: from distances (a, b), which it may overwrite, to values (a, b); None leaves them.

    >>> x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> fill_distances(torch.empty(2, 2), x, None)
    tensor([[0., 5.],
            [5., 0.]])
    """
    for i, j, tile in distance_tiles(x, z):
        made = tile if change is None else change(tile)
        rows, columns = slice(i, i + len(made)), slice(j, j + made.shape[1])
        out[rows, columns] = made
        if z is None and i != j:
            out[columns, rows] = made.T
    return out


def distance_tiles(x: Tensor, z: Tensor | None = None) -> Iterator[tuple[int, int, Tensor]]:
    """(first row, first column, distances) of tiles that cover all pairs; the lower half without z.

    The tensor of a tile is written again by the next one.
    """
    others = x if z is None else z
    height, width = _tile(len(x), len(others), x.device, own=z is None)
    few = x.shape[1] <= _FEW
    middle = x.mean(0)
    a = x - middle
    b = a if z is None else others - middle
    a2, b2 = a.square().sum(1), b.square().sum(1)
    close = _CLOSE * float(a2.max() + b2.max()) if len(a) and len(b) else 0.0
    room = x.new_empty(height * width)
    for i in range(0, len(x), height):
        last = min(i + height, len(others)) if z is None else len(others)
        for j in range(0, last, width):
            p, q = slice(i, i + height), slice(j, j + width)
            if few:
                mode = "donot_use_mm_for_euclid_dist"
                yield i, j, torch.cdist(x[p], others[q], compute_mode=mode)
                continue
            shape = (len(a[p]), len(b[q]))
            tile = room[: shape[0] * shape[1]].view(shape)
            torch.mm(a[p], b[q].T, out=tile)
            tile.mul_(-2).add_(a2[p, None]).add_(b2[q])
            if float(tile.min()) < close:
                _again(tile, x[p], others[q], close)
            if z is None and i == j:  # a product rounds x.z and z.x differently
                tile.copy_(tile.tril() + tile.tril(-1).T)
            yield i, j, tile.sqrt_()


def _tile(n: int, m: int, device: torch.device, *, own: bool) -> tuple[int, int]:
    """Rows and columns computed at once; square where one set is its own partner."""
    height, width = _TILE.get(device.type, _TILE["cpu"])
    return max(1, min(height, n)), max(1, min(height if own else width, m))


def working_bytes(x: Tensor, z: Tensor | None = None) -> int:
    """What `fill_distances` allocates beside the result: centred copies, tiles, differences."""
    n, m = len(x), len(x if z is None else z)
    height, width = _tile(n, m, x.device, own=z is None)
    copies = (n if z is None else n + m) * (x.shape[1] + 1)
    pairs = min(_PAIRS, height * width * x.shape[1])
    # a tile, what a kernel makes of it, and its mask; both ends of a pair, and their difference
    return x.element_size() * (copies + 4 * height * width + 4 * pairs)


def _again(tile: Tensor, x: Tensor, z: Tensor, close: float) -> None:
    """Squared distances below `close`, from differences."""
    pairs = (tile < close).nonzero()
    for some in pairs.split(max(1, _PAIRS // x.shape[1])):
        i, j = some.T
        tile[i, j] = (x[i] - z[j]).square().sum(1)


def repeated_rows(x: Tensor) -> Tensor:
    """Rows that are equal to an earlier one, as increasing numbers (k,).

    >>> repeated_rows(torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    tensor([2])
    """
    flat = x.reshape(len(x), -1)
    # equal rows have equal sums under any weights, so only neighbours in their order are compared
    weights = torch.cos(1.0 + torch.arange(flat.shape[1], dtype=torch.float64, device=x.device))
    sums = torch.cat([part.double() @ weights for part in flat.split(8192)])
    order = sums.argsort(stable=True)
    after, before = order[1:], order[:-1]
    span = float(sums.abs().max()) if len(sums) else 0.0
    near = (sums[after] - sums[before]).abs() <= 1e-12 * span
    found = set()
    first: dict[bytes, int] = {}
    for row in torch.cat([after[near], before[near]]).unique().sort().values.tolist():
        key = flat[row].cpu().numpy().tobytes()
        if first.setdefault(key, row) != row:
            found.add(row)
    return torch.tensor(sorted(found), dtype=torch.int64, device=x.device)
