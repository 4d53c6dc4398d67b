"""Verdicts on the phase diagram: its crossover and its jamming line."""

from dataclasses import replace

import numpy as np

from regimes.lab import Claim, Data, Verdict, judge
from regimes.studies.regimes import _lines as lines
from regimes.studies.regimes._crossover import MANY_POINTS, WIDE, scaled
from regimes.studies.regimes._crossover import claim as crossing
from regimes.studies.regimes._remarks import numbers

JAMMED_UP_TO = (5, 300)  # widths and points of REG-51: these jam at every scale
FITS_FROM = (20, 300)  # and from here on they fit at scale 10
SCALES = (0.1, 1e3)  # the scales of REG-51, at which the border is compared

claim = judge.Claims(crossing)


@claim("REG-39", "no minimum where lazy training wins", report=True)
def _best_width(dataset: Data) -> Claim:
    """At fixed alpha the scale grows with h; a minimum appears only where small scales are best."""
    wide = _wide(lines.plane(dataset))
    if wide.sizes["width"] < 3:
        raise judge.Missing(f"three wide widths are needed, {wide.sizes['width']} have finished")
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
        raise judge.Missing("no alpha is covered at every width")
    rise = float(max(cut[-1] - min(cut) for cut in cuts))
    which = "lazy" if error[-1, -1] <= error[-1, 0] else "feature"
    why = (
        f"no limit is set: {len(cuts)} cuts at fixed alpha, h = "
        f"{int(widths[0])} to {int(widths[-1])}, rise by at most {rise:.4f} from their best width "
        f"to the widest; {which} training is better at the widest"
    )
    expected = "no minimum where lazy training wins"
    return Claim("REG-39", Verdict.REPORTED, expected, measured=rise, why=why)


@claim("REG-51", "a jammed region at small widths")
def _jammed(dataset: Data) -> judge.Parts:
    plane = lines.plane(dataset)
    line = lines.jamming(plane)
    known = np.isfinite(line.width)
    if not known.any():
        raise judge.Missing("no width was jammed next to one that fits")
    inside = (line.y >= 0.999 * SCALES[0]) & (line.y <= 1.001 * SCALES[1])
    seen = line.width[known & inside]
    if not len(seen):
        raise judge.Missing(f"no border between the scales {SCALES[0]:g} and {SCALES[1]:g}")
    jammed = ~(plane.fitted > 0).any("seed").transpose("width", "scale")
    widths = plane.width.values
    few = max(1, int((widths <= scaled(plane, JAMMED_UP_TO)).sum()))
    least = int(judge.nearest(plane, width=scaled(plane, FITS_FROM)).width)
    middle = judge.nearest(plane, scale=10)
    fit = middle.fitted.sel(width=widths >= least).mean()
    share = f"share of runs from h = {least} on that fit at scale {float(middle.scale):g}"
    ends = f"{SCALES[0]:g} to {SCALES[1]:g}"
    yield judge.above(
        f"share of points h <= {int(widths[few - 1])} that jam", jammed[:few].mean(), 1.0
    )
    yield judge.above(share, fit, 1.0)
    yield judge.below(
        f"jamming width, largest / least for scale {ends}", seen.max() / seen.min(), 2.5
    )
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


@claim("REG-52", "the border moves left in longer runs", report=True)
def _slowing_down(dataset: Data) -> judge.Parts:
    """Reported: runs that fit within T/2 fit within T, so that no border can move right."""
    plane, shares = lines.plane(dataset), (0.25, 0.5, 1.0)
    found = np.array([lines.border(plane, share) for share in shares])
    seen = np.isfinite(found[-1]) & ~np.isnan(found).any(0)
    if not seen.any():
        raise judge.Missing("the jamming line is not inside the grid within T")
    rows = found[:, seen]
    both = np.isfinite(rows[1])
    if not both.any():
        raise judge.Missing("the jamming line is beyond the grid within T/2")
    yield judge.above("mean width at T/2 over that at T", (rows[1] / rows[2])[both].mean(), 1.0)
    told = ", ".join(_mean_border(row, share) for row, share in zip(rows, shares, strict=True))
    return f"mean jamming width {told}; T = {int(plane.budget.max())} steps, {seen.sum()} scales"


@claim("REG-53", "rank correlation >= 0: fewer parameters where the error is small")
def _parameters(dataset: Data) -> Claim:
    """Judged with many points only; with fewer it is reported."""
    from scipy.stats import spearmanr

    plane = lines.plane(dataset)
    width = lines.jamming(plane).width
    error = lines.shown(plane, "ensemble_error").isel(width=-1).values
    seen = np.isfinite(width) & np.isfinite(error)
    if seen.sum() < 4:
        raise judge.Missing(f"the jamming width and the error are known at {seen.sum()} scales")
    if not np.ptp(width[seen]) or not np.ptp(error[seen]):
        raise judge.Missing("every scale has the same jamming width, or the same error")
    rank, off = spearmanr(width[seen], error[seen]).statistic, 1 / np.sqrt(seen.sum() - 1)
    why = f"rank correlation over {seen.sum()} scales of jamming width and wide ensembles' error"
    found = judge.claim_of_parts(
        "REG-53", [judge.above("rank correlation", (rank, off), 0.0)], why=why
    )
    if float(plane.n_train.max()) >= MANY_POINTS:
        return found
    why = f"{found.why}; judged with {MANY_POINTS} points or more"
    return replace(found, verdict=Verdict.REPORTED, why=why)


def _wide(plane: Data) -> Data:
    return plane.sel(width=plane.width >= scaled(plane, WIDE))


def _mean_border(row: np.ndarray, share: float) -> str:
    inside, beyond = row[np.isfinite(row)], np.isinf(row).sum()
    if not len(inside):
        return f"beyond the grid within {share:g} T"
    more = f" (beyond the grid at {beyond} scales)" if beyond else ""
    return f"{inside.mean():.3g} within {share:g} T{more}"
