"""Verdicts on the kernel's change with relu, and on how many neurons switch."""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._fitted_runs import NEAR, inside
from regimes.studies.regimes._remarks import numbers

FLIPPING = (1e2, 1e5)  # scales of the fits where neurons switch
FEATURE = (0.0, 10.0)  # scales whose runs count as feature learning

claim = judge.Claims()


def switching(dataset: Data, name: str, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Scales in FLIPPING (n,), and values (seeds, n), NaN for runs that did not fit.

    Every trial of the window must be finished; scales where less than half of the networks fitted
    are left out.
    """
    part = _along_scales(judge.need(dataset, name, "fitted", width=width), FLIPPING)
    scale, fitted = part["scale"].values, part["fitted"].values
    if len(scale) < 3 or not np.allclose(scale[[0, -1]], FLIPPING, rtol=NEAR, atol=0):
        raise judge.Missing("three scales from 100 to 1e5 are needed, both ends among them")
    if np.isnan(fitted).any():
        raise judge.Missing(f"h={width}: trials between the scales 100 and 1e5 are missing")
    kept = (fitted == 1).mean(0) >= 0.5
    if kept.sum() < 3:
        raise judge.Missing(f"h={width}: too few networks fitted between the scales 100 and 1e5")
    return scale[kept], np.where(fitted == 1, part[name].values, np.nan)[:, kept]


def slope_of_mean(scale: np.ndarray, values: np.ndarray, power: float = 1.0) -> judge.Measured:
    """Logarithmic slope of `mean(value^power)^(1/power)` over seeds, and its jackknife error.

    Rare and large values carry the mean, so a mean of logarithms would miss them. Scales where
    fewer than two seeds have anything but 0 are left out: their logarithm is a matter of one.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> round(slope_of_mean(x, np.array([3 / x, 1 / x, 2 / x])).value, 6)
    -1.0
    """
    seen = (np.nan_to_num(values) > 0).sum(0) > 1
    if seen.sum() < 3:
        raise judge.Missing("fewer than three scales have two networks with a change to average")
    logs, powers = np.log(scale[seen]), values[:, seen] ** power

    def fit(rows: np.ndarray) -> float:
        return float(np.polyfit(logs, np.log(np.nanmean(rows, 0)) / power, 1)[0])

    return judge.jackknifed(powers, fit)


def single_patch(dataset: Data, width: int) -> tuple[np.ndarray, list[float]]:
    """Slopes of the kernel's change of every network over the scales where no mask of it changed.

    Returns:
        Slopes (seeds,), and the scales that took part.
    """
    part = _along_scales(judge.need(dataset, "flips", width=width))
    scale = part["scale"].values
    still = (part["flips"].values == 0) & (part["train_flips"].values == 0)
    still &= (part["fitted"].values == 1) & (scale > FLIPPING[1])
    slopes, used = [], set()
    for row, change in zip(still, part["kernel_change"].values, strict=True):
        if row.sum() > 1:
            slopes.append(np.polyfit(np.log(scale[row]), np.log(change[row]), 1)[0])
            used |= set(scale[row].tolist())
    if len(slopes) < 2:
        raise judge.Missing(f"h={width}: fewer than two networks keep all masks at two scales")
    return np.array(slopes), sorted(used)


@claim("REG-43", "-0.5 ± 0.15 on scales 1e2..1e5; -1.00 ± 0.01 where no mask flips")
def _kernel(dataset: Data) -> judge.Parts:
    told = []
    for width in _widths(dataset):
        found = slope_of_mean(*switching(dataset, "kernel_change", width), power=2.0)
        yield judge.near(f"h={width} with switches", found, -0.5, 0.15)
        slopes, used = single_patch(dataset, width)
        yield judge.near(f"h={width} without", judge.mean_of(slopes), -1.0, 0.01)
        told.append(
            f"without switches: {len(slopes)} networks at scales {used[0]:g} to {used[-1]:g}; "
            + _feature(dataset, width)
        )
    return (
        f"slopes of the root mean square over networks ({dataset.sizes['seed']} of them), scales "
        f"100 to 1e5, kernel on test points; {'; '.join(told)}; {_unfitted(dataset)}"
    )


def _feature(dataset: Data, width: int) -> str:
    """The slope of the feature side in words; whether those runs fitted is said beside it."""
    part = _along_scales(judge.need(dataset, "kernel_change", width=width), FEATURE)
    values = part["kernel_change"].values
    if part.sizes["scale"] < 2 or np.isnan(values).all(0).any():
        return "feature side not measured"
    change = np.nanmedian(values, 0)
    found = np.polyfit(np.log(part["scale"].values), np.log(change), 1)[0]
    share = float(np.nanmean(part["fitted"].values))
    return f"feature side (scale <= 10) slope {found:.2f}, {100 * share:.0f} % of those runs fitted"


def _unfitted(dataset: Data) -> str:
    lost = (dataset["fitted"] == 0).sum(["width", "seed"])
    listed = ", ".join(
        f"{count} at {scale:g}"
        for scale, count in zip(lost["scale"].values, lost.values, strict=True)
        if count
    )
    return f"networks left out because they had not fitted: {listed}" if listed else "all fitted"


@claim("REG-44", "slope -1 ± 0.15 on scales 1e2..1e5")
def _flips(dataset: Data) -> judge.Parts:
    told = []
    for width in _widths(dataset):
        scales, flips = switching(dataset, "flips", width)
        yield judge.near(f"h={width}", slope_of_mean(scales, flips), -1.0, 0.15)
        counts = f"{numbers(np.nanmean(flips, 0), '.3g')} at scales {numbers(scales)}"
        told.append(f"h={width}: {counts}; {_training_flips(dataset, width)}")
    return "mean number of (hidden neuron, test point) pairs that switched; " + "; ".join(told)


def _training_flips(dataset: Data, width: int) -> str:
    try:
        found = slope_of_mean(*switching(dataset, "train_flips", width))
    except judge.Missing:
        return "too few on training points for a slope"
    return f"on training points the slope is {found.value:.2f} ± {found.error:.2f}"


def _widths(dataset: Data) -> list[int]:
    return [int(width) for width in judge.need(dataset, "kernel_change").width.values]


def _along_scales(part: Data, window: tuple[float, float] = (0.0, np.inf)) -> Data:
    """One width's runs as (seed, scale), scales of a window in order."""
    part = part.sortby("scale").transpose("seed", "scale", ...)
    return part.isel(scale=inside(part["scale"].values, window))
