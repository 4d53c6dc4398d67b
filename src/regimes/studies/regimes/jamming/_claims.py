"""Verdicts on jamming: REG-58, REG-59 and REG-60.

Protocols are in docs/themes/regimes.md, "Fits that stop, and jamming".
"""

from itertools import pairwise

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.regimes.jamming import _scans as scans

claim = judge.Claims()


@claim("REG-58", "|f| ~ 1/(N - N*)")
def _divergence(dataset: Data) -> judge.Parts:
    found = scans.norms(dataset)
    least = min(found.window(star).sum() for star in (found.star, *found.bracket))
    if least < 4 or found.weights[-1] < 10 * found.star:
        largest = f"N up to {found.weights[-1]:.0f}"
        raise judge.Missing(f"{least} widths with 0.1 < N/N* - 1 < 3, {largest}: too few")
    slope, scatter = found.exponent(found.star)
    ends = [found.exponent(star)[0] for star in found.bracket]
    # N* may lie anywhere in its bracket: a uniform law over the slopes between its ends
    error = np.hypot(scatter, abs(ends[1] - ends[0]) / 12**0.5)
    yield judge.within("exponent of |f| in N/N* - 1", (slope, error), -1.3, -0.45)
    rise = found.at(found.star) / found.at(10 * found.star)
    yield judge.above("|f|^2 at N* / at 10 N*", rise, 30.0)
    told = ", ".join(
        f"{f:.3g} at {n:.0f} ({100 * s:.0f} % fit)"
        for n, f, s in zip(found.weights, found.square, found.fit, strict=True)
    )
    return (
        f"digits, P = {found.p:.0f}, N* = {found.star:.4g} where half of the runs fit, between "
        f"{found.bracket[0]:.0f} and {found.bracket[1]:.0f}, which would give {ends[0]:.2f} and "
        f"{ends[1]:.2f}; {found.window(found.star).sum()} widths with 0.1 < N/N* - 1 < 3; "
        f"{_left_out(found.dead)}; |f|^2 {told}; the norm of linear regression is not part of it"
    )


@claim("REG-59", "C0 N <= N_Delta <= N at jamming, C0 0.5 for relu, 0.43 for tanh; a gap in H0")
def _constraints(dataset: Data) -> judge.Parts:
    scan = scans.whole(dataset)
    labels = [scans.jump(scan, name) for name in ("random", "parity")]
    shares = scan.negative.sel(labels="random", trainer="fast").mean(["n_train", "width"])
    relu, tanh = shares.dropna("draw").transpose("activation", "draw").values
    clean = np.concatenate([each.clean for each in labels])
    random, digits = (each.share.values for each in labels)
    few = not len(random) or not len(digits) or len(relu) < 3
    if few or not (clean.any() or random.max() >= 1):
        raise judge.Missing(
            f"{len(random)} jammed runs of small loss for random labels, {len(digits)} for digits, "
            f"{clean.sum()} of them clean; {len(relu)} Hessians"
        )
    # hypostatic at the transition itself: the smallest losses (LAND-04)
    all_near = np.concatenate([each.share.values[each.loss.values < 2e-3] for each in labels])
    yield judge.within("N_Delta/N of random labels, mean", judge.mean_of(random), 0.35, 0.95)
    yield judge.above("the same, smallest", random.min(), 0.35)
    yield judge.below("the same, largest", random.max(), 0.95)
    yield judge.below("converged runs with 0.02 < N_Delta/N < 0.25", labels[0].between, 0.0)
    yield judge.within("N_Delta/N of digits, smallest", digits.min(), 0.2, 0.8)
    yield judge.below("N_Delta/N of all, largest", all_near.max(), 1.0)
    yield judge.within("negative share of Hp, relu", judge.mean_of(relu), 0.48, 0.52)
    if clean.any():
        rank = np.concatenate([each.excess for each in labels])[clean]
        gap = np.concatenate([each.gap for each in labels])[clean]
        yield judge.below("largest |rank(H0) - N_Delta|", np.abs(rank).max(), 2.0)
        yield judge.above("gap of H0 over its zeros, smallest", gap.min(), 1e5)
    slow = sum(int((each.falling > scans.FALLING).sum()) for each in labels)
    least = int(random.argmin())
    loss, fell = (float(labels[0][name][least]) for name in ("loss", "falling"))
    return (
        f"{len(random)} jammed runs with a loss below {scans.LOW_LOSS['random']:g} for random "
        f"labels, {len(digits)} below {scans.LOW_LOSS['parity']:g} for digits, of which {slow} "
        f"still fell by more than 1 % in their last tenth (the one of smallest N_Delta/N for "
        f"random labels has a loss of {loss:.1g} that fell by {100 * fell:.0f} %); "
        f"H0 of {clean.sum()} runs with N_Delta < N and an active unit for every unfitted point; "
        f"{_left_out(sum(int(each.left_out) for each in labels))}; Hp at initialisation, random "
        f"labels, all points weighted alike, of networks 0 to {len(relu) - 1} whatever the seeds "
        f"of the scan; with tanh {tanh.mean():.3f} of it is negative there, "
        "which is not judged: it asks for a jammed network"
    )


