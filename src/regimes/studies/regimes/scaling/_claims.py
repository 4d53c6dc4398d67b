"""Verdicts of the scaling study: exponents in at, collapse over widths, times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part
from regimes.studies.regimes._slopes import (
    Missing,
    curve,
    extremes,
    judged,
    slope,
    standard_error,
    values_at,
)

if TYPE_CHECKING:
    import xarray as xr

MOMENTS = np.logspace(-3, 3, 121)  # times of the learning curves, in units of t_half
LAZY = (1e3, 1e6)  # at of the fits on the lazy side
KERNEL, WEIGHTS = (1e-4, 1e-1), (1e-4, 1e-2)  # and on the feature side (REG-12, REG-16)
DEEP = 5  # from this depth on the fits start at 1e-3
KERNEL_EXPONENTS = {1: (1.0, 0.1), 2: (1.33, 0.12), 3: (1.5, 0.15), 5: (1.67, 0.15)}
WEIGHT_EXPONENTS = {1: (0.5, 0.05), 2: (0.33, 0.05), 3: (0.27, 0.06), 5: (0.21, 0.06)}
COLLAPSE = ((1e-2, 1.4), (1.0, 1.4), (1e2, 2.5), (1e4, 2.5))  # at, largest/smallest over widths
Found = tuple[Sequence[Part], str]


def window_of(depth: int, window: tuple[float, float]) -> tuple[float, float]:
    """The window of a fit on the feature side at this depth."""
    return (1e-3, window[1]) if depth >= DEEP else window


def exponent(
    dataset: xr.Dataset, name: str, depth: int, window: tuple[float, float]
) -> tuple[float, float | None]:
    """Slope in at of the geometric mean over seeds at the main width, and its error."""
    return slope(*curve(dataset, name, window, depth=depth, width=main_width(dataset)))


def main_width(dataset: xr.Dataset) -> int:
    """The width at which all depths were trained."""
    if "main_width" not in dataset or not np.isfinite(dataset["main_width"]).any():
        raise Missing("no trial is finished")
    return int(dataset["main_width"].max())


def wider(dataset: xr.Dataset, depth: int, at: float) -> int:
    """The narrowest width with a fitted run that is at least three times the main one."""
    main = main_width(dataset)
    for width in sorted(int(w) for w in dataset.width.values if w >= 3 * main):
        try:
            values_at(dataset, "t_half", at, depth=depth, width=width)
        except Missing:
            continue
        return width
    raise Missing(f"no fitted run of L = {depth}, at = {at:g} with three times the main width")


def _slope_part(
    dataset: xr.Dataset,
    name: str,
    depth: int,
    window: tuple[float, float],
    expected: tuple[float, float],
    *,
    sign: float = 1.0,
) -> Part:
    found, error = exponent(dataset, name, depth, window)
    middle, tolerance = expected
    return Part(f"L={depth}", sign * found, middle - tolerance, middle + tolerance, error)


def _lazy_kernel(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = [
            _slope_part(dataset, "kernel_change", depth, LAZY, (-1.0, 0.03)) for depth in (2, 3)
        ]
        return parts, _setting(dataset, "slope of the kernel's change on at = 1e3 to 1e6")

    return judged("REG-10", "slope -1.00 ± 0.03 for L = 2 and 3", measure)


def _collapse(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        depth, widths = _most_widths(dataset)
        parts, told, means = [], [], {}
        for at, limit in COLLAPSE:
            groups = [values_at(dataset, "kernel_change", at, depth=depth, width=w) for w in widths]
            ratio, error = extremes(groups)
            means[at] = [float(np.exp(np.log(group).mean())) for group in groups]
            told.append(f"at={at:g}: " + "/".join(f"{mean:.3g}" for mean in means[at]))
            parts.append(Part(f"max/min at at={at:g}", ratio, high=limit, error=error))
        first, last = (np.log10(means[at]).mean() for at in (COLLAPSE[0][0], COLLAPSE[-1][0]))
        parts.append(Part("decades spanned", float(first - last), low=7.0))
        worst = sorted(parts, key=lambda part: part.measured / part.high, reverse=True)
        names = ", ".join(map(str, widths))
        return worst, f"L={depth}, h = {names}, geometric means over seeds; {'; '.join(told)}"

    return judged(
        "REG-11", "largest/smallest over h < 1.4 (at <= 1), < 2.5 (at > 1); > 7 decades", measure
    )


def _most_widths(dataset: xr.Dataset) -> tuple[int, list[int]]:
    """The depth with most widths that have everything the collapse needs, three at least."""
    best: tuple[int, list[int]] = (0, [])
    for depth in (int(d) for d in dataset.depth.values):
        found = []
        for width in sorted(int(w) for w in dataset.width.values):
            try:
                for at, _ in COLLAPSE:
                    values_at(dataset, "kernel_change", at, depth=depth, width=width)
            except Missing:
                continue
            found.append(width)
        best = (depth, found) if len(found) > len(best[1]) else best
    if len(best[1]) < 3:
        raise Missing("no depth has fitted runs at three widths for at = 0.01, 1, 100, 1e4")
    return best


def _feature_kernel(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = [
            _slope_part(dataset, "kernel_change", depth, window_of(depth, KERNEL), value, sign=-1.0)
            for depth, value in KERNEL_EXPONENTS.items()
        ]
        return parts, _setting(
            dataset,
            "exponent a of the kernel's change at^-a on at = 1e-4 to 1e-1 (L=5: from 1e-3); "
            "2/(1 + 1/L) predicts 1, 1.333, 1.5, 1.667; the document found 1.25 for L=2, 1.7 for "
            "L=5",
        )

    return judged(
        "REG-12", "1.0 ± 0.1, 1.33 ± 0.12, 1.5 ± 0.15, 1.67 ± 0.15 for L=1,2,3,5", measure
    )


def _ordering(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        found = {
            depth: exponent(dataset, "kernel_change", depth, window_of(depth, KERNEL))
            for depth in KERNEL_EXPONENTS
        }
        depths = list(found)
        parts = []
        for shallow, deep in itertools.pairwise(depths):
            (a, a_error), (b, b_error) = found[shallow], found[deep]
            parts.append(
                Part(f"a({deep}) - a({shallow})", a - b, low=0.0, error=_joint(a_error, b_error))
            )
        last, error = found[depths[-1]]
        parts.append(Part(f"a({depths[-1]})", -last, high=2.0, error=error))
        listed = ", ".join(f"a({depth}) = {-value:.3f}" for depth, (value, _) in found.items())
        return parts, listed

    return judged("REG-13", "a(1) < a(2) < a(3) < a(5) < 2", measure)


def _lazy_weights(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = [
            _slope_part(dataset, "weight_change", depth, LAZY, (-1.0, 0.02)) for depth in (2, 3)
        ]
        return parts, _setting(
            dataset, f"slope of the weights' change; {_weight_collapse(dataset)}"
        )

    return judged("REG-15", "slope -1.00 ± 0.02 for L = 2 and 3", measure)


def _weight_collapse(dataset: xr.Dataset) -> str:
    """What becomes of sqrt(h) weight_change at several widths in the lazy regime, in words."""
    told = []
    for depth in (2, 3):
        found = {}
        for width in sorted(int(w) for w in dataset.width.values):
            try:
                change = values_at(dataset, "weight_change", 1e4, depth=depth, width=width)
            except Missing:
                continue
            found[width] = width**0.5 * float(change.mean())
        if len(found) > 1:
            values = ", ".join(f"{value:.3g} (h={width})" for width, value in found.items())
            told.append(f"sqrt(h) weight_change at at=1e4, L={depth}: {values}")
    return "; ".join(told) or "one width only"


def _feature_weights(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = [
            _slope_part(
                dataset, "weight_change", depth, window_of(depth, WEIGHTS), value, sign=-1.0
            )
            for depth, value in WEIGHT_EXPONENTS.items()
        ]
        return parts, _setting(
            dataset,
            "exponent b of sqrt(h) weight_change ~ at^-b on at = 1e-4 to 1e-2 (L=5: from 1e-3); "
            "1/(L+1) predicts 0.5, 0.333, 0.25, 0.167; the document found 0.35 for L=2, 0.23 for "
            "L=5",
        )

    return judged(
        "REG-16", "0.5 ± 0.05, 0.33 ± 0.05, 0.27 ± 0.06, 0.21 ± 0.06 for L=1,2,3,5", measure
    )


def layer_shares(dataset: xr.Dataset, depth: int, width: int, at: float) -> dict[str, np.ndarray]:
    """Changes in the lazy regime times what they should fall by, name -> (seeds,)."""
    place: dict[str, Any] = {"depth": depth, "width": width}
    weights = values_at(dataset, "layer_change", at, **place)[:, : depth + 1]
    hidden = values_at(dataset, "preact_change", at, **place)[:, :depth]
    found = {f"z{layer + 1}": at * hidden[:, layer] for layer in range(depth)}
    for layer in range(depth + 1):
        inner = 0 < layer < depth
        found[f"W{layer}"] = at * (width**0.5 if inner else 1.0) * weights[:, layer]
    return found


def _beyond(dataset: xr.Dataset, depth: int, width: int, at: float = 1e4) -> str:
    """How the changes compare between this width and the widest, where they should agree better."""
    widest = int(max(w for w in dataset.width.values))
    if widest <= width:
        return ""
    try:
        shares = [layer_shares(dataset, depth, w, at) for w in (width, widest)]
    except Missing:
        return ""
    ratios = {name: extremes([share[name] for share in shares])[0] for name in shares[0]}
    name = max(ratios, key=lambda key: ratios[key])
    return f"; between h = {width} and {widest} at most {ratios[name]:.2f} ({name})"


def _layers(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        depth, scales = 3, (1e3, 1e4)
        widths = (main_width(dataset), wider(dataset, depth, scales[0]))
        shares = [layer_shares(dataset, depth, w, at) for w in widths for at in scales]
        parts = []
        for name in shares[0]:
            ratio, error = extremes([share[name] for share in shares])
            parts.append(Part(f"{name} max/min", ratio, high=1.2, error=error))
        parts.sort(key=lambda part: part.measured, reverse=True)
        return parts, (
            f"root mean square change at the end, times at (inner layers also sqrt(h)); L={depth}, "
            f"h = {widths[0]} and {widths[1]}, at = 1e3 and 1e4{_beyond(dataset, depth, widths[1])}"
        )

    return judged("REG-17", "rescaled changes of z~ and W equal within 20 %", measure)


def _lazy_curves(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        depth, main = 3, main_width(dataset)
        at, times = curve(dataset, "t_half", (1e4, 1e6), depth=depth, width=main)
        apart = times.max(1) / times.min(1) - 1
        spread = float(apart.max())
        wide = wider(dataset, depth, 1e4)
        ratio, error = _ratio(dataset, "t_half", depth, (main, wide), 1e4)
        parts = [
            Part("spread of t_half over at", spread, high=1e-3),
            Part(f"t_half at h={main} over h={wide}", ratio, 0.85, 1.15, error),
        ]
        return parts, (
            f"L={depth}; at = {', '.join(f'{a:g}' for a in at)}; {int((apart < 1e-3).sum())} of "
            f"{len(apart)} networks agree to 1e-3 (t_half is known to a step, so one step that is "
            "refused by rounding shows); widths compared at 1e4"
        )

    return judged("REG-18", "t_half equal to 1e-3 over at = 1e4..1e6, to 15 % over h", measure)


def _feature_times(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        depth, main = 3, main_width(dataset)
        at, times = curve(dataset, "t_half", KERNEL, depth=depth, width=main)
        found, error = slope(at, times)
        plateau = [times[:, i] / at[i] for i in range(len(at))]
        height, height_error = extremes(plateau)
        wide = wider(dataset, depth, 1e-2)
        ratio, ratio_error = _ratio(dataset, "t_half", depth, (main, wide), 1e-2)
        parts = [
            Part("slope of t_half", found, 0.94, 1.06, error),
            Part("t_half/at max/min", height, high=1.2, error=height_error),
            Part(f"t_half at h={main} over h={wide}", ratio, 0.85, 1.15, ratio_error),
        ]
        listed = ", ".join(f"{np.exp(np.log(p).mean()):.3g}" for p in plateau)
        return parts, (
            f"L={depth}, h={main}: t_half/at = {listed} at at = "
            f"{', '.join(f'{a:g}' for a in at)}; {_shallow_drift(dataset)}"
        )

    return judged("REG-19", "slope 1.0 ± 0.06, plateau within 20 %, h within 15 %", measure)


def _shallow_drift(dataset: xr.Dataset) -> str:
    try:
        at, times = curve(dataset, "t_half", KERNEL, depth=1, width=main_width(dataset))
    except Missing:
        return "L=1 not measured"
    listed = ", ".join(f"{time:.3g}" for time in np.exp(np.log(times).mean(0)) / at)
    return f"L=1 has no plateau, it drifts as log(1/at): {listed}"


def _lazy_times(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        depth = 3
        at, times = curve(dataset, "t_half", LAZY, depth=depth, width=main_width(dataset))
        found, error = slope(at, times / at)
        return [Part("slope", found, -1.02, -0.98, error)], _setting(
            dataset, f"t_half/at on at = 1e3 to 1e6, L={depth}"
        )

    return judged("REG-20", "slope -1.00 ± 0.02", measure)


def _sharpness(dataset: xr.Dataset) -> Claim:
    def measure() -> Found:
        parts = []
        for at, low, high in ((1e-3, -np.inf, 3.0), (1e4, 30.0, np.inf)):
            place: dict[str, Any] = {"depth": 3, "width": main_width(dataset)}
            late, early = (values_at(dataset, name, at, **place) for name in ("t_10", "t_90"))
            ratio = late / early
            parts.append(Part(f"at={at:g}", float(ratio.mean()), low, high, standard_error(ratio)))
        return parts, _setting(dataset, "(t at loss 0.1)/(t at loss 0.9), L=3")

    return judged("REG-21", "< 3 at at = 1e-3, > 30 at at = 1e4", measure)


def _ratio(
    dataset: xr.Dataset, name: str, depth: int, widths: tuple[int, int], at: float
) -> tuple[float, float | None]:
    """Geometric mean over seeds at one width over that at another, and its error."""
    logs = [np.log(values_at(dataset, name, at, depth=depth, width=w)) for w in widths]
    ratio = float(np.exp(logs[0].mean() - logs[1].mean()))
    error = _joint(*(standard_error(log) for log in logs))
    return ratio, None if error is None else ratio * error


def _joint(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else float(np.hypot(a, b))


def _setting(dataset: xr.Dataset, what: str) -> str:
    return f"{what}; h={main_width(dataset)}, {dataset.sizes['seed']} seeds"


CLAIMS: dict[str, Callable[[xr.Dataset], Claim]] = {
    "REG-10": _lazy_kernel,
    "REG-11": _collapse,
    "REG-12": _feature_kernel,
    "REG-13": _ordering,
    "REG-15": _lazy_weights,
    "REG-16": _feature_weights,
    "REG-17": _layers,
    "REG-18": _lazy_curves,
    "REG-19": _feature_times,
    "REG-20": _lazy_times,
    "REG-21": _sharpness,
}
