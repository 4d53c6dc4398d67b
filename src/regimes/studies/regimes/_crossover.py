"""Verdicts on the crossover, where the tangent kernel changes by about its own norm."""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes import _lines as lines

# Widths at which claims are judged, and the number of training points they are made for. A scan of
# the paper's size is judged at the widths with as many parameters per point (`scaled`).
POINTS = 100
ROW = (24, 192)  # the widths of REG-14
NEAR = (12, POINTS)  # close to jamming (REG-55)
WIDE = (24, POINTS)  # from here on far from jamming
FAR = (96, POINTS)
COMPARED = (WIDE, FAR)  # REG-54
CLOSE = 1.25  # a width within this factor stands for one that was asked for
MANY_POINTS = 1000  # a training set of the paper's size

claim = judge.Claims()


@claim("REG-14", "a crossover at one sqrt(h) alpha")
def _flat(dataset: Data) -> judge.Parts:
    """All widths of the row, or with many points all at which fitted runs meet the crossover."""
    x, y, error = _crossings(lines.plane(dataset))
    away = np.abs(y / np.exp(np.log(y).mean()) - 1)
    worst = int((away + error / y).argmax())
    slope = judge.slope_of(x, y / np.sqrt(x), error / np.sqrt(x))  # of alpha* = crossover/sqrt(h)
    yield judge.within("slope of alpha* in h", slope, -0.58, -0.42)
    name = f"deviation of the crossover from its mean, h = {int(x[worst])}"
    yield judge.below(name, (away[worst], error[worst] / y[worst]), 0.2)
    return f"kernel_change = 1 at sqrt(h) alpha = {_told(x, y, error)}"


@claim("REG-54", "parallel lines")
def _parallel(dataset: Data) -> judge.Parts:
    plane, told = lines.plane(dataset), []
    for level in (0.1, 1.0, 10.0):
        x, y, error = _crossings(plane, level)
        a, b = (_closest(x, scaled(plane, row)) for row in COMPARED)
        if a == b:
            raise judge.Missing("the line is known at one of the two widths only")
        name = f"crossover at h = {int(x[b])} over h = {int(x[a])}, c = {level:g}"
        yield judge.within(
            name, judge.Measured(y[b], error[b]) / judge.Measured(y[a], error[a]), 0.75, 1.25
        )
        told.append(f"c = {level:g}: {_told(x, y, error)}")
    return "; ".join(told)


@claim("REG-55", "lines bend up near jamming")
def _bending(dataset: Data) -> judge.Parts:
    plane = lines.plane(dataset)
    x, y, error = _crossings(plane)
    far = int(np.abs(np.log(x / scaled(plane, FAR))).argmin())
    h, found, off = lines.crossover(plane)
    near = _closest(h, scaled(plane, NEAR))
    name = f"crossover at h = {int(h[near])} over that at h = {int(x[far])}"
    yield judge.above(
        name, judge.Measured(found[near], off[near]) / judge.Measured(y[far], error[far]), 1.0
    )
    return f"{found[near]:.3g} ± {off[near]:.2g} and {_told(x, y, error)}"


def scaled(plane: Data, row: tuple[int, int]) -> float:
    """The width with as many parameters per point as a row's width with the row's points.

    Two hidden layers on ten components: N = h^2 + 11 h.
    """
    width, points = row
    weights = (width**2 + 11 * width) * max(1.0, float(plane.n_train.max()) / points)
    return float(np.sqrt(weights + 5.5**2) - 5.5)


def _closest(widths: np.ndarray, wanted: float) -> int:
    """Where the width is that stands for the one that is wanted."""
    k = int(np.abs(np.log(widths / wanted)).argmin())
    if not 1 / CLOSE <= widths[k] / wanted <= CLOSE:
        raise judge.Missing(f"no width near {wanted:.0f} has run, or the line is not known there")
    return k


def _crossings(plane: Data, level: float = 1.0) -> tuple[np.ndarray, ...]:
    """Widths that are judged, scales of the crossover and their errors."""
    points = int(plane.n_train.max())
    if points < MANY_POINTS:
        if points != POINTS:
            raise judge.Missing(
                f"{points} training points: judged with {POINTS}, for which the row is made "
                f"(regimes/crossover), or with {MANY_POINTS} or more"
            )
        inside = (plane.width >= ROW[0]) & (plane.width <= ROW[1])
        plane = plane.isel(width=np.flatnonzero(inside))
    if not plane.sizes["width"] or plane.sizes["seed"] < 2:
        raise judge.Missing(f"no finished widths from {ROW[0]} to {ROW[1]} with two seeds or more")
    x, y, error = lines.crossover(plane, level)
    if len(x) < 2:
        raise judge.Missing(f"kernel_change = {level:g} was met at {len(x)} widths")
    return x, y, error


def _told(x: np.ndarray, y: np.ndarray, error: np.ndarray) -> str:
    return ", ".join(
        f"{v:.3g} ± {e:.2g} at h = {int(h)}" for h, v, e in zip(x, y, error, strict=True)
    )
