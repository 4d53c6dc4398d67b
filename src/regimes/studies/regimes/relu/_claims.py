"""Verdicts on the kernel's change with relu, and on how many neurons switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part
from regimes.studies.regimes._slopes import NEAR, Missing, judged, standard_error

if TYPE_CHECKING:
    import xarray as xr

FLIPPING = (1e2, 1e5)  # at of the fits where neurons switch
FEATURE = 10.0  # at up to which runs count as feature learning
Found = tuple[Sequence[Part], str]


def averages(
    dataset: xr.Dataset, name: str, width: int, power: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values of at in FLIPPING (n,), and `value^power` (seeds, n), NaN for runs that did not fit.

    Every trial of the window must be finished; values of at where less than half of the networks
    fitted are left out.
    """
    if name not in dataset:
        raise Missing("no trial is finished")
    at = np.sort(dataset.at.values)
    at = at[(at >= FLIPPING[0] * (1 - NEAR)) & (at <= FLIPPING[1] * (1 + NEAR))]
    whole = len(at) > 2 and np.allclose(at[[0, -1]], FLIPPING, rtol=NEAR, atol=0)
    if not whole:
        raise Missing("three values of at from 100 to 1e5 are needed, both ends among them")
    part = dataset.sel(width=width, at=at).transpose("seed", "at", ...)
    fitted = part["fitted"].values
    if np.isnan(fitted).any():
        raise Missing(f"h={width}: trials between at = 100 and 1e5 are missing")
    values = np.where(fitted == 1, part[name].values ** power, np.nan)
    kept = (fitted == 1).mean(0) >= 0.5
    if kept.sum() < 3:
        raise Missing(f"h={width}: too few networks fitted between at = 100 and 1e5")
    return at[kept], values[:, kept]


def slope_of_mean(at: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Logarithmic slope of the arithmetic mean over seeds, and its jackknife error.

    Rare and large values carry the mean, so a mean of logarithms would miss them. Values of at
    where fewer than two seeds have anything but 0 are left out: their logarithm is a matter of one.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> slope_of_mean(x, np.array([3 / x, 1 / x, 2 / x]))[0].__round__(6)
    -1.0
    """
    seen = (np.nan_to_num(values) > 0).sum(0) > 1
    if seen.sum() < 3:
        raise Missing("fewer than three values of at have two networks with a change to average")
    at, values = at[seen], values[:, seen]

    def fit(rows: np.ndarray) -> float:
        return float(np.polyfit(np.log(at), np.log(np.nanmean(rows, 0)), 1)[0])

    count = len(values)
    left_out = np.array([fit(np.delete(values, i, 0)) for i in range(count)])
    spread = ((left_out - left_out.mean()) ** 2).sum() * (count - 1) / count
    return fit(values), float(spread**0.5)


def single_patch(dataset: xr.Dataset, width: int) -> tuple[np.ndarray, list[float]]:
    """Slopes of the kernel's change of every network over the at where none of its masks changed.

    Returns:
        Slopes (seeds,), and the values of at that took part.
    """
    if "flips" not in dataset:
        raise Missing("no trial is finished")
    part = dataset.sel(width=width).sortby("at").transpose("seed", "at", ...)
    at = part.at.values
    still = (part["flips"].values == 0) & (part["train_flips"].values == 0)
    still &= (part["fitted"].values == 1) & (at > FLIPPING[1])
    slopes, used = [], set()
    for row, change in zip(still, part["kernel_change"].values, strict=True):
        if row.sum() > 1:
            slopes.append(np.polyfit(np.log(at[row]), np.log(change[row]), 1)[0])
            used |= set(at[row].tolist())
    if len(slopes) < 2:
        raise Missing(f"h={width}: fewer than two networks keep all masks at two values of at")
    return np.array(slopes), sorted(used)


def _kernel(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts, told = [], []
        for width in (int(w) for w in dataset.width.values):
            at, squares = averages(dataset, "kernel_change", width, 2.0)
            found, error = slope_of_mean(at, squares)
            parts.append(Part(f"h={width} with switches", found / 2, -0.65, -0.35, error=error / 2))
            slopes, used = single_patch(dataset, width)
            parts.append(
                Part(
                    f"h={width} without",
                    float(slopes.mean()),
                    -1.01,
                    -0.99,
                    error=standard_error(slopes),
                )
            )
            told.append(
                f"without switches: {len(slopes)} networks at at = {used[0]:g} to {used[-1]:g}; "
                + _feature(dataset, width)
            )
        return parts, (
            f"slopes of the root mean square over networks ({dataset.sizes['seed']} of them), at = "
            f"100 to 1e5, kernel on test points; {'; '.join(told)}; {_unfitted(dataset)}"
        )

    return judged(
        "REG-43", "-0.5 ± 0.15 on at = 1e2..1e5; -1.00 ± 0.01 where no mask flips", measure
    )


def _feature(dataset: xr.Dataset, width: int) -> str:
    """The slope of the feature side in words; whether those runs fitted is said beside it."""
    part = dataset.sel(width=width).sortby("at")
    part = part.sel(at=part.at[part.at <= FEATURE * (1 + NEAR)]).transpose("seed", "at", ...)
    values = part["kernel_change"].values
    if part.sizes["at"] < 2 or np.isnan(values).all(0).any():
        return "feature side not measured"
    change = np.nanmedian(values, 0)
    found = np.polyfit(np.log(part.at.values), np.log(change), 1)[0]
    share = float(np.nanmean(part["fitted"].values))
    return f"feature side (at <= 10) slope {found:.2f}, {100 * share:.0f} % of those runs fitted"


def _unfitted(dataset: xr.Dataset) -> str:
    lost = {float(at): float((dataset["fitted"].sel(at=at) == 0).sum()) for at in dataset.at.values}
    listed = ", ".join(f"{count:g} at {at:g}" for at, count in lost.items() if count)
    return f"networks left out because they had not fitted: {listed}" if listed else "all fitted"


def _flips(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts, told = [], []
        for width in (int(w) for w in dataset.width.values):
            at, flips = averages(dataset, "flips", width, 1.0)
            found, error = slope_of_mean(at, flips)
            parts.append(Part(f"h={width}", found, -1.15, -0.85, error=error))
            counts = ", ".join(f"{mean:.3g}" for mean in np.nanmean(flips, 0))
            of_training = _training_flips(dataset, width)
            places = ", ".join(f"{a:g}" for a in at)
            told.append(f"h={width}: {counts} at at = {places}; {of_training}")
        return parts, (
            "mean number of (hidden neuron, test point) pairs that switched; " + "; ".join(told)
        )

    return judged("REG-44", "slope -1 ± 0.15 on at = 1e2..1e5", measure)


def _training_flips(dataset: xr.Dataset, width: int) -> str:
    try:
        found, error = slope_of_mean(*averages(dataset, "train_flips", width, 1.0))
    except Missing:
        return "too few on training points for a slope"
    return f"on training points the slope is {found:.2f} ± {error:.2f}"


CLAIMS: dict[str, Callable[[xr.Dataset], Claim]] = {"REG-43": _kernel, "REG-44": _flips}
