"""Verdicts on the kernel predictor."""

from __future__ import annotations

from itertools import pairwise

from regimes.lab import Data, judge

claim = judge.Claims()


@claim("LAND-61", "the formula holds to 1e-6; the residual of the start vanishes as P grows")
def formula(dataset: Data) -> judge.Parts:
    own = judge.need(dataset, "gap", "residual").dropna("seed", how="all", subset=["gap"])
    if own.sizes["size"] < 3 or own.sizes["seed"] < 3:
        raise judge.Missing(
            f"{own.sizes['size']} training sets and {own.sizes['seed']} seeds, three are needed"
        )
    yield judge.below("largest gap of descent and formula", own.gap.max(), 1e-6)
    yield judge.below("largest residual on training points", own.residual_train.max(), 1e-6)
    sizes = own["size"].values
    for one, other in pairwise(sizes):
        ratio = own.residual.sel(size=other) / own.residual.sel(size=one)
        yield judge.below(
            f"residual at P = {other:g} over that at P = {one:g}", judge.mean_of(ratio), 1.0
        )
    left = own.residual.mean("seed").values / float(own.initial.mean())
    shown = ", ".join(f"{each:.3f} (P = {n:g})" for each, n in zip(left, sizes, strict=True))
    return f"residual on test points over the initial function: {shown}"
