"""Verdicts on the phase diagram: its crossover and its jamming line."""

import numpy as np

from regimes.lab import Claim, Data, Verdict
from regimes.lab.judge import (
    Claims,
    Measured,
    Missing,
    Parts,
    above,
    below,
    nearest,
    slope_of,
    within,
)
from regimes.studies.regimes._remarks import numbers
from regimes.studies.regimes.phase_diagram import _lines as lines

# Widths of the ledger's rows and the numbers of training points they are made for. A scan with more
# points is judged at the widths with as many parameters per point (`_scaled`): jamming moves so.
JAMMED_UP_TO = (5, 300)  # widths that jam at every scale (REG-51)
FITS_FROM = (20, 300)  # widths that fit at scale 10 (REG-51)
NEAR = (12, 100)  # close to jamming (REG-55)
WIDE = (24, 100)  # from here on far from jamming (REG-14)
COMPARED = ((24, 100), (96, 100))  # REG-54
CLOSE = 1.25  # a width within this factor stands for one that was asked for
SCALES = (0.1, 1e3)  # the scales of REG-51, at which the border is compared
MANY_POINTS = 1000  # a training set from which REG-53 is judged

claim = Claims()


@claim("REG-14", "a crossover at one sqrt(h) alpha")
def _flat_crossover(dataset: Data) -> Parts:
    x, y, error = _crossings(lines.plane(dataset))
    away = np.abs(y / np.exp(np.log(y).mean()) - 1)
    slope = slope_of(x, y / np.sqrt(x), error / np.sqrt(x))  # of alpha* = crossover/sqrt(h)
    yield within("slope of alpha* in h", slope, -0.58, -0.42)
    yield below("largest deviation of the crossover from its mean", away.max(), 0.2)
    return f"kernel_change = 1 at sqrt(h) alpha = {_told(x, y, error)}"


@claim("REG-39", "no minimum where lazy training wins")
def _best_width(dataset: Data) -> Claim:
    """At fixed alpha the scale grows with h; a minimum appears only where small scales are best."""
    wide = _wide(lines.plane(dataset))
    if wide.sizes["width"] < 3:
        raise Missing(f"three wide widths are needed, {wide.sizes['width']} have finished")
    error = wide.ensemble_error.transpose("width", "scale").values
    scale, widths = wide.scale.values, wide.width.values
    cuts = []
    for alpha in scale / widths[-1] ** 0.5:
        along = [
            np.interp(np.log(alpha * h**0.5), np.log(scale), row, left=np.nan, right=np.nan)
            for h, row in zip(widths, error, strict=True)
        ]
        if np.isfinite(along).all():
            cuts.append(along)
    if not cuts:
        raise Missing("no alpha is covered at every width")
    rise = float(max(cut[-1] - min(cut) for cut in cuts))
    which = "lazy" if error[-1, -1] <= error[-1, 0] else "feature"
    why = (
        f"reported, the ledger sets no limit: {len(cuts)} cuts at fixed alpha, h = "
        f"{int(widths[0])} to {int(widths[-1])}, rise by at most {rise:.4f} from their best width "
        f"to the widest; {which} training is better at the widest"
    )
    expected = "no minimum where lazy training wins"
    return Claim("REG-39", Verdict.INCONCLUSIVE, expected, measured=rise, why=why)


@claim("REG-51", "a jammed region at small widths")
def _jammed(dataset: Data) -> Parts:
    plane = lines.plane(dataset)
    line = lines.jamming(plane)
    known = np.isfinite(line.width)
    if not known.any():
        raise Missing("no width was jammed next to one that fits")
    inside = (line.y >= 0.999 * SCALES[0]) & (line.y <= 1.001 * SCALES[1])
    seen = line.width[known & inside]
    if not len(seen):
        raise Missing(f"no border between the scales {SCALES[0]:g} and {SCALES[1]:g}")
    jammed = ~(plane.fitted > 0).any("seed").transpose("width", "scale")
    widths = plane.width.values
    few = max(1, int((widths <= _scaled(plane, JAMMED_UP_TO)).sum()))
    least = int(nearest(plane, width=_scaled(plane, FITS_FROM)).width)
    middle = nearest(plane, scale=10)
    fit = middle.fitted.sel(width=widths >= least).mean()
    share = f"share of runs from h = {least} on that fit at scale {float(middle.scale):g}"
    ends = f"{SCALES[0]:g} to {SCALES[1]:g}"
    yield above(f"share of points h <= {int(widths[few - 1])} that jam", jammed[:few].mean(), 1.0)
    yield above(share, fit, 1.0)
    yield below(f"jamming width, largest / least for scale {ends}", seen.max() / seen.min(), 2.5)
    told = ", ".join(
        f"{low:g} to {high:g} at {scale:g}"
        for scale, low, high in zip(line.y, line.jammed, line.fits, strict=True)
        if np.isfinite(low)
    )
    why = f"jamming width by sqrt(h) alpha: {told}; n = {int(plane.n_train.max())}"
    if known.sum() > len(seen):
        every = line.width[known]
        why += f"; largest / least over all of these {every.max() / every.min():.2g}"
    never = line.y[jammed.all("width").values]
    if len(never):
        why += f"; no width fits in time at {numbers(never)}"
    return why


