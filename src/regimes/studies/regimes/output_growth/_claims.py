"""Verdicts on how the output grows in time."""

from collections.abc import Iterator

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes._fitted_runs import fitted_at

FEATURE = (2e-3, 2e-2)  # scales whose early growth and collapse are judged
GROWN = 2e-2  # scale at which the growth by sqrt(h) is judged
EARLY = (1 / 50, 1 / 25)  # in units of t_1
AROUND = (0.5, 2.0)

claim = judge.Claims()


def log_interpolated(moments: np.ndarray, values: np.ndarray, where: float) -> np.ndarray:
    """Values (seeds,) of curves (seeds, moments) between moments, on logarithmic axes."""
    logs = [np.interp(np.log(where), np.log(moments), np.log(row)) for row in values]
    return np.exp(np.array(logs))


def _at(
    dataset: Data, name: str, moment: float, scale: float, depth: int, width: int
) -> np.ndarray:
    """Values (seeds,) of one place of the scan at a moment."""
    values = fitted_at(dataset, name, scale, depth=depth, width=width)
    return log_interpolated(dataset.moment.values, values, moment)


def _depths(dataset: Data) -> list[int]:
    return [int(depth) for depth in judge.need(dataset, "change").depth.values]


def _widths(dataset: Data) -> list[int]:
    """The widths that are compared, two at least."""
    widths = sorted(int(width) for width in judge.need(dataset, "change").width.values)
    if len(widths) < 2:
        raise judge.Missing("two widths are needed")
    return widths


def _places(dataset: Data) -> Iterator[tuple[int, int]]:
    """Every depth and width of the scan."""
    return ((depth, width) for depth in _depths(dataset) for width in _widths(dataset))


@claim("REG-22", "slope 1.00 ± 0.03 in every run")
def _linear(dataset: Data) -> judge.Parts:
    parts = []
    for depth, width in _places(dataset):
        for scale in FEATURE:
            early, later = (_at(dataset, "change", t, scale, depth, width) for t in EARLY)
            slopes = np.log(later / early) / np.log(EARLY[1] / EARLY[0])
            name = f"L={depth}, h={width}, scale {scale:g}"
            parts.append(judge.near(name, judge.mean_of(slopes), 1.0, 0.03))
    yield from sorted(parts, key=lambda part: abs(part.measured - 1.0), reverse=True)
    return "slope of log |f_t - f_0| in log t between t_1/50 and t_1/25, farthest first"


@claim("REG-23", "|f_t|/(|f_0| sqrt h) at t_1 equal within 30 % over h")
def _grown(dataset: Data) -> judge.Parts:
    told = []
    groups: dict[int, list[np.ndarray]] = {}
    for depth, width in _places(dataset):
        norm, change = (
            _at(dataset, name, 1.0, GROWN, depth, width) / width**0.5 for name in ("norm", "change")
        )
        start = judge.need(
            dataset, "typical_norm", scale=GROWN, depth=depth, width=width
        ).typical_norm
        ratio = norm / float(start)
        groups.setdefault(depth, []).append(ratio)
        told.append(
            f"L={depth}, h={width}: {ratio.mean():.3g} (|f_t - f_0|/sqrt(h) {change.mean():.3g})"
        )
    for depth, found in groups.items():
        yield judge.below(f"L={depth} max/min over h", judge.largest_ratio(found), 1.3)
    return (
        f"|f_t|/(|f_0| sqrt(h)) at t_1, scale {GROWN:g}, |f_0| averaged over fresh networks; "
        + "; ".join(told)
    )


@claim("REG-24", "spread over h < 35 % for t/t_1 in 0.5..2")
def _one_curve(dataset: Data) -> judge.Parts:
    parts, told = [], []
    for depth in _depths(dataset):
        for scale in FEATURE:
            curves = [
                fitted_at(dataset, "change", scale, depth=depth, width=width) / width**0.5
                for width in _widths(dataset)
            ]
            moments = dataset.moment.values
            if moments[-1] < 0.999 * AROUND[1]:
                raise judge.Missing(
                    f"the runs end at {moments[-1]:g} t_1, before {AROUND[1]:g} t_1"
                )
            ratio, when = _collapse(moments, curves, AROUND)
            steep = _steepness(moments, curves, when)
            early, _ = _collapse(moments, curves, (0.1, 0.1))
            parts.append(judge.below(f"L={depth}, scale {scale:g}", ratio, 1.35))
            told.append(
                f"L={depth}, scale {scale:g}: worst at {when:.2g} t_1, where growth as "
                f"t^{steep:.1f} makes it {100 * (ratio.value ** (1 / steep) - 1):.0f} % of time, "
                f"{early.value:.2f} at 0.1 t_1"
            )
    yield from sorted(parts, key=lambda part: part.measured, reverse=True)
    return (
        "largest over smallest alpha |f_t - f_0| over h at the same t/t_1 within 0.5 to 2; "
        + "; ".join(told)
    )


def _collapse(
    moments: np.ndarray, curves: list[np.ndarray], window: tuple[float, float]
) -> tuple[judge.Measured, float]:
    """Worst ratio over widths of alpha |f_t - f_0| in a window of t/t_1, and when."""
    inside = moments[(moments > window[0]) & (moments < window[1])]
    ratios = {
        float(when): judge.largest_ratio([log_interpolated(moments, each, when) for each in curves])
        for when in (window[0], *inside, window[1])
    }
    worst = max(ratios, key=lambda when: ratios[when].value)
    return ratios[worst], worst


def _steepness(moments: np.ndarray, curves: list[np.ndarray], when: float) -> float:
    """Logarithmic slope of |f_t - f_0| in t at a moment, mean over widths and seeds."""
    before, after = 0.95 * when, when / 0.95
    rises = [
        np.log(log_interpolated(moments, each, after) / log_interpolated(moments, each, before))
        for each in curves
    ]
    return float(np.mean(rises) / np.log(after / before))
