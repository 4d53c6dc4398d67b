"""Verdicts of the scaling study: exponents in the scale, collapse over widths, times."""

import itertools

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._fitted_runs import fitted_at, fitted_curve
from regimes.studies.regimes._remarks import numbers

LAZY = (1e3, 1e6)  # scales of the fits on the lazy side
KERNEL, WEIGHTS = (1e-4, 1e-1), (1e-4, 1e-2)  # and on the feature side (REG-12, REG-16)
DEEP = 5  # from this depth on the fits start at 1e-3
KERNEL_EXPONENTS = {1: (1.0, 0.1), 2: (1.33, 0.12), 3: (1.5, 0.15), 5: (1.67, 0.15)}
WEIGHT_EXPONENTS = {1: (0.5, 0.05), 2: (0.33, 0.05), 3: (0.27, 0.06), 5: (0.21, 0.06)}
COLLAPSE = ((1e-2, 1.4), (1.0, 1.4), (1e2, 2.5), (1e4, 2.5))  # scale, max/min over widths

claim = judge.Claims()


def window_of(depth: int, window: tuple[float, float]) -> tuple[float, float]:
    """The window of a fit on the feature side at this depth."""
    return (1e-3, window[1]) if depth >= DEEP else window


def exponent(dataset: Data, name: str, depth: int, window: tuple[float, float]) -> judge.Measured:
    """Slope in the scale of the geometric mean over seeds at the main width."""
    return judge.log_slope(
        *fitted_curve(dataset, name, window, depth=depth, width=main_width(dataset))
    )


def falling(dataset: Data, name: str, depth: int, window: tuple[float, float]) -> judge.Measured:
    """The power of 1/scale on the feature side."""
    return -exponent(dataset, name, depth, window_of(depth, window))


def main_width(dataset: Data) -> int:
    """The width at which all depths were trained."""
    return int(judge.need(dataset, "main_width")["main_width"].max())


def widths_at(dataset: Data, name: str, depth: int, *scales: float) -> dict[int, np.ndarray]:
    """Width -> values at the last of the scales, for widths with fitted runs at all of them."""
    found = {}
    for width in sorted(int(w) for w in judge.need(dataset, name).width.values):
        try:
            for scale in scales:
                found[width] = fitted_at(dataset, name, scale, depth=depth, width=width)
        except judge.Missing:
            found.pop(width, None)
    return found


def wider(dataset: Data, depth: int, scale: float) -> int:
    """The narrowest width with a fitted run that is at least three times the main one."""
    least = 3 * main_width(dataset)
    for width in widths_at(dataset, "t_half", depth, scale):
        if width >= least:
            return width
    raise judge.Missing(
        f"no fitted run of L = {depth}, scale {scale:g} with three times the main width"
    )


@claim("REG-10", "slope -1.00 ± 0.03 for L = 2 and 3")
def _lazy_kernel(dataset: Data) -> judge.Parts:
    for depth in (2, 3):
        yield judge.near(f"L={depth}", exponent(dataset, "kernel_change", depth, LAZY), -1.0, 0.03)
    return f"slope of the kernel's change on scales 1e3 to 1e6; {_where(dataset)}"


@claim("REG-11", "largest/smallest over h < 1.4 (scale <= 1), < 2.5 (scale > 1); > 7 decades")
def _collapse(dataset: Data) -> judge.Parts:
    depth, widths = _most_widths(dataset)
    parts, told, heights = [], [], []
    for scale, limit in COLLAPSE:
        groups = [
            fitted_at(dataset, "kernel_change", scale, depth=depth, width=width) for width in widths
        ]
        means = [judge.log_mean(group).value for group in groups]
        heights.append(np.log10(means).mean())
        told.append(f"scale {scale:g}: " + "/".join(f"{mean:.3g}" for mean in means))
        parts.append(judge.below(f"max/min at scale {scale:g}", judge.largest_ratio(groups), limit))
    yield from sorted(parts, key=lambda part: part.measured / part.high, reverse=True)
    yield judge.above("decades spanned", heights[0] - heights[-1], 7.0)
    names = ", ".join(map(str, widths))
    return f"L={depth}, h = {names}, geometric means over seeds; {'; '.join(told)}"


def _most_widths(dataset: Data) -> tuple[int, list[int]]:
    """The depth with most widths that have everything the collapse needs, three at least."""
    scales = [scale for scale, _ in COLLAPSE]
    found = {
        int(depth): list(widths_at(dataset, "kernel_change", int(depth), *scales))
        for depth in judge.need(dataset, "kernel_change").depth.values
    }
    best = max(found, key=lambda depth: len(found[depth]))
    if len(found[best]) < 3:
        raise judge.Missing(
            "no depth has fitted runs at three widths for the scales 0.01, 1, 100, 1e4"
        )
    return best, found[best]


