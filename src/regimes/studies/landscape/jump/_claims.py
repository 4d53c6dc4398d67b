"""Verdicts on the jump: LAND-01 to -08, -15, -26, -36, -38 and -44.

Protocols are in docs/themes/landscape.md, "The jump".
"""

from itertools import pairwise

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.landscape.jump import _scans as scans

TWO, THREE, TANH, PARITY = "2x14", "3x12", "3x10", "2x9"
RESAMPLES = 200

claim = judge.Claims()


@claim("LAND-01", "every run fits for r <= 2, every run jams for r >= 3.2 (L = 2, d = h = 14)")
def _sharp(dataset: Data) -> judge.Parts:
    runs = _whole(dataset)
    low, high = runs.sel(ratio=runs.ratio <= 2.0), runs.sel(ratio=runs.ratio >= 3.2)
    if not low.sizes["ratio"] or not high.sizes["ratio"]:
        raise judge.Missing("ratios up to 2 and from 3.2 on are needed")
    dead = scans.dead(low)
    unfit = 1 - scans.flag(low, "SAT", "PRECISION").where(dead == 0)
    loose = 1 - scans.flag(high, "JAMMED").where(scans.dead(high) == 0)
    yield judge.below("share of runs that do not fit, r <= 2", float(unfit.mean()), 0.0)
    yield judge.below("share of dead runs, r <= 2", float(dead.mean()), 1 / 3)
    yield judge.below("share of runs that do not jam, r >= 3.2", float(loose.mean()), 0.0)
    fitted = scans.flag(runs, "SAT", "PRECISION").mean("seed").values
    shares = zip(runs.ratio.values, fitted, strict=True)
    told = ", ".join(f"{100 * share:.0f} % at {ratio:g}" for ratio, share in shares)
    return f"{runs.sizes['seed']} seeds of points and network; fitted {told}"


@claim("LAND-02", "r* in [2.3, 3.1]")
def _place(dataset: Data) -> judge.Parts:
    runs = _whole(dataset)
    yield judge.within("r*, middle of the bracket", scans.r_star(runs), 2.3, 3.1)
    return f"L = 2, N = {runs.weights.item():.0f}, {runs.sizes['seed']} seeds, 1e5 steps"


@claim("LAND-03", "N_Delta/N in [0.35, 0.95] in jammed runs of small loss, nothing in between")
def _jump(dataset: Data) -> judge.Parts:
    near = _near(dataset)
    share = near.share.values
    yield judge.within("N_Delta/N, mean", judge.mean_of(share), 0.35, 0.95)
    yield judge.above("N_Delta/N, smallest", share.min(), 0.35)
    yield judge.below("N_Delta/N, largest", share.max(), 0.95)
    yield judge.below("converged runs with 0.02 < N_Delta/N < 0.25", _between(dataset), 0.0)
    least = int(share.argmin())
    return (
        f"{len(share)} jammed runs with a loss below {scans.LOW_LOSS['random']:g}, L = 2; the "
        f"smallest at a loss of {float(near.loss[least]):.2g}"
    )


@claim("LAND-04", "N_Delta/N < 1 at the transition, at most 0.95")
def _hypostatic(dataset: Data) -> judge.Parts:
    share = _near(dataset).share.values
    yield judge.below("N_Delta/N, mean", judge.mean_of(share), 0.95)
    yield judge.below("N_Delta/N, largest", share.max(), 0.95)
    return f"{len(share)} jammed runs of small loss, L = 2"


@claim("LAND-05", "N_Delta/N is a function of the loss: scatter < 0.2 and less than about r")
def _one_curve(dataset: Data) -> judge.Parts:
    runs = _jammed_of_both(dataset)
    share, logs, ratios = runs["share"], np.log(runs["loss"]), runs["ratio"]
    index = np.arange(len(share))

    def about(x: np.ndarray, drawn: np.ndarray) -> float:
        which = drawn.astype(int)
        return _scatter(x[which], share[which])

    found = judge.resampled(index, lambda i: about(logs, i), resamples=RESAMPLES)
    quotient = judge.resampled(
        index, lambda i: about(logs, i) / max(about(ratios, i), 1e-12), resamples=RESAMPLES
    )
    yield judge.below("scatter about a curve in the loss", found, 0.2)
    yield judge.below("the same over the scatter about a curve in r", quotient, 1.0)
    return (
        f"{len(index)} jammed runs of L = 2 and 3 with r from 2.4 to 3.6, quadratics in log loss "
        f"({about(logs, index):.3f}) and in r ({about(ratios, index):.3f})"
    )


