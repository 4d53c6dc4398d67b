"""Verdicts on convolutional networks: where features win, and where neither side does."""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._outcomes import (
    Cell,
    cells_of,
    ensemble_gap,
    error_gap,
    training_points,
)

FEATURE, LAZY = 1.0, 1e3  # feature learning up to the one, lazy training from the other
TINY = 100  # training points: below, nothing is judged
FULL = 10_000  # training points of the paper's own runs

claim = judge.Claims()


@claim("REG-31", "mean error at every scale <= 1 lower than at every scale >= 1000")
def _winner(dataset: Data) -> judge.Parts:
    """The first set is judged, MNIST on a CPU and CIFAR-10 at full size."""
    row = judge.need(dataset, "ensemble_error").isel(images=0)
    cells = cells_of(row)
    feature = {scale: cell for scale, cell in cells.items() if scale <= FEATURE}
    lazy = {scale: cell for scale, cell in cells.items() if scale >= LAZY}
    if not feature or not lazy:
        raise judge.Missing(f"{row.images.item()} needs a scale <= 1 and one >= 1000 that have run")
    p = training_points(row, TINY)
    worst = max(feature, key=lambda scale: feature[scale].error.mean())
    best = min(lazy, key=lambda scale: lazy[scale].error.mean())
    yield judge.above(
        f"error(scale {best:g}) - error(scale {worst:g}) in %",
        error_gap(lazy[best], feature[worst]),
        0.0,
    )
    together = ensemble_gap(lazy[best], feature[worst])
    if p >= FULL:
        yield judge.above("of ensembles in %", together, 0.0)
    return (
        f"{row.images.item()}, P={p}; {_told(feature | lazy)}; ensembles of "
        f"{len(lazy[best].seeds)} apart by {together} %"
    )


@claim("REG-32", "an optimum at an intermediate scale", report=True)
def _fashion(dataset: Data) -> judge.Parts:
    """Neither end of the scan is best, the optimum lies between them."""
    row = judge.need(dataset, "ensemble_error", images="fashion_mnist")
    cells = cells_of(row)
    if len(cells) < 3:
        raise judge.Missing(f"an optimum between others needs three scales, {len(cells)} have run")
    p = training_points(row, TINY)
    first, *between, last = cells
    best = min(between, key=lambda scale: cells[scale].error.mean())
    for end in (first, last):
        name = f"error(scale {end:g}) - error(scale {best:g}) in %"
        yield judge.above(name, error_gap(cells[end], cells[best]), 0.0)
    return f"{_told(cells)}; P={p}, {int(np.nanmax(row.pixels.values))} pixels"


def _told(cells: dict[float, Cell]) -> str:
    return "; ".join(f"scale {scale:g}: {cell.shown}" for scale, cell in cells.items())
