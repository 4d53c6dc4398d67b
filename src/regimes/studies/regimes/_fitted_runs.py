"""The runs of a scan over scales that fitted: at one scale, and along a window of scales.

A scan that is not finished, or whose runs did not fit, decides nothing: it is `Missing`.
"""

from typing import Any

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._remarks import numbers

NEAR = 1e-6  # scales are the same when they agree so well


def fitted_at(dataset: Data, name: str, scale: float, **place: Any) -> np.ndarray:
    """Values (fitted seeds, ...) of one point of the scan.

    Studies whose runs end at a time, not when they fit, have no `fitted`: all their runs count.
    """
    here = judge.need(dataset, name, **place, scale=scale)
    values = here[name].transpose("seed", ...).values
    good = np.isfinite(values).reshape(len(values), -1).any(1)
    if "fitted" in here:
        good &= here["fitted"].values == 1
    if not good.any():
        raise judge.Missing(f"no fitted run at {_told(place)}scale = {scale:g}")
    return values[good]


def fitted_curve(
    dataset: Data, name: str, window: tuple[float, float], **place: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Scales in the window (n,), and the positive values (seeds, n) found there.

    Every trial of the window must be finished, both ends among them: a law is judged on the window
    it was stated for. Seeds that did not fit at every scale of it are left out, two must remain.
    """
    found = (
        judge.need(dataset, name, "fitted", **place).sortby("scale").transpose("seed", "scale", ...)
    )
    found = found.isel(scale=inside(found["scale"].values, window))
    scale, values, fitted = (found[each].values for each in ("scale", name, "fitted"))
    ran = ~np.isnan(fitted).all(0)
    whole = len(scale) > 1 and np.allclose(scale[[0, -1]], window, rtol=NEAR, atol=0)
    asked = f"{_told(place)}scale = {window[0]:g} to {window[1]:g}"
    if not whole or not ran.all():
        raise judge.Missing(
            f"{name} is needed at {asked}; finished: {numbers(scale[ran]) or 'none'}"
        )
    good = (values > 0) & np.isfinite(values) & (fitted == 1)
    seeds = good.all(1)
    if seeds.sum() < 2:
        raise judge.Missing(f"too few networks fitted at {asked}")
    return scale, values[seeds]


def inside(scales: np.ndarray, window: tuple[float, float]) -> np.ndarray:
    """Places of the scales in a window, both ends included.

    >>> inside(np.array([0.1, 1.0, 10.0, 100.0]), (1.0, 10.0)).tolist()
    [1, 2]
    """
    low, high = window
    return np.flatnonzero((scales >= low * (1 - NEAR)) & (scales <= high * (1 + NEAR)))


def _told(place: dict[str, Any]) -> str:
    return "".join(f"{dim} = {value}, " for dim, value in place.items())