@claim("LAND-06", "misclassified points grow with the loss, slowly at first")
def _misclassified(dataset: Data) -> judge.Parts:
    from scipy.stats import spearmanr

    runs = _jammed_of_both(dataset)
    wrong, loss = runs["misclassified"], runs["loss"]
    both = np.stack([wrong, loss], 1)
    rank = judge.resampled(
        both, lambda drawn: float(spearmanr(*drawn.T).statistic), resamples=RESAMPLES
    )
    small = loss < 1e-3
    if not small.any():
        raise judge.Missing("no jammed run has a loss below 1e-3")
    share = wrong[small] / runs["unfitted"][small]
    yield judge.above("rank correlation of misclassified points and loss", rank, 0.8)
    yield judge.below("misclassified of unmet points at a loss < 1e-3", judge.mean_of(share), 0.05)
    return f"{len(loss)} jammed runs of L = 2 and 3, {int(small.sum())} with a loss below 1e-3"


@claim("LAND-07", "steps to zero loss grow towards r*: at least twofold from r = 2.0 to 2.6")
def _slow(dataset: Data) -> judge.Parts:
    runs = _whole(dataset)
    steps = []
    for ratio in (2.0, 2.2, 2.4, 2.6):
        here = judge.need(runs, "steps", ratio=ratio)
        taken = here.steps.where(scans.dead(here) == 0).where(here.unfitted == 0, np.inf)
        taken = taken.values[(scans.dead(here) == 0).values]
        if not len(taken):
            raise judge.Missing(f"all runs at r = {ratio:g} are dead")
        steps.append(taken)
    medians = [float(np.median(each)) for each in steps]
    finite = [np.where(np.isfinite(each), each, runs.steps.max().item()) for each in steps]
    least = min(b / a for a, b in pairwise(medians))
    small = min(len(finite[0]), len(finite[-1]))
    rise = judge.median_ratio(finite[-1][:small], finite[0][:small])
    yield judge.above("median steps at r = 2.6 over those at 2.0", rise, 2.0)
    yield judge.above("smallest rise of the median from ratio to ratio", min(least, 1e3), 1.0)
    told = ", ".join(f"{each:.3g}" for each in medians)
    return f"median steps {told}; runs that do not fit count as longer than any"


@claim("LAND-08", "tanh jumps too: all fit at r = 2.4, all jam at 4.2 with N_Delta/N >= 0.4")
def _tanh(dataset: Data) -> judge.Parts:
    runs = scans.scan(dataset, "tanh", network=TANH)
    low, high = judge.need(runs, "share", ratio=2.4), judge.need(runs, "share", ratio=4.2)
    fitted, jammed = scans.flag(low, "SAT", "PRECISION"), scans.flag(high, "JAMMED")
    yield judge.above("share of runs that fit at r = 2.4", float(fitted.mean()), 1.0)
    yield judge.above("share of runs that jam at r = 4.2", float(jammed.mean()), 1.0)
    yield judge.above("N_Delta/N at r = 4.2, mean", judge.mean_of(high.share.values), 0.4)
    yield judge.above("N_Delta/N at r = 4.2, smallest", float(high.share.min()), 0.4)
    told = ", ".join(
        f"{float(share):.2f} at {ratio:g}"
        for ratio, share in zip(runs.ratio.values, runs.share.mean("seed"), strict=True)
    )
    return f"L = 3, d = h = 10, {runs.sizes['seed']} seeds; mean N_Delta/N {told}"


@claim("LAND-15", "r* for two rates, whole and half batches: spread < 20 %")
def _optimisers(dataset: Data) -> judge.Parts:
    found = {}
    for rate in (1e-3, 3e-4):
        for batch in (1.0, 0.5):
            own = {"rate": rate, "batch": batch, "network": TWO}
            if batch != 1:
                runs = scans.scan(dataset, "batches", **own)
            else:  # whole batches at 1e-3 are those of the jump
                runs = _whole(dataset) if rate == 1e-3 else scans.scan(dataset, "optimiser", **own)
            found[f"rate {rate:g}, {'whole' if batch == 1 else 'half'} batch"] = scans.r_star(runs)
    ordered = sorted(found.values(), key=lambda each: each.value)
    spread = ordered[-1] / ordered[0]
    yield judge.below("largest r* over smallest", spread, 1.2)
    return "; ".join(f"{name}: {each}" for name, each in found.items())


@claim("LAND-26", "digits: N_Delta/N at the jump in [0.2, 0.8], below that of random labels")
def _digits(dataset: Data) -> judge.Parts:
    runs = scans.scan(dataset, "parity", network=PARITY)
    near = scans.near(runs, "parity")
    if not near.sizes["run"]:
        raise judge.Missing("no jammed run of small loss for digits")
    random = _near(dataset)
    least = float(near.share.min())
    yield judge.within("N_Delta/N of digits, smallest", least, 0.2, 0.8)
    yield judge.above("that of random labels less that of digits", random.share.min() - least, 1e-9)
    return (
        f"L = 2, h = 9, N = {runs.weights.item():.0f}, {near.sizes['run']} jammed runs with a loss "
        f"below {scans.LOW_LOSS['parity']:g}, mean N_Delta/N {float(near.share.mean()):.2f} "
        f"against {float(random.share.mean()):.2f} of {random.sizes['run']} runs for random labels"
    )