@claim("REG-12", "1.0 ± 0.1, 1.33 ± 0.12, 1.5 ± 0.15, 1.67 ± 0.15 for L=1,2,3,5")
def _feature_kernel(dataset: Data) -> judge.Parts:
    for depth, expected in KERNEL_EXPONENTS.items():
        yield judge.near(f"L={depth}", falling(dataset, "kernel_change", depth, KERNEL), *expected)
    return (
        "exponent a of the kernel's change scale^-a on scales 1e-4 to 1e-1 (L=5: from 1e-3); "
        "2/(1 + 1/L) predicts 1, 1.333, 1.5, 1.667; [Geiger 2020] found 1.25 for L=2, 1.7 for L=5; "
        f"{_where(dataset)}"
    )


@claim("REG-13", "a(1) < a(2) < a(3) < a(5) < 2")
def _ordering(dataset: Data) -> judge.Parts:
    found = {depth: falling(dataset, "kernel_change", depth, KERNEL) for depth in KERNEL_EXPONENTS}
    for (shallow, a), (deep, b) in itertools.pairwise(found.items()):
        yield judge.above(f"a({deep}) - a({shallow})", b - a, 0.0)
    deepest = max(found)
    yield judge.below(f"a({deepest})", found[deepest], 2.0)
    return ", ".join(f"a({depth}) = {one.value:.3f}" for depth, one in found.items())


@claim("REG-15", "slope -1.00 ± 0.02 for L = 2 and 3")
def _lazy_weights(dataset: Data) -> judge.Parts:
    for depth in (2, 3):
        yield judge.near(f"L={depth}", exponent(dataset, "weight_change", depth, LAZY), -1.0, 0.02)
    return f"slope of the weights' change; {_weight_collapse(dataset)}; {_where(dataset)}"


def _weight_collapse(dataset: Data) -> str:
    """What becomes of sqrt(h) weight_change at several widths in the lazy regime, in words."""
    told = []
    for depth in (2, 3):
        found = widths_at(dataset, "weight_change", depth, 1e4)
        if len(found) > 1:
            values = ", ".join(f"{h**0.5 * one.mean():.3g} (h={h})" for h, one in found.items())
            told.append(f"sqrt(h) weight_change at scale 1e4, L={depth}: {values}")
    return "; ".join(told) or "one width only"


@claim("REG-16", "0.5 ± 0.05, 0.33 ± 0.05, 0.27 ± 0.06, 0.21 ± 0.06 for L=1,2,3,5")
def _feature_weights(dataset: Data) -> judge.Parts:
    for depth, expected in WEIGHT_EXPONENTS.items():
        yield judge.near(f"L={depth}", falling(dataset, "weight_change", depth, WEIGHTS), *expected)
    return (
        "exponent b of sqrt(h) weight_change ~ scale^-b on scales 1e-4 to 1e-2 (L=5: from 1e-3); "
        "1/(L+1) predicts 0.5, 0.333, 0.25, 0.167; [Geiger 2020] found 0.35 for L=2, 0.23 for L=5; "
        f"{_where(dataset)}"
    )


def layer_shares(dataset: Data, depth: int, width: int, scale: float) -> dict[str, np.ndarray]:
    """Changes in the lazy regime times what they should fall by, name -> (seeds,)."""
    weights, hidden = (
        scale * fitted_at(dataset, name, scale, depth=depth, width=width)
        for name in ("layer_change", "preact_change")
    )
    found = {f"z{layer + 1}": hidden[:, layer] for layer in range(depth)}
    for layer in range(depth + 1):
        inner = 0 < layer < depth
        found[f"W{layer}"] = (width**0.5 if inner else 1.0) * weights[:, layer]
    return found


def _beyond(dataset: Data, depth: int, width: int, scale: float = 1e4) -> str:
    """How the changes compare between this width and the widest, where they should agree better."""
    widest = int(dataset.width.max())
    if widest <= width:
        return ""
    try:
        shares = [layer_shares(dataset, depth, w, scale) for w in (width, widest)]
    except judge.Missing:
        return ""
    ratios = {
        name: judge.largest_ratio([each[name] for each in shares]).value for name in shares[0]
    }
    name = max(ratios, key=lambda key: ratios[key])
    return f"; between h = {width} and {widest} at most {ratios[name]:.2f} ({name})"


