"""Verdicts on the amplification: its level, its growth with p, its course in time."""

from collections.abc import Generator

import numpy as np

from regimes.lab import Data, Values
from regimes.lab.judge import (
    Claims,
    Missing,
    Part,
    Parts,
    above,
    below,
    mean_of,
    near,
    need,
    power_law,
    where_ran,
    within,
)

TIMES = np.linspace(0.0, 3.0, 61)  # at which Λ(t) is kept, in units of t*

claim = Claims()


@claim(
    "COMP-11", "Λ* within a quarter of its prediction and w_i/w_1 within 0.004, on every data set"
)
def _level(dataset: Data) -> Parts:
    chosen = where_ran(dataset, "p", "amplification_predicted", d=5).isel(p=-1)
    level = chosen.level / chosen.amplification_predicted
    gap = np.abs(chosen.ratios - chosen.ratios_predicted)
    yield above("Λ*/prediction, least", level.min(), 0.75)
    yield below("Λ*/prediction, largest", level.max(), 1.25)
    yield below("|w_i/w_1 - prediction|, largest of all data sets", gap.max(), 0.004)
    rough = np.abs(chosen.ratios - chosen.ratios_first_order).max("direction").values
    by_formula = chosen.level / chosen.amplification_first_order
    late = chosen.amplification / chosen.amplification_predicted
    return (
        f"{level.size} data sets, p = {int(chosen.p)}, when the first sample is fitted, against "
        "the direction of rest of each data set's own drift. Its first order in 1/sqrt(p), the "
        f"formula of S9, misses w_i/w_1 by up to {rough.max():.4f} ({(rough > 0.004).sum()} data "
        f"sets by more than 0.004) and Λ* by {_range(by_formula)}. At t*, with a tenth of the "
        f"samples fitted, Λ/prediction is {_range(late)}"
    )


@claim("COMP-12", "slope 0.5 ± 0.08, Λ*/sqrt(p) from 0.6 to 1.2")
def _growth_in_five_dimensions(dataset: Data) -> Parts:
    medians = yield from _growth(dataset, 5, 0.08)
    yield above("Λ*/sqrt(p), least median", medians.min(), 0.6)
    yield below("Λ*/sqrt(p), largest median", medians.max(), 1.2)
    return _told(medians)


@claim("COMP-13", "slope 0.5 ± 0.1")
def _growth_in_ten_dimensions(dataset: Data) -> Parts:
    medians = yield from _growth(dataset, 10, 0.10)
    return _told(medians)


@claim("COMP-15", "exponential growth, a plateau before t*, no loss after it")
def _shape(dataset: Data) -> Parts:
    d5 = where_ran(dataset, "p", "course", d=5).isel(p=0)
    course = d5.course.transpose("seed", "moment").values
    half, late, star = np.searchsorted(TIMES, (0.5, 0.9, 1.0))
    ends = (d5["last"] / d5.amplification).values
    # average growth rate of ln Lambda in the first and the second half of the way to t*
    logs = np.log(course)
    slowing = (logs[:, half] - logs[:, 0]) > (logs[:, star] - logs[:, half])
    yield within("Λ(0.9 t*)/Λ(t*)", mean_of(course[:, late] / course[:, star]), 0.8, 1.25)
    yield above("end Λ/Λ*", mean_of(ends), 0.5)
    yield above("share of runs whose growth slows before t*", slowing.mean(), 1.0)
    return (
        f"means over runs, as the document's figure, p = {int(d5.p)}; end Λ/Λ* of single runs "
        f"{', '.join(f'{e:.2f}' for e in ends)}"
    )


def _growth(dataset: Data, d: int, tolerance: float) -> Generator[Part, None, Values]:
    """Λ* as a power of p; where the level was predicted another alpha was used.

    Returned are the medians of Λ*/sqrt(p).
    """
    here = need(dataset, "amplification", d=d)
    chosen = here.amplification
    if "amplification_predicted" in here:
        chosen = chosen.sel(p=here.amplification_predicted.isnull().all("seed"))
    chosen = chosen.dropna("p", how="all")
    if chosen.sizes["p"] < 3:
        raise Missing("fewer than three p")
    yield near("slope", power_law(chosen, "p"), 0.5, tolerance)
    return chosen.median("seed") / np.sqrt(chosen.p)


def _told(medians: Values) -> str:
    values = ", ".join(f"{float(median):.3f} at {int(median.p)}" for median in medians)
    return f"Λ*/sqrt(p), medians: {values}"


def _range(values: Values) -> str:
    return f"{float(values.min()):.3f} to {float(values.max()):.3f}"
