"""Verdicts on N*(P): LAND-09 to -12, -14, -24, -25, -70 and -78.

Protocols are in docs/themes/landscape.md, "The transition".
"""

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.landscape.transition import _scans as scans

claim = judge.Claims()


@claim("LAND-09", "N*/P < 4 for every scan of random labels and digits")
def _bound(dataset: Data) -> judge.Parts:
    found = [
        *_sizes(dataset),
        *(scans.star(dataset, "depth", depth=depth) for depth in (2, 3)),
        *_digits(dataset),
    ]
    shares = [each.found.n / each.points for each in found]
    worst = found[int(np.argmax(shares))]
    yield judge.below("N*/P, largest", _per_point(worst), 4.0)
    return f"{len(found)} transitions; the largest is {worst.told}"


@claim("LAND-10", "N* ~ P for random labels: slope in [0.75, 1.2], P/N* in [1.6, 3.0]")
def _proportional(dataset: Data) -> judge.Parts:
    found = _sizes(dataset)
    if len(found) < 3:
        raise judge.Missing(f"N* is known at {len(found)} sizes, three are needed")
    points = [each.points for each in found]
    values = [each.measured.value for each in found]
    errors = [float(each.measured.error or 0.0) for each in found]
    yield judge.within(
        "slope of log N* in log P", judge.slope_of(points, values, errors), 0.75, 1.2
    )
    loads = sorted((_load(each) for each in found), key=lambda load: load.value)
    yield judge.above("P/N*, smallest", loads[0], 1.6)
    yield judge.below("P/N*, largest", loads[-1], 3.0)
    return f"L = 2, d = 10; N* between {_told(found)}"


@claim("LAND-11", "N* does not depend on depth: L = 3 over L = 2 in [0.75, 1.35]")
def _depth(dataset: Data) -> judge.Parts:
    two, three = (scans.star(dataset, "depth", depth=depth) for depth in (2, 3))
    yield judge.within("N* at L = 3 over L = 2", three.measured / two.measured, 0.75, 1.35)
    return f"d = h; L = 2: {two.told}, L = 3: {three.told}"


@claim("LAND-12", "N* does not depend on d: within 30 % for d = 8, 16, 24")
def _dimension(dataset: Data) -> judge.Parts:
    found = {d: scans.star(dataset, "dimension", inputs=d) for d in (8, 16, 24)}
    ordered = sorted((each.measured for each in found.values()), key=lambda each: each.value)
    yield judge.below("largest N* over smallest", ordered[-1] / ordered[0], 1.3)
    return "L = 2; " + "; ".join(f"d = {d}: {each.told}" for d, each in found.items())


@claim("LAND-14", "N* falls with training time: not rising, by at least 15 % in all")
def _time(dataset: Data) -> judge.Parts:
    found = [scans.star(dataset, "time", moment=moment) for moment in (1000, 10_000, 60_000)]
    first, middle, last = (each.measured for each in found)
    yield judge.below("N* after 60,000 steps over that after 1,000", last / first, 0.85)
    steps = max((middle / first).value, (last / middle).value)
    yield judge.below("largest rise from moment to moment", steps, 1.0)
    told = ", ".join(
        f"{each.found.bracket[0]:.0f} to {each.found.bracket[1]:.0f}" for each in found
    )
    return f"random labels, P = 1000; N* {told} after 1,000, 10,000 and 60,000 steps"


@claim("LAND-24", "N* of digits below 0.6 of that of random labels at every P")
def _below_random(dataset: Data) -> judge.Parts:
    random = {each.points: each for each in _sizes(dataset)}
    digits = {each.points: each for each in _digits(dataset)}
    common = sorted(set(random) & set(digits))
    if not common:
        raise judge.Missing("no number of points at which both have an N*")
    shares = {p: digits[p].measured / random[p].measured for p in common}
    most = max(shares.values(), key=lambda share: share.value)
    yield judge.below("N* of digits over that of random labels, largest", most, 0.6)
    slopes = [_slope([stars[p] for p in common]) for stars in (digits, random)]
    told = ", ".join(f"{share} at {p:.0f}" for p, share in shares.items())
    return f"{told}; slopes {slopes[0]} for digits and {slopes[1]} for random labels, reported only"


