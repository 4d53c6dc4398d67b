"""Numbers of scans over `at`, with error bars over seeds: curves, slopes, ratios.

A scan that is not finished, or whose runs did not fit, decides nothing: what a claim needs and
cannot have is raised as `Missing` and becomes an inconclusive claim that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import xarray as xr

NEAR = 1e-6  # values of at are the same when they agree so well


class Missing(Exception):  # noqa: N818 - not an error: a scan may be on its way
    """What a claim needs is not in the data."""


def judged(id: str, expected: str, measure: Callable[[], tuple[Sequence[Part], str]]) -> Claim:
    """The claim on the parts that `measure` finds, with its remark; unclear when any is missing."""
    try:
        parts, remark = measure()
    except Missing as missing:
        return Claim.unclear(id, expected, why=str(missing))
    return claim_of_parts(id, parts, why=remark)


def values_at(dataset: xr.Dataset, name: str, at: float, **place: Any) -> np.ndarray:
    """Values (fitted seeds, ...) of one point of the scan."""
    found = _runs(dataset, name, place)
    where = np.flatnonzero(np.isclose(found.at.values, at, rtol=NEAR, atol=0))
    if len(where):
        one = found.isel(at=int(where[0]))
        values = one["value"].transpose("seed", ...).values
        good = np.isfinite(values).reshape(len(values), -1).any(1) & (one["fitted"].values == 1)
        if good.any():
            return values[good]
    raise Missing(f"no fitted run at {_told(place)}, at = {at:g}")


def curve(
    dataset: xr.Dataset, name: str, window: tuple[float, float], **place: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Values of `at` in the window (n,), and the positive values (seeds, n) found there.

    Every trial of the window must be finished, both ends among them. Of those, values of `at` at
    which less than half of the seeds fitted are left out, then seeds that did not fit everywhere.
    """
    found = _runs(dataset, name, place).sortby("at")
    at = found.at.values
    inside = (at >= window[0] * (1 - NEAR)) & (at <= window[1] * (1 + NEAR))
    found = found.isel(at=np.flatnonzero(inside)).transpose("seed", "at")
    at, values, fitted = found.at.values, found["value"].values, found["fitted"].values
    whole = len(at) > 1 and np.allclose(at[[0, -1]], window, rtol=NEAR, atol=0)
    if not whole or np.isnan(fitted).all(0).any():
        finished = at[~np.isnan(fitted).all(0)] if len(at) else at
        raise Missing(
            f"{name} is needed at {_told(place)} for at = {window[0]:g} to {window[1]:g}; "
            f"finished: {', '.join(f'{a:g}' for a in finished) or 'none'}"
        )
    good = (values > 0) & np.isfinite(values) & (fitted == 1)
    kept = good.mean(0) >= 0.5
    seeds = good[:, kept].all(1)
    if kept.sum() < 2 or not seeds.any():
        raise Missing(
            f"too few networks fitted at {_told(place)}, at = {window[0]:g} to {window[1]:g}"
        )
    return at[kept], values[seeds][:, kept]


def slope(at: np.ndarray, values: np.ndarray) -> tuple[float, float | None]:
    """Logarithmic slope of the geometric mean over seeds, and its standard error over seeds.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> found, error = slope(x, np.stack([x**-1.1, x**-0.9]))
    >>> round(found, 6), round(error, 6)
    (-1.0, 0.1)
    """
    each = np.polyfit(np.log(at), np.log(values).T, 1)[0]
    return float(each.mean()), standard_error(each)


def standard_error(values: np.ndarray) -> float | None:
    """Standard error of a mean over the first axis; None for one value."""
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else None


def extremes(groups: Sequence[np.ndarray]) -> tuple[float, float | None]:
    """Largest over smallest geometric mean of groups of seeds, and its standard error.

    >>> extremes([np.array([1.0, 1.0]), np.array([2.0, 2.0])])
    (2.0, 0.0)
    """
    logs = [np.log(group) for group in groups]
    ordered = sorted(logs, key=lambda log: float(log.mean()))
    ratio = float(np.exp(ordered[-1].mean() - ordered[0].mean()))
    errors = [standard_error(log) for log in (ordered[0], ordered[-1])]
    if None in errors:
        return ratio, None
    return ratio, ratio * float(np.hypot(*errors))  # type: ignore[arg-type]


def _runs(dataset: xr.Dataset, name: str, place: dict[str, Any]) -> xr.Dataset:
    """`value` and `fitted` on (at, seed, ...) at one place of the other axes.

    Studies whose runs end at a time, not when they fit, have no `fitted`: all their runs count.
    """
    if name not in dataset or any(v not in dataset[dim].values for dim, v in place.items()):
        raise Missing(f"this scan has no {name} at {_told(place)}")
    value = dataset[name].sel(place)
    if "fitted" in dataset:
        fitted = dataset["fitted"].sel(place)
    else:
        own = [dim for dim in value.dims if dim not in ("at", "seed")]
        fitted = value.notnull().any(own).astype(float)
    return value.to_dataset(name="value").assign(fitted=fitted)


def _told(place: dict[str, Any]) -> str:
    letters = {"depth": "L", "width": "h"}
    return ", ".join(f"{letters.get(dim, dim)} = {value}" for dim, value in place.items())