@claim("REG-17", "rescaled changes of z~ and W equal within 20 %")
def _layers(dataset: Data) -> judge.Parts:
    depth, scales = 3, (1e3, 1e4)
    widths = (main_width(dataset), wider(dataset, depth, scales[0]))
    shares = [layer_shares(dataset, depth, w, scale) for w in widths for scale in scales]
    parts = [
        judge.below(f"{name} max/min", judge.largest_ratio([share[name] for share in shares]), 1.2)
        for name in shares[0]
    ]
    yield from sorted(parts, key=lambda part: part.measured, reverse=True)
    return (
        "root mean square change at the end, times the scale (inner layers also sqrt(h)); "
        f"L={depth}, h = {widths[0]} and {widths[1]}, scales 1e3 and 1e4"
        f"{_beyond(dataset, depth, widths[1])}"
    )


@claim("REG-18", "t_half equal to 1e-3 over scales 1e4..1e6, to 15 % over h")
def _lazy_curves(dataset: Data) -> judge.Parts:
    depth, main = 3, main_width(dataset)
    scales, times = fitted_curve(dataset, "t_half", (1e4, 1e6), depth=depth, width=main)
    apart = times.max(1) / times.min(1) - 1
    yield judge.below("spread of t_half over scales", apart.max(), 1e-3)
    yield _same_time(dataset, depth, 1e4)
    return (
        f"L={depth}; scales {numbers(scales)}; {int((apart < 1e-3).sum())} of "
        f"{len(apart)} networks agree to 1e-3 (t_half is known to a step, so one step that is "
        "refused by rounding shows); widths compared at 1e4"
    )


@claim("REG-19", "slope 1.0 ± 0.06, plateau within 20 %, h within 15 %")
def _feature_times(dataset: Data) -> judge.Parts:
    depth, main = 3, main_width(dataset)
    scales, times = fitted_curve(dataset, "t_half", KERNEL, depth=depth, width=main)
    plateau = (times / scales).T
    yield judge.near("slope of t_half", judge.log_slope(scales, times), 1.0, 0.06)
    yield judge.below("t_half/scale max/min", judge.largest_ratio(list(plateau)), 1.2)
    yield _same_time(dataset, depth, 1e-2)
    return (
        f"L={depth}, h={main}: t_half/scale = {_means(plateau)} at scales {numbers(scales)}; "
        f"{_shallow_drift(dataset)}"
    )


def _shallow_drift(dataset: Data) -> str:
    try:
        scales, times = fitted_curve(dataset, "t_half", KERNEL, depth=1, width=main_width(dataset))
    except judge.Missing:
        return "L=1 not measured"
    return f"L=1 has no plateau, it drifts as log(1/scale): {_means((times / scales).T)}"


@claim("REG-20", "slope -1.00 ± 0.02")
def _lazy_times(dataset: Data) -> judge.Parts:
    depth = 3
    scales, times = fitted_curve(dataset, "t_half", LAZY, depth=depth, width=main_width(dataset))
    yield judge.near("slope", judge.log_slope(scales, times / scales), -1.0, 0.02)
    return f"t_half/scale on scales 1e3 to 1e6, L={depth}; {_where(dataset)}"


@claim("REG-21", "< 3 at scale 1e-3, > 30 at scale 1e4")
def _sharpness(dataset: Data) -> judge.Parts:
    place = {"depth": 3, "width": main_width(dataset)}
    dataset = dataset.assign(drop=dataset.t_10 / dataset.t_90)
    yield judge.below("scale 0.001", judge.mean_of(fitted_at(dataset, "drop", 1e-3, **place)), 3.0)
    yield judge.above("scale 10000", judge.mean_of(fitted_at(dataset, "drop", 1e4, **place)), 30.0)
    return f"(t at loss 0.1)/(t at loss 0.9), L=3; {_where(dataset)}"


def _same_time(dataset: Data, depth: int, scale: float) -> judge.Part:
    """The time at the main width over that at a wider one, geometric means over seeds."""
    main, wide = main_width(dataset), wider(dataset, depth, scale)
    narrow, other = (
        judge.log_mean(fitted_at(dataset, "t_half", scale, depth=depth, width=width))
        for width in (main, wide)
    )
    return judge.near(f"t_half at h={main} over h={wide}", narrow / other, 1.0, 0.15)


def _means(groups: np.ndarray) -> str:
    return numbers([judge.log_mean(group).value for group in groups], ".3g")


def _where(dataset: Data) -> str:
    return f"h={main_width(dataset)}, {dataset.sizes['seed']} seeds{_lost(dataset)}"


def _lost(dataset: Data) -> str:
    """Where networks of the main width did not fit; they take no part in a window's exponent."""
    here = judge.need(dataset, "fitted", width=main_width(dataset)).fitted
    lost = (here == 0).sum("seed").transpose("depth", "scale")
    told = [
        f"{int(count)} at L={depth}, scale {scale:g}"
        for depth, row in zip(lost.depth.values, lost.values, strict=True)
        for scale, count in zip(lost.scale.values, row, strict=True)
        if count
    ]
    return f"; unfitted and left out of the windows they are in: {', '.join(told)}" if told else ""
