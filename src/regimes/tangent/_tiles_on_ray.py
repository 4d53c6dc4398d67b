"""Tiles of a Gram as tasks of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np

Tile = TypeVar("Tile")


def tiles_on_ray(
    compute: Callable[..., np.ndarray], shared: tuple[Any, ...], tiles: list[Tile]
) -> Iterator[tuple[Tile, np.ndarray]]:
    """Tiles in the order they finish; a task whose worker or node dies is run again elsewhere.

    Args:
        compute: what gives a tile, called with everything in `shared` and then the tile.
        shared: sent to the cluster once.
        tiles: which tiles.

    Raises:
        ImportError: Ray is not installed; says how to install it.
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            "on='ray' needs the extra 'ray': pip install -c constraints.txt -e '.[ray]'"
        ) from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False, ignore_reinit_error=True)

    @ray.remote(max_retries=5, num_cpus=1, scheduling_strategy="SPREAD")
    def run(*arguments: Any) -> Any:
        return compute(*arguments)

    sent = [ray.put(part) for part in shared]
    waiting = list(tiles)
    flying: dict[Any, Tile] = {}
    # a few tasks more than can run, so that results do not pile up in the object store
    limit = 2 * int(ray.cluster_resources().get("CPU", 1)) + 2
    while waiting or flying:
        while waiting and len(flying) < limit:
            tile = waiting.pop(0)
            flying[run.remote(*sent, tile)] = tile
        finished, _ = ray.wait(list(flying), num_returns=1)
        for reference in finished:
            yield flying.pop(reference), ray.get(reference)
