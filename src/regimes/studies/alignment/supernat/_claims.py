"""Verdicts on SuperNat."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge

claim = judge.Claims()


def _ends(at: Data, mode: str) -> np.ndarray:
    found: np.ndarray = at[f"error_{mode}"].isel(kept=-1).values
    return found


@claim("ALI-33", "median of the final errors' ratio <= 0.5, and better in 95 % of the draws")
def _better(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "error_contract", "error_off", orthogonal=False)
    ratio = _ends(at, "contract") / _ends(at, "off")
    yield judge.below("test error, SuperNat / descent, median", judge.median_of(ratio), 0.5)
    yield judge.above("share of draws in which it is better", judge.mean_of(ratio < 1), 0.95)
    kept = np.median(_ends(at, "keep_top") / _ends(at, "off"))
    told = ""
    if True in dataset.orthogonal.values:
        other = judge.need(dataset, "error_contract", orthogonal=True)
        median = np.median(_ends(other, "contract") / _ends(other, "off"))
        told = f"; noise by an orthogonal projector: {median:.2f}"
    return f"keeping the top eigenvalue instead: {kept:.2f}{told}; {len(ratio)} draws"
