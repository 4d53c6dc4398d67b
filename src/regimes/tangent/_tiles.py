"""Grams too large for memory, or for one machine: tile by tile, to disk, resumable.

A tile is the Gram of two blocks of samples. Finished tiles are listed in a JSON file beside the
.npy file, rewritten aside and renamed after the data is flushed, so a killed run loses at most the
tiles in flight and the same call goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regimes.tangent._engine import Engine
from regimes.tangent.network import Batch, Outputs, _batch, parse_outputs, whole
from regimes.tangent.structure import Structure

Tile = tuple[int, int, int, int]  # first row, last row, first column, last column


def tiled_gram(
    engine: Engine,
    x: Batch,
    x2: Batch | None,
    *,
    outputs: Any,
    out: str | Path | None,
    on: str | None,
) -> Any:
    """The Gram into `out` (a memory-mapped array), or into a tensor where `out` is None."""
    x, x2 = engine.prepared(x), None if x2 is None else engine.prepared(x2)
    n = _batch.size(x)
    n2 = n if x2 is None else _batch.size(x2)
    structure = engine.structure(x, whole)
    chosen = parse_outputs(outputs, structure.outputs)
    step = _tile_size(engine, structure, x, x2, chosen, on)
    tiles = list(_tiles(n, n2, step, x2 is None))
    shape = chosen.shape(n, n2)
    if out is None:
        result = torch.empty(shape, dtype=engine.result_dtype)
        for tile, part in _computed(engine, x, x2, outputs, tiles, on):
            _place(result.numpy(), tile, part, chosen, x2 is None)
        return result.to(engine.snapshot.device)
    path = Path(out)
    path = path if path.suffix == ".npy" else path.with_name(path.name + ".npy")
    state = engine.snapshot.module.state_dict()
    plain = outputs if isinstance(outputs, (str, int)) else torch.as_tensor(outputs)
    record = {
        "fingerprint": fingerprint(
            [*state, *state.values(), *_batch.tensors(x), *_batch.tensors(x2), plain, engine.names]
        ),
        "shape": list(shape),
        "dtype": str(engine.result_dtype).removeprefix("torch."),
        "precision": str(engine.kept_dtype),
        "tile": step,
    }
    mapped, done = _open(path, record)
    left = [tile for tile in tiles if list(tile) not in done]
    for tile, part in _computed(engine, x, x2, outputs, left, on):
        _place(mapped, tile, part, chosen, x2 is None)
        mapped.flush()
        done.append(list(tile))
        _write_json(_sidecar(path), {**record, "done": done})
    return mapped


def _tile_size(
    engine: Engine,
    structure: Structure,
    x: Batch,
    x2: Batch | None,
    chosen: Outputs,
    on: str | None,
) -> int:
    """Samples per side: as many as leave the tile and its factors within the budget."""
    gram = engine.gram_size(x, x2, chosen)
    longest = max(gram.rows, gram.columns)
    # on a cluster a few tiles per side give everybody work; on one machine large tiles are best
    size = -(-longest // 8) if on else longest
    while size > 1:
        tile = replace(gram, rows=min(size, gram.rows), columns=min(size, gram.columns), same=False)
        try:
            if engine.plan(structure, tile, chosen, grams=1).block >= size:
                return size
        except ValueError:
            pass  # too large for the budget: halve it
        size = -(-size // 2)
    return 1


def _tiles(n: int, n2: int, step: int, same: bool) -> Iterator[Tile]:
    for row in range(0, n, step):
        for column in range(row if same else 0, n2, step):
            yield row, min(row + step, n), column, min(column + step, n2)


def _computed(
    engine: Engine,
    x: Batch,
    x2: Batch | None,
    outputs: Any,
    tiles: list[Tile],
    on: str | None,
) -> Iterator[tuple[Tile, np.ndarray]]:
    if on == "ray":
        from regimes.tangent._tiles_on_ray import tiles_on_ray

        yield from tiles_on_ray(compute_tile, (engine, x, x2, outputs), tiles)
        return
    for tile in tiles:
        yield tile, compute_tile(engine, x, x2, outputs, tile)


def compute_tile(
    engine: Engine, x: Batch, x2: Batch | None, outputs: Any, tile: Tile
) -> np.ndarray:
    """One tile; on the diagonal only half of it is computed."""
    first, last, left, right = tile
    rows = _batch.rows(x, first, last)
    if x2 is None and (first, last) == (left, right):
        gram = engine.grams(rows, None, outputs)[""]
    else:
        columns = _batch.rows(x if x2 is None else x2, left, right)
        gram = engine.grams(rows, columns, outputs)[""]
    return gram.cpu().numpy()


def _place(into: np.ndarray, tile: Tile, part: np.ndarray, chosen: Outputs, same: bool) -> None:
    """Write a tile, and below the diagonal its mirror image."""
    first, last, left, right = tile
    rows, columns, every = slice(first, last), slice(left, right), slice(None)
    if chosen.separate:
        here, mirrored, swap = (every, rows, columns), (every, columns, rows), (0, 2, 1)
    elif chosen.kept > 1:
        here, mirrored = (rows, every, columns), (columns, every, rows)
        swap = (2, 3, 0, 1)  # type: ignore[assignment]
    else:
        here, mirrored, swap = (rows, columns), (columns, rows), (1, 0)  # type: ignore[assignment]
    into[here] = part
    if same and rows != columns:
        into[mirrored] = part.transpose(swap)


def _open(path: Path, record: dict[str, Any]) -> tuple[np.memmap, list[list[int]]]:
    """The array on disk and the tiles already in it; a new one where there is none."""
    sidecar = _sidecar(path)
    if sidecar.exists() != path.exists():
        lone = sidecar if sidecar.exists() else path
        raise FileExistsError(
            f"{lone} is there without its companion file; delete it or choose another path"
        )
    if sidecar.exists():
        try:
            found = json.loads(sidecar.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ValueError(f"{sidecar} is damaged ({error}); delete it and {path}") from error
        different = [key for key in record if found.get(key) != record[key]]
        if different:
            raise ValueError(
                f"{path} holds another Gram (different {', '.join(different)}); delete it and "
                f"{sidecar.name}, or choose another path"
            )
        mapped = np.lib.format.open_memmap(path, mode="r+")
        return mapped, list(found["done"])
    path.parent.mkdir(parents=True, exist_ok=True)
    mapped = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.dtype(record["dtype"]), shape=tuple(record["shape"])
    )
    _write_json(sidecar, {**record, "done": []})
    return mapped, []


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    aside = path.with_name(path.name + ".writing")
    with aside.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def fingerprint(parts: Sequence[Any]) -> str:
    """A hash of tensors and plain values, to tell one Gram from another."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Tensor):
            digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
            # bytes of the values: numpy knows no bfloat16, so view those as integers
            values = part.detach().cpu().contiguous()
            digest.update(values.view(torch.uint8).numpy().tobytes() if values.numel() else b"")
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()