@claim("REG-52", "the border moves left in longer runs")
def _slowing_down(dataset: Data) -> Parts:
    plane, shares = lines.plane(dataset), (0.25, 0.5, 1.0)
    found = np.array([lines.border(plane, share) for share in shares])
    seen = np.isfinite(found[-1]) & ~np.isnan(found).any(0)
    if not seen.any():
        raise Missing("the jamming line is not inside the grid within T")
    rows = found[:, seen]
    both = np.isfinite(rows[1])
    if not both.any():
        raise Missing("the jamming line is beyond the grid within T/2")
    with np.errstate(invalid="ignore"):
        moves = np.diff(rows, axis=0)  # inf - inf: beyond the grid both times, no move
    still = (np.nan_to_num(moves) <= 0).all(0)
    yield above("share of scales whose border never moves right", still.mean(), 1.0)
    yield above("mean width at T/2 over that at T", (rows[1] / rows[2])[both].mean(), 1.0)
    told = ", ".join(_mean_border(row, share) for row, share in zip(rows, shares, strict=True))
    return f"mean jamming width {told}; T = {int(plane.budget.max())} steps, {seen.sum()} scales"


@claim("REG-53", "rank correlation >= 0: fewer parameters where the error is small")
def _parameters(dataset: Data) -> Parts:
    from scipy.stats import spearmanr

    plane = lines.plane(dataset)
    width = lines.jamming(plane).width
    error = lines.shown(plane, "ensemble_error").isel(width=-1).values
    seen = np.isfinite(width) & np.isfinite(error)
    if seen.sum() < 4:
        raise Missing(f"the jamming width and the error are known at {seen.sum()} scales")
    if not np.ptp(width[seen]) or not np.ptp(error[seen]):
        raise Missing("every scale has the same jamming width, or the same error")
    rank, off = spearmanr(width[seen], error[seen]).statistic, 1 / np.sqrt(seen.sum() - 1)
    why = f"rank correlation over {seen.sum()} scales of jamming width and wide ensembles' error"
    if float(plane.n_train.max()) < MANY_POINTS:
        raise Missing(f"{rank:.2f} ± {off:.2f}, {why}; judged with {MANY_POINTS} points or more")
    yield within("rank correlation", (rank, off), 0.0, 1.0)
    return why


@claim("REG-54", "parallel lines")
def _parallel(dataset: Data) -> Parts:
    plane, told = lines.plane(dataset), []
    for level in (0.1, 1.0, 10.0):
        x, y, error = _crossings(plane, level)
        a, b = (_closest(x, _scaled(plane, row)) for row in COMPARED)
        if a == b:
            raise Missing("the line is known at one of the two widths only")
        name = f"crossover at h = {int(x[b])} over h = {int(x[a])}, c = {level:g}"
        yield within(name, Measured(y[b], error[b]) / Measured(y[a], error[a]), 0.75, 1.25)
        told.append(f"c = {level:g}: {_told(x, y, error)}")
    return "; ".join(told)


@claim("REG-55", "lines bend up near jamming")
def _bending(dataset: Data) -> Parts:
    plane = lines.plane(dataset)
    x, y, error = _crossings(plane)
    wanted = _scaled(plane, NEAR)
    narrow = plane.sel(width=plane.width < _scaled(plane, WIDE))
    if not narrow.sizes["width"]:
        raise Missing(f"no width near {wanted:.0f} has run")
    h, found, off = lines.crossover(narrow)
    if not len(h):
        raise Missing(f"the crossover was not met at h = {wanted:.0f}: its runs are unfitted")
    k = _closest(h, wanted)
    name = f"crossover at h = {int(h[k])} over that at h = {int(x[-1])}"
    yield above(name, Measured(found[k], off[k]) / Measured(y[-1], error[-1]), 1.0)
    return f"{found[k]:.3g} ± {off[k]:.2g} and {_told(x, y, error)}"


def _scaled(plane: Data, row: tuple[int, int]) -> float:
    """The width with as many parameters per point as a row's width with the row's points.

    Two hidden layers on ten components: N = h^2 + 11 h.
    """
    width, points = row
    weights = (width**2 + 11 * width) * max(1.0, float(plane.n_train.max()) / points)
    return float(np.sqrt(weights + 5.5**2) - 5.5)


def _closest(widths: np.ndarray, wanted: float) -> int:
    """Where the width is that stands for the one that is wanted."""
    k = int(np.abs(np.log(widths / wanted)).argmin())
    if not 1 / CLOSE <= widths[k] / wanted <= CLOSE:
        raise Missing(f"no width near {wanted:.0f} has run, or the line is not known there")
    return k


def _wide(plane: Data) -> Data:
    return plane.sel(width=plane.width >= _scaled(plane, WIDE))


def _crossings(plane: Data, level: float = 1.0) -> tuple[np.ndarray, ...]:
    """Widths, scales of the crossover and their errors, for wide networks."""
    wide = _wide(plane)
    if not wide.sizes["width"] or wide.sizes["seed"] < 2:
        least = _scaled(plane, WIDE)
        raise Missing(f"no finished widths from {least:.0f} on with two seeds or more")
    x, y, error = lines.crossover(wide, level)
    if len(x) < 2:
        raise Missing(f"kernel_change = {level:g} was met at {len(x)} widths")
    return x, y, error


def _told(x: np.ndarray, y: np.ndarray, error: np.ndarray) -> str:
    return ", ".join(
        f"{v:.3g} ± {e:.2g} at h = {int(h)}" for h, v, e in zip(x, y, error, strict=True)
    )


def _mean_border(row: np.ndarray, share: float) -> str:
    inside, beyond = row[np.isfinite(row)], np.isinf(row).sum()
    if not len(inside):
        return f"beyond the grid within {share:g} T"
    more = f" (beyond the grid at {beyond} scales)" if beyond else ""
    return f"{inside.mean():.3g} within {share:g} T{more}"