@claim("LAND-36", "N_Delta/N >= C0 - N_c/N at every jammed minimum")
def _stable(dataset: Data) -> judge.Parts:
    near = _near(dataset)
    clean = near.isel(run=np.flatnonzero((near.unreached == 0).values))
    if not clean.sizes["run"] or "cusps" not in clean:
        raise judge.Missing("no clean jammed run of small loss")
    bound = clean.negative - clean.cusps
    room = (clean.share - bound).values
    yield judge.above("N_Delta/N - (C0 - N_c/N), smallest", room.min(), 0.0)
    yield judge.above("the same, mean", judge.mean_of(room), 0.0)
    return (
        f"{len(room)} jammed runs of small loss with an active unit for every unmet point, L = 2: "
        f"C0 {float(clean.negative.mean()):.3f}, N_c/N {float(clean.cusps.mean()):.3f}, N_Delta/N "
        f"{float(clean.share.mean()):.2f} on average"
    )


@claim("LAND-38", "r* at eps = 1/2 and at eps = 2 within 10 %")
def _margins(dataset: Data) -> judge.Parts:
    runs = {
        0.5: _whole(dataset),
        2.0: scans.scan(dataset, "margin", network=TWO),
    }
    stars = {margin: scans.r_star(each) for margin, each in runs.items()}
    yield judge.within("r* at eps = 2 over r* at 1/2", stars[2.0] / stars[0.5], 0.9, 1.1)
    return "; ".join(f"eps = {margin:g}: r* = {star}" for margin, star in stars.items())


@claim("LAND-44", "fewer than 20 % of runs near r* are none of the kinds; float32 rounds more")
def _census(dataset: Data) -> judge.Parts:
    runs = _whole(dataset)
    inside = runs.sel(ratio=(runs.ratio >= 2.4 - 1e-9) & (runs.ratio <= 3.1 + 1e-9))
    other = scans.flag(inside, "UNCONVERGED")
    share = judge.mean_of(other.values[np.isfinite(other.values)])
    single = scans.scan(dataset, "single", network=TWO)
    ratios = np.intersect1d(inside.ratio.values, single.ratio.values)
    precisions = {"float32": single, "float64": inside}
    few = [_rounded(each.sel(ratio=ratios), name) for name, each in precisions.items()]
    yield judge.below("share of runs that are none of the kinds", share, 0.2)
    more = few[0] - few[1]
    yield judge.above("runs short by rounding in float32 less those in float64", more, 1.0)
    names = [each for each in rg.measure.RunClass if each >= 0]
    told = ", ".join(f"{int((inside.classes == each).sum())} {each.name.lower()}" for each in names)
    return (
        f"r from {float(inside.ratio.min()):g} to {float(inside.ratio.max()):g}, L = 2: {told}; "
        f"one to four points short by rounding: {few[0]} runs in float32, {few[1]} in float64"
    )


def _whole(dataset: Data) -> Data:
    return scans.scan(dataset, "random", network=TWO)


def _near(dataset: Data) -> Data:
    near = scans.near(_whole(dataset))
    if near.sizes["run"] < 2:
        raise judge.Missing(f"{near.sizes['run']} jammed runs of small loss")
    return near


def _between(dataset: Data) -> int:
    """Converged runs, dead ones left out, that are neither fitted nor far from it."""
    each = scans.alive(_whole(dataset))
    odd = (each.share > 0.02) & (each.share < 0.25) & (each.falling < scans.FALLING)
    return int(odd.sum())


def _jammed_of_both(dataset: Data) -> dict[str, np.ndarray]:
    """The jammed runs of L = 2 and 3 with r in [2.4, 3.6], one after another."""
    found = []
    for block, network in (("random", TWO), ("deep", THREE)):
        each = scans.alive(scans.scan(dataset, block, network=network))
        inside = (each.ratio > 2.39) & (each.ratio < 3.61) & (scans.flag(each, "JAMMED") == 1)
        found.append(each.isel(run=np.flatnonzero(inside.values)))
    if min(each.sizes["run"] for each in found) < 5:
        raise judge.Missing("fewer than five jammed runs of a depth")
    names = ("share", "loss", "ratio", "misclassified", "unfitted")
    return {name: np.concatenate([each[name].values for each in found]) for name in names}


def _scatter(x: np.ndarray, y: np.ndarray) -> float:
    """Root mean square of y about its best quadratic in x."""
    u = (x - x.mean()) / (x.std() or 1.0)
    return float(np.sqrt(np.square(y - np.polyval(np.polyfit(u, y, 2), u)).mean()))


def _rounded(runs: Data, precision: str) -> int:
    """Runs with one to four unmet points, none of them by more than rounding explains.

    The loss that rounding explains is 1e-25 in float64, as for the class PRECISION; in float32 it
    is larger by the square of the ratio of both roundings.
    """
    rounding = {name: float(np.finfo(name).eps) for name in (precision, "float64")}
    limit = 1e-25 * (rounding[precision] / rounding["float64"]) ** 2
    few = (runs.unfitted >= 1) & (runs.unfitted <= 4) & (runs.loss <= limit)
    return int(few.sum())
