"""Verdicts on how the output grows in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part
from regimes.studies.regimes._slopes import Missing, extremes, judged, standard_error, values_at

if TYPE_CHECKING:
    import xarray as xr

FEATURE = (2e-3, 2e-2)  # values of at whose early growth and collapse are judged
GROWN = 2e-2  # at at which the growth by sqrt(h) is judged
EARLY = (1 / 50, 1 / 25)  # in units of t_1
AROUND = (0.5, 2.0)
Found = tuple[Sequence[Part], str]


def log_interpolated(moments: np.ndarray, values: np.ndarray, where: float) -> np.ndarray:
    """Values (seeds,) of curves (seeds, moments) between moments, on logarithmic axes."""
    logs = [np.interp(np.log(where), np.log(moments), np.log(row)) for row in values]
    return np.exp(np.array(logs))


def _depths(dataset: xr.Dataset) -> list[int]:
    return [int(depth) for depth in dataset.depth.values]


def _widths(dataset: xr.Dataset) -> list[int]:
    return sorted(int(width) for width in dataset.width.values)


def _places(dataset: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Every depth and width of the scan, of two widths at least."""
    if dataset.sizes["width"] < 2:
        raise Missing("two widths are needed")
    for depth in _depths(dataset):
        for width in _widths(dataset):
            yield {"depth": depth, "width": width}


def _linear(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = []
        for place in _places(dataset):
            for at in FEATURE:
                change = values_at(dataset, "change", at, **place)
                early, later = (
                    log_interpolated(dataset.moment.values, change, where) for where in EARLY
                )
                slopes = np.log(later / early) / np.log(EARLY[1] / EARLY[0])
                name = f"L={place['depth']}, h={place['width']}, at={at:g}"
                error = standard_error(slopes)
                parts.append(Part(name, float(slopes.mean()), 0.97, 1.03, error))
        parts.sort(key=lambda part: abs(part.measured - 1.0), reverse=True)
        return parts, "slope of log |f_t - f_0| in log t between t_1/50 and t_1/25, farthest first"

    return judged("REG-22", "slope 1.00 ± 0.03 in every run", measure)


def _grown(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts, told = [], []
        groups: dict[int, dict[int, np.ndarray]] = {}
        for place in _places(dataset):
            norm = values_at(dataset, "norm", GROWN, **place)
            change = values_at(dataset, "change", GROWN, **place)
            typical = float(
                dataset["typical_norm"].sel(place).sel(at=GROWN, method="nearest").values
            )
            root = place["width"] ** 0.5
            moments = dataset.moment.values
            ratio = log_interpolated(moments, norm, 1.0) / (typical * root)
            groups.setdefault(place["depth"], {})[place["width"]] = ratio
            moved = log_interpolated(moments, change, 1.0).mean() / root
            told.append(
                f"L={place['depth']}, h={place['width']}: {ratio.mean():.3g} "
                f"(|f_t - f_0|/sqrt(h) {moved:.3g})"
            )
        for depth, found in groups.items():
            between, error = extremes(list(found.values()))
            parts.append(Part(f"L={depth} max/min over h", between, high=1.3, error=error))
        return parts, (
            f"|f_t|/(|f_0| sqrt(h)) at t_1, at={GROWN:g}, |f_0| averaged over fresh networks; "
            + "; ".join(told)
        )

    return judged("REG-23", "|f_t|/(|f_0| sqrt h) at t_1 equal within 30 % over h", measure)


def _one_curve(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts, told = [], []
        if dataset.sizes["width"] < 2:
            raise Missing("two widths are needed")
        for depth in _depths(dataset):
            for at in FEATURE:
                ratio, error, when = collapse(dataset, depth, at, AROUND)
                steep = _steepness(dataset, depth, at, when)
                parts.append(Part(f"L={depth}, at={at:g}", ratio, high=1.35, error=error))
                early, _, _ = collapse(dataset, depth, at, (0.1, 0.1))
                told.append(
                    f"L={depth}, at={at:g}: worst at {when:.2g} t_1, where growth as t^{steep:.1f} "
                    f"makes it {100 * (ratio ** (1 / steep) - 1):.0f} % of time, "
                    f"{early:.2f} at 0.1 t_1"
                )
        parts.sort(key=lambda part: part.measured, reverse=True)
        return parts, (
            "largest over smallest alpha |f_t - f_0| over h at the same t/t_1 within 0.5 to 2; "
            + "; ".join(told)
        )

    return judged("REG-24", "spread over h < 35 % for t/t_1 in 0.5..2", measure)


def collapse(
    dataset: xr.Dataset, depth: int, at: float, window: tuple[float, float]
) -> tuple[float, float | None, float]:
    """Worst ratio over widths of alpha |f_t - f_0| in a window of t/t_1; its error; and when."""
    curves = [
        values_at(dataset, "change", at, depth=depth, width=width) / width**0.5
        for width in _widths(dataset)
    ]
    moments = dataset.moment.values
    inside = moments[(moments > window[0]) & (moments < window[1])]
    worst: tuple[float, float | None, float] = (0.0, None, window[0])
    for when in (window[0], *inside, window[1]):
        ratio, error = extremes([log_interpolated(moments, each, when) for each in curves])
        worst = max(worst, (ratio, error, float(when)), key=lambda found: found[0])
    return worst


def _steepness(dataset: xr.Dataset, depth: int, at: float, when: float) -> float:
    """Logarithmic slope of |f_t - f_0| in t at a moment, mean over widths and seeds."""
    moments = dataset.moment.values
    before, after = 0.95 * when, when / 0.95
    rises = [
        np.log(log_interpolated(moments, curve, after) / log_interpolated(moments, curve, before))
        for width in _widths(dataset)
        for curve in [values_at(dataset, "change", at, depth=depth, width=width)]
    ]
    return float(np.mean(rises) / np.log(after / before))


CLAIMS: dict[str, Callable[[xr.Dataset], Claim]] = {
    "REG-22": _linear,
    "REG-23": _grown,
    "REG-24": _one_curve,
}
