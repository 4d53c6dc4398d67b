"""Verdicts on the growth of the amplification with p: at t* (COMP-28) and at its largest.

The largest value is that of the whole run, so COMP-29 of the ledger is judged on runs to the
end. They are dear; COMP-29b judges runs to five t* of more seeds and larger sets.
"""

from regimes.lab import Data, Values, judge
from regimes.studies.compression._medians import need_whole

DECIDE_FROM = 100  # smaller training sets are not judged

claim = judge.Claims()


@claim("COMP-28", "at t* the amplification grows as the root of p: exponent 0.5 ± 0.12")
def _at_t_star(dataset: Data) -> judge.Parts:
    return _growth(dataset, "amplification_star", 0.12)


@claim("COMP-29", "and so does its largest value in runs to the end: exponent 0.5 ± 0.2")
def _largest(dataset: Data) -> judge.Parts:
    told = yield from _growth(dataset, "amplification_max", 0.2)
    whole = judge.need(dataset, "fitted", "peak_time", until="fitted")
    count = int((whole.fitted == 0).sum())
    return (
        f"{told}; latest peak at {float(whole.peak_time.max()):.3g} t*, {count} of "
        f"{int(whole.fitted.count())} runs ended unfitted"
    )


@claim("COMP-29b", "ours: and so does its largest value up to five t*: exponent 0.5 ± 0.2")
def _largest_soon(dataset: Data) -> judge.Parts:
    told = yield from _growth(dataset, "peak", 0.2)
    return f"{told}; latest peak at {float(dataset.time_of_peak.max()):.3g} t*"


def measured(dataset: Data, name: str) -> Values:
    """A variable in the way of training that measured it."""
    until = {"amplification_star": "t_star", "peak": "peak"}.get(name, "fitted")
    return judge.need(dataset, name, until=until)[name]


def _growth(dataset: Data, name: str, tolerance: float) -> judge.Parts:
    need_whole(dataset)
    curve = measured(dataset, name)
    curve = curve.sel(n_train=curve.n_train >= DECIDE_FROM).dropna("n_train", how="all")
    curve = curve.dropna("seed")
    if curve.sizes["n_train"] < 3 or curve.sizes["seed"] < 5:
        raise judge.Missing(f"needs three sizes from p = {DECIDE_FROM} on and five seeds")
    fit = judge.power_law(curve, "n_train")
    yield judge.near("exponent", fit, 0.5, tolerance)
    values = ", ".join(f"{float(v):.3g} at p = {int(v.n_train)}" for v in curve.median("seed"))
    return f"medians of {curve.sizes['seed']} seeds {values}, r2 {fit.r2:.3f}"
