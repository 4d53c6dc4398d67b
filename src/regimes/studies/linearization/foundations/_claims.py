"""Verdicts on identities, nearness and cost."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge, ran
from regimes.studies.linearization.foundations._cost import WHOLE

claim = judge.Claims()


@claim("LIN-01", "products as the Jacobian to 1e-10; errors of second order")
def expansion(dataset: Data) -> judge.Parts:
    data = ran(dataset, "identities")
    yield judge.below("largest gap from the explicit Jacobian", data.expansion_gap.max(), 1e-10)
    yield judge.below("gap from the network at the anchor", data.expansion_anchor.max(), 1e-10)
    slopes = [
        judge.log_slope(data.lengths.values, data.expansion_error[:, k].values)
        for k in range(data.sizes["expanded"])
    ]
    for slope in slopes:
        yield judge.near("order of the error", slope, 2.0, 0.1)
    return None


@claim("LIN-02", "largest relative gap 1e-5 in float32, 1e-10 in float64")
def without_gram(dataset: Data) -> judge.Parts:
    data = ran(dataset, "identities")
    yield judge.below("float32", data.alignment_gap_float32.max(), 1e-5)
    yield judge.below("float64", data.alignment_gap_float64.max(), 1e-10)
    return None


@claim("LIN-03", "largest relative gap 1e-4")
def eigenvalues(dataset: Data) -> judge.Parts:
    yield judge.below("gap", ran(dataset, "identities").eigenvalue_gap.max(), 1e-4)
    return None


@claim("LIN-04", "norm / bound at least 1; 1 to 1e-6 for eigenfunctions themselves")
def bounded(dataset: Data) -> judge.Parts:
    data = ran(dataset, "identities")
    yield judge.above("least norm / bound of signs", data.bound_least.min(), 1.0)
    yield judge.below("gap of eigenfunctions", data.bound_own.max(), 1e-6)
    return None


@claim("LIN-11", "alignment / squared norm of the mean mixed derivative within 5 % of 1")
def mixed(dataset: Data) -> judge.Parts:
    data = ran(dataset, "mixed")
    worst = float(np.abs(data.mixed_gap).max())
    yield judge.near("mean of the relative gap", judge.mean_of(data.mixed_gap), 0.0, 0.05)
    yield judge.below("largest", worst, 0.05)
    return f"{data.sizes['mixed_seed']} networks, {int(data.mixed_points)} points each"


@claim("LIN-23", "gap falls with the steps before, the last at most 0.4 times the first")
def later(dataset: Data) -> judge.Parts:
    data = ran(dataset, "later")
    gaps = data.later_gap.transpose("later_seed", "before").values
    yield judge.below("last gap / first", judge.median_ratio(gaps[:, -1], gaps[:, 0]), 0.4)
    rises = np.diff(gaps, axis=1)
    most = int(rises.mean(0).argmax())
    yield judge.below("largest change of the gap", judge.mean_of(rises[:, most]), 0.0)
    told = " ".join(f"{gap:.3g}" for gap in gaps.mean(0))
    return f"gaps {told} after {data.steps_before.values.tolist()} steps"


@claim("LIN-30", "CPU time of Grams as m^2 within 30 %")
def of_points(dataset: Data) -> judge.Parts:
    data = ran(dataset, "cost")
    m, seconds = data.cost_points.values.astype(float), data.cost_seconds.values
    yield judge.within("largest deviation from a m^2", _off_square(m, seconds), -0.3, 0.3)
    linear, square = np.linalg.lstsq(np.stack([m, m**2], 1), seconds.mean(0), rcond=None)[0]
    share = linear * m[0] / (linear * m[0] + square * m[0] ** 2)
    return (
        f"{_each(m, seconds)}; as b m + a m^2 a share {share:.2f} of the time at {m[0]:.0f} is of "
        "the passes, which grow as m"
    )


@claim("LIN-30b", "LIN-30 from 2,000 images on")
def of_more_points(dataset: Data) -> judge.Parts:
    data = ran(dataset, "cost")
    m, seconds = data.cost_points_larger.values.astype(float), data.cost_seconds_larger.values
    yield judge.within("largest deviation from a m^2", _off_square(m, seconds), -0.3, 0.3)
    whole = float(seconds.mean(0)[-1]) * (WHOLE / m[-1]) ** 2
    return f"{_each(m, seconds)}; {WHOLE:,} by m^2 from the last: {whole / 60:.3g} minutes"


def _off_square(m: np.ndarray, seconds: np.ndarray) -> judge.Measured:
    """Where times (seeds, sizes) are farthest from a m^2, a fitted to their logarithms."""
    scaled = np.log(seconds) - 2 * np.log(m)
    off = np.exp(scaled - scaled.mean(1, keepdims=True)) - 1
    return judge.mean_of(off[:, int(np.abs(off.mean(0)).argmax())])


def _each(m: np.ndarray, seconds: np.ndarray) -> str:
    times = " ".join(f"{s:.3g}" for s in seconds.mean(0))
    return f"{times} s at {m.astype(int).tolist()} points"


@claim("LIN-31", "multiply-adds per parameter grow as the square of the outputs", exact=True)
def of_outputs(dataset: Data) -> judge.Parts:
    data = ran(dataset, "cost")
    ratios = data.cost_counted / data.cost_counted[0] / data.cost_outputs**2
    yield judge.near("count / c^2, farthest from 1", float(ratios[-1]), 1.0, 1e-9)
    yield judge.near("at two outputs", float(ratios[1]), 1.0, 1e-9)
    return None


@claim("LIN-32", "seconds of a training", report=True)
def of_training(dataset: Data) -> judge.Parts:
    data = ran(dataset, "cost")
    yield judge.within(
        f"CPU seconds of {int(data.cost_epochs)} epochs on 1,500 digits", float(data.cost_training)
    )
    return "one network of the MLP on one core; the paper's minutes are of 50,000 images on a GPU"


@claim("LIN-33", "outputs change by at most 1e-6 with the company of a sample")
def company(dataset: Data) -> judge.Parts:
    yield judge.below("largest change", ran(dataset, "identities").company.max(), 1e-6)
    return None


@claim("LIN-35", "gap falls with the width with an exponent from -0.9 to -0.3")
def wider(dataset: Data) -> judge.Parts:
    data = ran(dataset, "width")
    gaps = data.width_gap.transpose("width_seed", "width").values
    yield judge.within("exponent", judge.log_slope(data.widths.values, gaps), -0.9, -0.3)
    rises = np.diff(gaps, axis=1)
    most = int(rises.mean(0).argmax())
    yield judge.below("largest change of the gap", judge.mean_of(rises[:, most]), 0.0)
    told = " ".join(f"{gap:.3g}" for gap in gaps.mean(0))
    return f"gaps {told} at widths {data.widths.values.tolist()}"
