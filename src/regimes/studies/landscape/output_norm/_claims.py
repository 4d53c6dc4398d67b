"""The verdict on N* against the margin."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, judge

claim = judge.Claims()


def star(dataset: Data, values: np.ndarray) -> float:
    """N* of one margin from (seed, width): where half of the networks fit."""
    found = rg.measure.n_half(dataset.parameters.isel(margin=0).values, values)
    if found is None:
        raise judge.Missing("the widths hold no transition from runs that jam to runs that fit")
    return found.n


def stars(dataset: Data) -> tuple[np.ndarray, list[judge.Measured]]:
    """Margins, and N* at each with its spread over resamples of the seeds."""
    own = judge.need(dataset, "fitted").sortby("width")
    if not bool(own.fitted.notnull().all()) or own.sizes["seed"] < 4 or own.sizes["margin"] < 2:
        raise judge.Missing("every width at two margins and four seeds is needed")
    margins = own.margin.values
    fitted = [own.fitted.sel(margin=m).transpose("seed", "width").values for m in margins]
    return margins, [
        judge.resampled(each, lambda drawn: _or_nan(own, drawn), resamples=300) for each in fitted
    ]


def _or_nan(own: Data, drawn: np.ndarray) -> float:
    try:
        return star(own, drawn)
    except judge.Missing:
        return float("nan")


@claim("LAND-65", "with the norm held, N* grows with the margin")
def grows(dataset: Data) -> judge.Parts:
    margins, found = stars(dataset)
    for low, high in zip(range(len(margins) - 1), range(1, len(margins)), strict=True):
        yield judge.above(
            f"N* at margin {margins[high]:g} over that at {margins[low]:g}",
            found[high] / found[low],
            1.0,
        )
    yield judge.above("N* of the largest margin less that of the smallest", found[-1] - found[0], 0)
    shown = ", ".join(f"{each} ({m:g})" for m, each in zip(margins, found, strict=True))
    return f"N* = {shown}; {dataset.sizes['seed']} seeds"