@claim("LAND-25", "digits: N* of L = 1, 2 and 3 within a factor 1.7")
def _digits_depth(dataset: Data) -> judge.Parts:
    p = max(each.points for each in _digits(dataset))
    found = {depth: scans.star(dataset, "parity", depth=depth, n_train=p) for depth in (1, 2, 3)}
    ordered = sorted((each.measured for each in found.values()), key=lambda each: each.value)
    yield judge.below("largest N* over smallest", ordered[-1] / ordered[0], 1.7)
    return "; ".join(f"L = {depth}: {each.told}" for depth, each in found.items())


@claim("LAND-70", "accuracy on digits above 82 % at N* and above 88 % at 50 N*, P = 1000")
def _accuracy(dataset: Data) -> judge.Parts:
    star = scans.star(dataset, "parity", depth=2, n_train=1000)
    sides = np.isin(star.runs.weights.values, star.found.bracket)
    here = 1 - star.runs.error.isel(trial=sides).mean("trial").values
    wide = scans.scan(dataset, "wide")
    far = 1 - wide.error.isel(trial=-1).values
    yield judge.above("accuracy at N*", judge.mean_of(here[np.isfinite(here)]), 0.82)
    yield judge.above("accuracy at 50 N*", judge.mean_of(far[np.isfinite(far)]), 0.88)
    return (
        f"L = 2, ten components, N* {star.told}, the mean of both sides of the bracket; the wide "
        f"networks have N = {wide.weights.values[-1]:.0f}"
    )


@claim("LAND-78", "rank of H0 from > 0.85 n_total far below N* to >= 0.25 at N*, then Hp = 0")
def _ranks(dataset: Data) -> judge.Parts:
    star = scans.star(dataset, "rank")
    runs = star.runs
    alive = (runs.classes != scans.DEAD) & runs.classes.notnull()
    jammed = alive & (runs.unfitted > scans.JAMMED * runs.weights)
    fitted = alive & (runs.unfitted == 0)
    narrow = runs["rank"].where(jammed).isel(trial=0).values
    last = np.flatnonzero(runs.weights.values == star.found.bracket[0])[0]
    near = runs["rank"].where(jammed).isel(trial=int(last)).values
    yield judge.above("rank of H0 over n_total, narrowest", judge.mean_of(_seen(narrow)), 0.85)
    yield judge.above(
        "rank of H0 over n_total, last width that jams", judge.mean_of(_seen(near)), 0.25
    )
    part = float(runs.network_part.where(fitted).max())
    yield judge.below("largest entry of Hp where all points fit", part, 0.0)
    means = runs["rank"].where(jammed).mean("seed").values
    pairs = zip(runs.weights.values, means, strict=True)
    told = ", ".join(f"{mean:.2f} at {n:.0f}" for n, mean in pairs if np.isfinite(mean))
    return f"random labels, P = 500, N* {star.told}; mean rank/n_total of jammed runs {told}"


def _sizes(dataset: Data) -> list[scans.Star]:
    return scans.stars(dataset, "size")


def _digits(dataset: Data) -> list[scans.Star]:
    return scans.stars(dataset, "parity", depth=2)


def _load(star: scans.Star) -> judge.Measured:
    """P/N*."""
    return judge.Measured(star.points) / star.measured


def _per_point(star: scans.Star) -> judge.Measured:
    """N*/P."""
    return star.measured / judge.Measured(star.points)


def _slope(found: list[scans.Star]) -> judge.Measured:
    if len(found) < 2:
        return judge.Measured(float("nan"), float("nan"))
    errors = [float(each.measured.error or 0.0) for each in found]
    return judge.slope_of([s.points for s in found], [s.measured.value for s in found], errors)


def _told(found: list[scans.Star]) -> str:
    return ", ".join(each.told for each in found)


def _seen(values: np.ndarray) -> np.ndarray:
    kept = values[np.isfinite(values)]
    if not len(kept):
        raise judge.Missing("no jammed run at this width")
    return kept
