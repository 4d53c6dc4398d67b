"""Verdicts on augmentation."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge
from regimes.studies.deformations._runs import END

claim = judge.Claims()

ENOUGH = 1000  # training images: below, nothing is judged


def _R(dataset: Data, augment: str) -> Any:  # noqa: N802
    at = judge.where_ran(dataset, "seed", "R", augment=augment)
    if float(at.points.min()) < ENOUGH:
        raise judge.Missing(f"needs networks that were trained on {ENOUGH} images or more")
    return at.R.isel(when=END)


@claim("DEF-20", "R_f: deformed / plain below 1, shifted / plain within a factor 4")
def _helps(dataset: Data) -> judge.Parts:
    plain, shifted, deformed = (_R(dataset, name) for name in ("none", "shift", "deformation"))
    yield judge.below("deformed / plain", judge.log_mean((deformed / plain).values), 1.0)
    yield judge.within("shifted / plain", judge.log_mean((shifted / plain).values), 0.25, 4.0)
    told = [
        f"{name} {judge.log_mean(each.values)}"
        for name, each in (("plain", plain), ("shifted", shifted), ("deformed", deformed))
    ]
    return f"R_f {', '.join(told)}"
