"""Tiles of a Gram as tasks of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from regimes.tangent._batch import Batch
    from regimes.tangent._engine import Engine
    from regimes.tangent._tiles import Tile


def tiles_on_ray(
    engine: Engine, x: Batch, x2: Batch | None, outputs: Any, tiles: list[Tile]
) -> Iterator[tuple[Tile, np.ndarray]]:
    """Tiles in the order they finish; a task whose worker or node dies is run again elsewhere.

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
    def run(engine: Any, x: Any, x2: Any, outputs: Any, tile: Any) -> Any:
        from regimes.tangent._tiles import compute_tile

        return compute_tile(engine, x, x2, outputs, tile)

    shared = [ray.put(part) for part in (engine, x, x2, outputs)]
    waiting = list(tiles)
    flying: dict[Any, Tile] = {}
    # a few tasks more than can run, so that results do not pile up in the object store
    limit = 2 * int(ray.cluster_resources().get("CPU", 1)) + 2
    while waiting or flying:
        while waiting and len(flying) < limit:
            tile = waiting.pop(0)
            flying[run.remote(*shared, tile)] = tile  # type: ignore[call-arg]
        finished, _ = ray.wait(list(flying), num_returns=1)
        for reference in finished:
            yield flying.pop(reference), ray.get(reference)
