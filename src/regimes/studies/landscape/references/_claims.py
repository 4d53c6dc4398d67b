"""Verdicts on the perceptron, on least squares, and on the student."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, judge, rows

claim = judge.Claims()


def table(dataset: Data, block: str, over: str, name: str, least: int = 3) -> Data:
    """The finished trials of a block in the order of what is scanned."""
    own = rows(judge.need(dataset, name), block).sortby(over)
    own = own.isel(trial=own[name].notnull().any("seed").values)
    if own.sizes["trial"] < least:
        raise judge.Missing(f"block {block!r} needs {least} values of {over}")
    return own.isel(seed=own[name].notnull().any("trial").values)


@claim("LAND-74", "half of the random labels fit at P = 2 n; useless inputs raise the error")
def perceptron(dataset: Data) -> judge.Parts:
    own = table(dataset, "labels", "labelled", "fits")
    shares = {
        int(p): judge.mean_of(own.fits.sel(trial=own.labelled == p)) for p in own.labelled.values
    }
    first, middle, last = (shares[p] for p in sorted(shares)[:3])
    yield judge.above("share that fits at P = n", first, 1.0)
    yield judge.below("share that fits at P = 3.5 n", last, 0.0)
    yield judge.near("share that fits at P = 2 n", middle, 0.5, 0.15)
    given = table(dataset, "directions", "inputs", "error", 4)
    errors = given.error.transpose("seed", "trial").values
    where = given.inputs.values
    far = where >= 8 * float(given.n_train[0])
    if not far.any():
        raise judge.Missing("d = 8 P has not run")
    rise = judge.resampled(errors, lambda e: float(e.mean(0)[far][0] - e.mean(0).min()))
    yield judge.above("error at d = 8 P less the least", rise, 0.0)
    shown = ", ".join(f"{p}: {each}" for p, each in sorted(shares.items()))
    least = where[errors.mean(0).argmin()]
    curve = ", ".join(f"{d:.0f}: {100 * e:.1f}" for d, e in zip(where, errors.mean(0), strict=True))
    return f"shares at P = {shown}; error in % at d = {curve}, least at d = {least:.0f}"


@claim("LAND-75", "|w|^2 is largest at N = P; its mean goes as |N - P|^-1, 1/lambda_min as ^-2")
def regression(dataset: Data) -> judge.Parts:
    own = table(dataset, "regression", "inputs", "square", 5)
    n, p = own.inputs.values, float(own.n_train[0])
    squares, inverse = (
        own[k].transpose("seed", "trial").values for k in ("square", "inverse_least")
    )
    peak = judge.resampled(squares, lambda s: float(n[np.median(s, 0).argmax()] / p))
    yield judge.near("N / P of the largest |w|^2", peak, 1.0, 0.02)
    near = (n > p) & (n <= 1.25 * p)
    if near.sum() < 3:
        raise judge.Missing("three N between P and 1.25 P are needed")
    gap = np.log(n[near] - p)
    for name, values, expected in (("|w|^2", squares, -1.0), ("1/lambda_min", inverse, -2.0)):
        found = judge.resampled(
            values[:, near], lambda v: float(np.polyfit(gap, np.log(v.mean(0)), 1)[0])
        )
        yield judge.near(f"exponent of the mean {name}", found, expected, 0.2)
    ratio = squares.mean(0)[near] / own.expected.values[near]
    return (
        f"measured over expected mean |w|^2 at N - P = {(n[near] - p).astype(int).tolist()}: "
        f"{', '.join(f'{each:.2f}' for each in ratio)}; P = {p:g}, {len(squares)} draws"
    )


@claim("LAND-76", "the student's error peaks at n_total = P; stopping early it does not")
def student(dataset: Data) -> judge.Parts:
    own = table(dataset, "student", "width", "error", 5)
    share = own.parameters.values / float(own.n_train[0])
    if share.max() < 6:
        raise judge.Missing("networks with 6 parameters a point or more are needed")
    error, early = (own[k].transpose("seed", "trial").values for k in ("error", "early_error"))
    place = judge.resampled(error, lambda e: float(share[e.mean(0).argmax()]))
    yield judge.within("n_total / P of the largest error", place, 0.7, 1.4)
    ratio = judge.resampled(error, lambda e: float(e.mean(0).max() / e.mean(0)[-1]))
    yield judge.above("largest error over that of the widest", ratio, 2.0)
    near = np.flatnonzero((share >= 0.7) & (share <= 1.4))

    def bump(e: np.ndarray) -> float:
        mean = e.mean(0)
        sides = [0.5 * (mean[i - 1] + mean[i + 1]) for i in near]
        return float((mean[near] - sides).max())

    yield judge.below(
        "early-stopped error less its neighbours'", judge.resampled(early, bump), 0.12
    )
    shown = ", ".join(
        f"{s:.2f}: {e:.2f} ({b:.2f})"
        for s, e, b in zip(share, error.mean(0), early.mean(0), strict=True)
    )
    return f"error at the end (early) at n_total / P = {shown}"