@claim("REG-60", "N* ~ P for random labels, slower for digits; dN*/dP follows the test error")
def _growth(dataset: Data) -> judge.Parts:
    from scipy.stats import spearmanr

    scan = scans.whole(dataset)
    digits, random = (_known_stars(scan, name) for name in ("parity", "random"))
    errors = [_error_near(scan, p) for p in digits.p]
    middle = [(a + b) / 2 for a, b in pairwise(errors)]
    rank = spearmanr(np.diff(digits.middle) / np.diff(digits.p), middle).statistic
    loads = random.p / random.middle
    _, i, j = np.intersect1d(digits.p, random.p, return_indices=True)
    if not len(i):
        raise judge.Missing("N* is known at no common size of digits and random labels")
    shares = digits.middle[i] / random.middle[j]
    yield judge.within("exponent for random labels", _exponent(random), 0.75, 1.2)
    off = _off(random) * loads
    least, most = int(loads.argmin()), int(loads.argmax())
    yield judge.above("P/N* for random labels, smallest", (loads[least], off[least]), 1.6)
    yield judge.below("P/N* for random labels, largest", (loads[most], off[most]), 3.0)
    off = np.hypot(_off(digits)[i], _off(random)[j]) * shares
    most = int(shares.argmax())
    yield judge.below(
        "N* of digits over that of random labels, largest", (shares[most], off[most]), 0.6
    )
    by_chance = 1 / np.sqrt(len(middle) - 1)  # spread of a rank correlation of unrelated numbers
    yield judge.above("rank correlation of dN*/dP and test error", (rank, by_chance), 1e-6)
    return (
        f"exponent for digits {_exponent(digits)} for 0.75 in [Geiger 2021b, ch. 9], "
        f"reported only at so few points; N* by the 0.1 N rule of parity {_brackets(digits)}; "
        f"random {_brackets(random)}"
    )


def _left_out(dead: int) -> str:
    runs = "run" if dead == 1 else "runs"
    return f"{dead} {runs} left out as dead: no gradient reaches the unfitted points"


def _known_stars(scan: Data, labels: str) -> scans.Stars:
    stars = scans.n_star(scan, labels)
    if len(stars.p) < 3:
        raise judge.Missing(
            f"N* is known at {len(stars.p)} sizes for {labels} labels, three are needed"
        )
    return stars


def _exponent(stars: scans.Stars) -> judge.Measured:
    """Slope of log N* in log P, and its error from the brackets."""
    return judge.slope_of(stars.p, stars.middle, _off(stars) * stars.middle)


def _off(stars: scans.Stars) -> np.ndarray:
    """Relative errors of N* from its brackets: of factor f^2, ln f / sqrt 3 either way."""
    return np.log(stars.high / stars.low) / 12**0.5


def _brackets(stars: scans.Stars) -> str:
    rows = zip(stars.p, stars.low, stars.high, strict=True)
    return ", ".join(f"{low:.0f}-{high:.0f} at {p:.0f}" for p, low, high in rows)


def _error_near(scan: Data, p: float) -> float:
    """Mean error of the widest networks at this P."""
    return float(scans.cut(scan, "parity", p).error.isel(width=-1).mean())
