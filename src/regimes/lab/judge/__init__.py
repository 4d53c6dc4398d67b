"""How studies judge: numbers with errors, the ranges they are expected in, and what is missing.

    claim = Claims()

    @claim("REG-57", "an ensemble just past jamming is as good as a wide network")
    def _ensembles(dataset):
        here = need(dataset, "ensemble_error", "error", trainer="flow")
        yield below("ratio", mean_of(here.ensemble_error / here.error), 1.0)
        return "a remark"

Claims are individual, so a judge is plain Python: it yields parts, or returns a `Claim`.
"""

from regimes.lab.judge._claims import Claims, Judge, Parts
from regimes.lab.judge._measured import (
    Measured,
    jackknifed,
    largest_ratio,
    left_out,
    log_mean,
    log_slope,
    mean_of,
    median_of,
    median_ratio,
    power_law,
    resampled,
    slope_of,
    spread,
    standard_error,
)
from regimes.lab.judge._missing import Missing, nearest, need, where_ran
from regimes.lab.judge._parts import Part, above, below, claim_of_parts, near, within

__all__ = [
    "Claims",
    "Judge",
    "Measured",
    "Missing",
    "Part",
    "Parts",
    "above",
    "below",
    "claim_of_parts",
    "jackknifed",
    "largest_ratio",
    "left_out",
    "log_mean",
    "log_slope",
    "mean_of",
    "median_of",
    "median_ratio",
    "near",
    "nearest",
    "need",
    "power_law",
    "resampled",
    "slope_of",
    "spread",
    "standard_error",
    "where_ran",
    "within",
]
