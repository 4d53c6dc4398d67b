"""Verdict on Matern fields."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()

FLOOR = 1e-12  # errors below are rounding
EXPECTED = {0.5: (1.0, 0.12), 1.0: (1.95, 0.2), 1.5: (2.8, 0.3), 2.5: (3.65, 0.4), 4.0: (4.0, 0.4)}


@claim("KER-14", "near 1, 1.95, 2.8, 3.65 and 4 for nu = 1/2, 1, 3/2, 5/2, 4")
def _matern(dataset: Data) -> judge.Parts:
    for nu, (middle, tolerance) in EXPECTED.items():
        here = judge.where_ran(dataset, "seed", "mse", nu=nu)
        curve = here.mse.transpose("seed", "size")
        if float(curve["size"].max()) < 512:
            raise judge.Missing("needs n up to 512")
        kept = curve["size"].values[np.median(curve.values, 0) >= FLOOR]
        fit = judge.power_law(curve.sel(size=kept), "size")
        yield judge.near(f"nu = {nu:g}", (-fit.exponent, fit.error), middle, tolerance)
    return f"n = 32 to {int(curve['size'].max())}, medians of {len(curve)} draws; min(2 nu, 4)"
