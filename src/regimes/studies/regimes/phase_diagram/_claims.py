"""Verdicts on the phase diagram: REG-14, REG-39 and REG-51 to REG-55."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.lab.judge import Missing
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes.phase_diagram import _lines as lines

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

# Widths of the ledger's rows and the numbers of training points they are made for. A scan with more
# points is judged at the widths with as many parameters a point (`_scaled`): jamming moves so.
JAMMED_UP_TO = (5, 300)  # widths that jam at every scale (REG-51)
FITS_FROM = (20, 300)  # widths that fit at at = 10 (REG-51)
NEAR = (12, 100)  # close to jamming (REG-55)
WIDE = (24, 100)  # from here on far from jamming (REG-14)
COMPARED = ((24, 100), (96, 100))  # REG-54
CLOSE = 1.25  # a width within this factor stands for one that was asked for
SCALES = (0.1, 1e3)  # the scales of REG-51, at which the border is compared
MANY_POINTS = 1000  # a training set from which REG-53 is judged


def phase_claims(dataset: xr.Dataset) -> list[Claim]:
    """All of them, from the widths that have run."""
    done = lines.finished(dataset)
    judged: tuple[tuple[str, str, Callable[[xr.Dataset], Claim]], ...] = (
        ("REG-14", "a crossover at one sqrt(h) alpha", _flat_crossover),
        ("REG-39", "no minimum where lazy training wins", _best_width),
        ("REG-51", "a jammed region at small widths", _jammed),
        ("REG-52", "the border moves left in longer runs", _slowing_down),
        ("REG-53", "fewer parameters where the error is small", _parameters),
        ("REG-54", "parallel lines", _parallel),
        ("REG-55", "lines bend up near jamming", _bending),
    )
    claims = []
    for id, expected, judge in judged:
        try:
            if not done.sizes.get("width"):
                raise Missing("no width has run at every scale")
            claims.append(judge(done))
        except Missing as reason:
            claims.append(Claim.unclear(id, expected, why=str(reason)))
    return claims


def _scaled(dataset: xr.Dataset, row: tuple[int, int]) -> float:
    """The width with as many parameters a point as a row's width with the row's points.

    Two hidden layers on ten components: N = h^2 + 11 h.
    """
    width, points = row
    weights = (width**2 + 11 * width) * max(1.0, float(dataset.n_train.max()) / points)
    return float(np.sqrt(weights + 5.5**2) - 5.5)


def _closest(widths: np.ndarray, wanted: float) -> int:
    """Where the width is that stands for the one that is wanted."""
    k = int(np.abs(np.log(widths / wanted)).argmin())
    if not 1 / CLOSE <= widths[k] / wanted <= CLOSE:
        raise Missing(f"no width near {wanted:.0f} has run, or the line is not known there")
    return k


def _crossings(dataset: xr.Dataset, level: float = 1.0) -> tuple[np.ndarray, ...]:
    """Widths, at*, its error, for wide networks."""
    least = _scaled(dataset, WIDE)
    wide = dataset.isel(width=np.flatnonzero(dataset.width.values >= least))
    if not wide.sizes["width"] or wide.sizes["seed"] < 2:
        raise Missing(f"no finished widths from {least:.0f} on with two seeds or more")
    line = lines.crossover(wide, level)
    met = np.isfinite(line.y)
    if met.sum() < 2:
        raise Missing(f"kernel_change = {level:g} was met at {met.sum()} widths")
    return line.x[met], line.y[met], line.error[met]


def _told(x: np.ndarray, y: np.ndarray, error: np.ndarray) -> str:
    return ", ".join(
        f"{v:.3g} ± {e:.2g} at h = {int(h)}" for h, v, e in zip(x, y, error, strict=True)
    )


def _flat_crossover(dataset: xr.Dataset) -> Claim:
    x, y, error = _crossings(dataset)
    middle = np.exp(np.log(y).mean())
    away = np.abs(y / middle - 1)
    worst = int(away.argmax())
    # slope of alpha* = at*/sqrt(h) in h, with the error of the points
    u = np.log(x) - np.log(x).mean()
    slope = float((u * np.log(y)).sum() / (u**2).sum()) - 0.5
    spread = float(np.sqrt(((u * error / y) ** 2).sum()) / (u**2).sum())
    parts = [
        Part("slope of alpha* in h", slope, -0.58, -0.42, spread),
        Part("largest deviation of at* from its mean", away[worst], high=0.2),
    ]
    why = f"kernel_change = 1 at sqrt(h) alpha = {_told(x, y, error)}"
    return claim_of_parts("REG-14", parts, why=why)


def _parallel(dataset: xr.Dataset) -> Claim:
    ratios, spreads, told = [], [], []
    for level in (0.1, 1.0, 10.0):
        x, y, error = _crossings(dataset, level)
        a, b = (_closest(x, _scaled(dataset, row)) for row in COMPARED)
        if a == b:
            raise Missing("the line is known at one of the two widths only")
        ratios.append(y[b] / y[a])
        spreads.append(ratios[-1] * np.hypot(error[b] / y[b], error[a] / y[a]))
        told.append(f"c = {level:g}: {_told(x, y, error)}")
    parts = [
        Part(
            f"at* at h = {int(x[b])} over h = {int(x[a])}, c = {level:g}", ratio, 0.75, 1.25, spread
        )
        for level, ratio, spread in zip((0.1, 1.0, 10.0), ratios, spreads, strict=True)
    ]
    return claim_of_parts("REG-54", parts, why="; ".join(told))


def _bending(dataset: xr.Dataset) -> Claim:
    x, y, error = _crossings(dataset)
    wanted = _scaled(dataset, NEAR)
    narrow = dataset.isel(width=np.flatnonzero(dataset.width.values < _scaled(dataset, WIDE)))
    if not narrow.sizes["width"]:
        raise Missing(f"no width near {wanted:.0f} has run")
    line = lines.crossover(narrow)
    met = np.isfinite(line.y)
    if not met.any():
        raise Missing(f"the crossover was not met at h = {wanted:.0f}: its runs are unfitted")
    near = _closest(line.x[met], wanted)
    h, found, off = int(line.x[met][near]), line.y[met][near], line.error[met][near]
    ratio = found / y[-1]
    spread = ratio * float(np.hypot(off / found, error[-1] / y[-1]))
    part = Part(f"at* at h = {h} over that at h = {int(x[-1])}", ratio, low=1.0, error=spread)
    why = f"{found:.3g} ± {off:.2g} and {_told(x, y, error)}"
    return claim_of_parts("REG-55", [part], why=why)


def _jammed(dataset: xr.Dataset) -> Claim:
    line = lines.jamming(dataset)
    if not np.isfinite(line.width).any():
        raise Missing("no width was jammed next to one that fits")
    jammed = ~(dataset.fitted > 0).any("seed").transpose("width", "at")
    widths = dataset.width.values
    few = max(1, int((widths <= _scaled(dataset, JAMMED_UP_TO)).sum()))
    least = int(widths[np.abs(np.log(widths / _scaled(dataset, FITS_FROM))).argmin()])
    middle = dataset.at.values[np.abs(np.log(dataset.at.values / 10)).argmin()]
    wide = dataset.fitted.sel(at=middle).isel(width=np.flatnonzero(widths >= least))
    inside = (line.y >= 0.999 * SCALES[0]) & (line.y <= 1.001 * SCALES[1])
    seen = line.width[np.isfinite(line.width) & inside]
    if not len(seen):
        raise Missing(f"no border between the scales {SCALES[0]:g} and {SCALES[1]:g}")
    parts = [
        Part(
            f"share of points h <= {int(widths[few - 1])} that jam",
            float(jammed[:few].mean()),
            low=1.0,
        ),
        Part(
            f"share of runs from h = {least} on that fit at at = {middle:g}",
            float(wide.mean()),
            1.0,
        ),
        Part(
            f"jamming width, largest / least for at = {SCALES[0]:g} to {SCALES[1]:g}",
            seen.max() / seen.min(),
            high=2.5,
        ),
    ]
    told = ", ".join(
        f"{low:g} to {high:g} at {at:g}"
        for at, low, high in zip(line.y, line.jammed, line.fits, strict=True)
        if np.isfinite(low)
    )
    why = f"jamming width by sqrt(h) alpha: {told}; n = {int(dataset.n_train.max())}"
    every = line.width[np.isfinite(line.width)]
    if len(every) > len(seen):
        why += f"; largest / least over all of these {every.max() / every.min():.2g}"
    never = line.y[jammed.all("width").values]
    if len(never):
        why += f"; no width fits in time at {', '.join(f'{at:g}' for at in never)}"
    return claim_of_parts("REG-51", parts, why=why)


def _slowing_down(dataset: xr.Dataset) -> Claim:
    shares = (0.25, 0.5, 1.0)
    found = np.array([lines.border(dataset, share) for share in shares])
    seen = np.isfinite(found[-1]) & ~np.isnan(found).any(0)
    if not seen.any():
        raise Missing("the jamming line is not inside the grid within T")
    if not np.isfinite(found[-2][seen]).any():
        raise Missing("the jamming line is beyond the grid within T/2")
    rows = found[:, seen]
    with np.errstate(invalid="ignore"):
        moves = np.diff(rows, axis=0)  # inf - inf: beyond the grid both times, no move
    both = np.isfinite(rows[1])
    parts = [
        Part(
            "share of scales whose border never moves right",
            float((np.nan_to_num(moves) <= 0).all(0).mean()),
            low=1.0,
        ),
        Part("mean width at T/2 over that at T", float((rows[1] / rows[2])[both].mean()), low=1.0),
    ]
    told = ", ".join(
        f"{np.mean(row[np.isfinite(row)]):.3g} within {share:g} T"
        + (f" (beyond the grid at {np.isinf(row).sum()} scales)" if np.isinf(row).any() else "")
        if np.isfinite(row).any()
        else f"beyond the grid within {share:g} T"
        for share, row in zip(shares, rows, strict=True)
    )
    why = f"mean jamming width {told}; T = {int(dataset.budget.max())} steps, {seen.sum()} scales"
    return claim_of_parts("REG-52", parts, why=why)


def _parameters(dataset: xr.Dataset) -> Claim:
    from scipy.stats import spearmanr

    line = lines.jamming(dataset)
    error = lines.shown(dataset, "ensemble_error").isel(width=-1)
    seen = np.isfinite(line.width) & np.isfinite(error.values)
    if seen.sum() < 4:
        raise Missing(f"the jamming width and the error are known at {seen.sum()} scales")
    if not np.ptp(line.width[seen]) or not np.ptp(error.values[seen]):
        raise Missing("every scale has the same jamming width, or the same error")
    rank = float(spearmanr(line.width[seen], error.values[seen]).statistic)
    spread = float(1 / np.sqrt(seen.sum() - 1))
    why = f"rank correlation over {seen.sum()} scales of jamming width and wide ensembles' error"
    if float(dataset.n_train.max()) < MANY_POINTS:
        told = f"{rank:.2f} ± {spread:.2f}, {why}; judged with {MANY_POINTS} points or more"
        return Claim.unclear("REG-53", "rank correlation >= 0", why=told)
    return claim_of_parts("REG-53", [Part("rank correlation", rank, 0.0, 1.0, spread)], why=why)


def _best_width(dataset: xr.Dataset) -> Claim:
    """At fixed alpha the scale grows with h; a minimum appears only where small scales are best."""
    least = _scaled(dataset, WIDE)
    wide = dataset.isel(width=np.flatnonzero(dataset.width.values >= least))
    if wide.sizes["width"] < 3:
        raise Missing(f"fewer than three finished widths from {least:.0f} on")
    error = wide.ensemble_error.transpose("width", "at").values
    at, widths = wide.at.values, wide.width.values
    cuts = []
    for alpha in at / widths[-1] ** 0.5:
        along = [
            np.interp(np.log(alpha * h**0.5), np.log(at), row, left=np.nan, right=np.nan)
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
    return replace(
        Claim.unclear("REG-39", "no minimum where lazy training wins", why=why), measured=rise
    )
