"""Verdicts on exponents with and without compression, and on the gain by it."""

from __future__ import annotations

import math

import regimes as rg
from regimes.lab import Data, Values, judge
from regimes.studies._types import PowerLaw
from regimes.studies.compression._medians import need_whole
from regimes.studies.compression.kernel_curves._tasks import FACTORS, ROOT, TASKS

FULL_FROM = 20_000  # a scan that reaches so far is judged by the tolerances of the full size

claim = judge.Claims()


@claim("COMP-22", "exponents of the stripes as they are near d/(3d-2)")
def _lazy(dataset: Data) -> judge.Parts:
    last, early = _judged_up_to(dataset), []
    for task, cpu in (("stripe-5", (0.43, 0.08)), ("stripe-10", (0.42, 0.1))):
        limit = rg.theory.beta_lazy(TASKS[task].d)
        fit = _fit(dataset, task, "1", (1000, last))
        middle, tolerance = (limit, 0.05) if last >= FULL_FROM else cpu
        yield judge.near(task, (-fit.exponent, fit.error), middle, tolerance)
        before = _fit(dataset, task, "1", (250, 1000))
        early.append(f"{task} {-before.exponent:.3f} at p = 250 to 1000, {limit:.3f} in the limit")
    return f"p = 1000 to {last}; slopes fall with p: {'; '.join(early)}"


@claim("COMP-23", "exponents of the compressed stripes near (2d-1)/(3d-2)")
def _compressed(dataset: Data) -> judge.Parts:
    last, limits = _judged_up_to(dataset), []
    full = last >= FULL_FROM
    for task in ("stripe-5", "stripe-10"):
        limit = rg.theory.beta_feature(TASKS[task].d, TASKS[task].d_perp)
        fit = _fit(dataset, task, ROOT, (250, last))
        middle, tolerance = (limit, 0.06) if full else (0.64, 0.1)
        yield judge.near(task, (-fit.exponent, fit.error), middle, tolerance)
        limits.append(f"{limit:.3f}")
    seeds, told = dataset.sizes["seed"], " and ".join(limits)
    note = "; the range was set around a trial of few seeds, 0.64, not around the limit"
    return f"p = 250 to {last}, {seeds} seeds; {told} in the limit{'' if full else note}"


@claim("COMP-27", "the error falls as a power of the factor of compression")
def _gain(dataset: Data) -> judge.Parts:
    _judged_up_to(dataset)
    scan, limits = gain_scan(dataset), []
    for task, low, high in (("stripe-5", -0.85, -0.4), ("cylinder-3", -0.3, -0.05)):
        fit = judge.power_law(scan.sel(task=task), "compression")
        yield judge.within(f"{task} slope", fit, low, high)
        limit = rg.theory.compression_exponent(TASKS[task].d, TASKS[task].d_perp)
        limits.append(f"-{limit:.3f} ({task}, r2 {fit.r2:.3f})")
    return f"p = {int(scan.n_train)}, Lambda = 1 to 8; theory {', '.join(limits)}"


@claim("COMP-30", "exponents of the cylinder near 3/7, and 1/14 larger with compression")
def _cylinder(dataset: Data) -> judge.Parts:
    window = (250, _judged_up_to(dataset))
    lazy, small = (_fit(dataset, "cylinder-3", kind, window) for kind in ("1", ROOT))
    gap = (lazy.exponent - small.exponent, math.hypot(lazy.error, small.error))
    yield judge.within("lazy exponent", (-lazy.exponent, lazy.error), 0.38, 0.58)
    yield judge.within("compressed - lazy exponent", gap, 0.02, 0.15)
    return f"compressed {-small.exponent:.3f}; 3/7 and 1/2 in the limit, 1/14 apart"


def gain_scan(dataset: Data) -> Values:
    """Errors (task, compression, seed) at the first p where every factor was scanned."""
    if not set(FACTORS) <= set(judge.need(dataset, "error").compression.values):
        raise judge.Missing(f"the factors {', '.join(FACTORS)} were not all scanned")
    scan = dataset.error.sel(compression=list(FACTORS))
    whole = scan.notnull().all(["task", "compression", "seed"])
    if not whole.any():
        raise judge.Missing(f"no p has every task at the factors {', '.join(FACTORS)}")
    scan = scan.isel(n_train=int(whole.values.argmax()))
    return scan.assign_coords(compression=[float(factor) for factor in FACTORS])


def _judged_up_to(dataset: Data) -> int:
    """The largest p of a scan that can be judged: whole, of every task, far enough."""
    need_whole(dataset)
    gain_scan(dataset)
    last = int(dataset.n_train.max())
    if set(dataset.task.values) != set(TASKS) or last < 4000:
        raise judge.Missing("needs all tasks and p up to 4000")
    return last


def _fit(dataset: Data, task: str, compression: str, window: tuple[float, float]) -> PowerLaw:
    here = judge.need(dataset, "error", task=task, compression=compression)
    return judge.power_law(here.error, "n_train", window)
