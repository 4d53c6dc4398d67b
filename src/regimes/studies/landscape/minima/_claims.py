"""Verdicts on jammed minima: spectra, exponents, kinks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.landscape.minima._spectra import GAPS, OVERLAPS, TAUS

TAU = 1e-3  # LAND-35
SMALL_LOSS = 1e-4  # LAND-29
LEAST_RUNS, LEAST_SAMPLES = 10, 10

claim = judge.Claims()


def jammed(dataset: Data, network: str, least: int = 6) -> tuple[Data, np.ndarray]:
    """Everything of one network, and which of its runs are jammed, (excess, seed)."""
    own = judge.need(dataset, "classes", network=network).transpose("excess", "seed", ...)
    mask = own.classes.values == rg.measure.RunClass.JAMMED
    if mask.sum() < least:
        raise judge.Missing(f"{int(mask.sum())} runs of {network} are jammed, {least} are needed")
    return own, mask


def by_seed(values: np.ndarray, mask: np.ndarray) -> judge.Measured:
    """Mean over the runs in the mask; its error from the seeds, whose runs share points."""
    held = np.where(mask, values, np.nan).T
    held = held[np.isfinite(held).any(1)]
    return judge.resampled(held, lambda drawn: float(np.nanmean(drawn)))


def told(mask: np.ndarray) -> str:
    """How many runs there are."""
    return f"{int(mask.sum())} of {mask.size} runs jammed"


def _symmetric(dataset: Data, networks: tuple[str, ...]) -> judge.Parts:
    """LAND-17: signs, third moment and trace of Hp, after training and at the start."""
    for network in networks:
        own, mask = jammed(dataset, network)
        everywhere = np.ones_like(mask)
        for when, prefix, runs in (("", "hp", mask), (" at the start", "start_hp", everywhere)):
            name = f"{network}{when}"
            yield judge.within(
                f"negative share, {name}", by_seed(own[f"{prefix}_share"].values, runs), 0.48, 0.52
            )
            skew = abs(by_seed(own[f"{prefix}_skew"].values, runs))
            yield judge.below(f"third moment, {name}", skew, 0.05)
            trace = np.abs(own[f"{prefix}_trace"].values[runs]).max()
            yield judge.below(f"largest trace, {name}", trace, 1e-12)
    return ""


@claim("LAND-17", "negative share 0.48 to 0.52, third moment < 0.05, trace < 1e-12")
def _symmetry(dataset: Data) -> judge.Parts:
    networks = ("relu-2", "relu-3")
    yield from _symmetric(dataset, networks)
    counts, weighed = [], []
    for name in networks:
        own, mask = jammed(dataset, name)
        counts.append(f"{name} {told(mask)}")
        skew = by_seed(own.start_weighed_hp_skew.values, np.ones_like(mask))
        weighed.append(f"{name} {skew}")
    return (
        f"after training {', '.join(counts)}; at the start all points weigh alike; with weights "
        f"Delta the third moment there is {', '.join(weighed)}"
    )


def _slope(loss: np.ndarray, spread: np.ndarray, mask: np.ndarray) -> judge.Measured:
    both = np.where(mask, np.stack([np.log10(loss), np.log10(spread)]), np.nan)
    rows = both.transpose(2, 0, 1)  # a row for each seed
    rows = rows[np.isfinite(rows).any((1, 2))]

    def fitted(drawn: np.ndarray) -> float:
        x, y = drawn[:, 0].ravel(), drawn[:, 1].ravel()
        seen = np.isfinite(x)
        return float(np.polyfit(x[seen], y[seen], 1)[0])

    return judge.resampled(rows, fitted)


@claim("LAND-18", "log std(lambda) against log loss has slope 0.25 to 0.65")
def _root(dataset: Data) -> judge.Parts:
    for network in ("relu-2", "relu-3"):
        own, mask = jammed(dataset, network)
        loss = own.end_loss.values
        slope = _slope(loss, own.hp_spread.values, mask)
        yield judge.within(f"slope, {network}", slope, 0.25, 0.65)
        decades = float(np.ptp(np.log10(loss[mask])))
        yield judge.above(f"decades of loss, {network}", decades, 1.5)
    return "the paper: 1/2"


@claim("LAND-19", "zeros of Hp at most twice the hidden neurons")
def _zeros(dataset: Data) -> judge.Parts:
    own, mask = jammed(dataset, "relu-3")
    hidden = float(own.hidden.max())
    zeros = own.hp_zeros.values[mask]
    yield judge.below("most zero modes of Hp / hidden neurons", zeros.max() / hidden, 2.0)
    return f"median {np.median(zeros):g} for {hidden:g} hidden neurons; {told(mask)}"


def _rank(dataset: Data, networks: tuple[str, ...]) -> judge.Parts:
    """LAND-20: rank of H0 and the step above its zeros."""
    for network in networks:
        own, mask = jammed(dataset, network)
        own_rows = mask & (own.unfitted.values < float(own.weights.max()))
        if own_rows.sum() < 3:
            raise judge.Missing(f"fewer than three jammed runs of {network} have N_Delta < N")
        apart = np.abs(own.h0_rank - _directions(own)).values[own_rows]
        yield judge.below(f"largest |rank(H0) - N_Delta|, {network}", apart.max(), 2)
        step = own.h0_step.values[own_rows].min()
        yield judge.above(f"least eigenvalue / largest zero, {network}", step, 1e5)
    return ""


def _directions(own: Data) -> Data:
    """N_Delta, where all points that no gradient of the weights reaches share one direction."""
    return own.unfitted - np.maximum(own.unreached - 1, 0)


@claim("LAND-20", "rank(H0) = N_Delta within 2, zeros 1e5 times below the rest")
def _kernel(dataset: Data) -> judge.Parts:
    networks = ("relu-2", "relu-3")
    yield from _rank(dataset, networks)
    return ", ".join(f"{name}: {told(jammed(dataset, name)[1])}" for name in networks)


@claim("LAND-21", "Spearman(gap, N_Delta) < -0.5")
def _closing(dataset: Data) -> judge.Parts:
    from scipy.stats import spearmanr

    own, mask = jammed(dataset, "relu-2")
    rows = mask & (own.unfitted.values < float(own.weights.max()))
    if rows.sum() < 6:
        raise judge.Missing(f"{int(rows.sum())} runs have N_Delta < N, six are needed")
    pairs = np.stack([own.h0_least.values[rows], own.unfitted.values[rows]], 1)
    found = judge.resampled(pairs, lambda drawn: float(spearmanr(*drawn.T).statistic))
    yield judge.below("rank correlation", found, -0.5)
    few, many = pairs[:, 1].argmin(), pairs[:, 1].argmax()
    return (
        f"gap {pairs[few, 0]:.2g} at N_Delta = {pairs[few, 1]:g}, {pairs[many, 0]:.2g} at "
        f"{pairs[many, 1]:g}; {int(rows.sum())} runs"
    )


@claim("LAND-22", "negative share of H 0.03 to 0.25 for relu, a third of that at most for tanh")
def _negative(dataset: Data) -> judge.Parts:
    own, mask = jammed(dataset, "relu-2")
    relu = by_seed(own.h_negative.values, mask)
    yield judge.within("negative share of H, relu", relu, 0.03, 0.25)
    own, mask = jammed(dataset, "tanh-3")
    first = judge.need(own, "polished_h_negative").polished_h_negative.values
    runs = mask & np.isfinite(first)
    if runs.sum() < 3:
        raise judge.Missing(f"{int(runs.sum())} jammed runs of tanh were polished")
    tanh = by_seed(first, runs)
    yield judge.below("that of tanh / that of relu", tanh / relu, 1 / 3)
    adam = by_seed(own.h_negative.values, runs)
    fall = (own.polished_end_loss / own.end_loss).values[runs]
    return (
        f"tanh {adam} after Adam, {tanh} after Newton's method, which lowered the loss to "
        f"{np.median(fall):.3g} of it; {int(runs.sum())} runs"
    )


@claim("LAND-23", "negative share of Hp 0.38 to 0.50, trace > 0.01 for tanh")
def _asymmetric(dataset: Data) -> judge.Parts:
    own, mask = jammed(dataset, "tanh-3")
    share = by_seed(own.hp_negative.values, mask)
    yield judge.within("negative eigenvalues of Hp / parameters", share, 0.38, 0.50)
    trace = by_seed(np.abs(own.hp_trace.values), mask)
    yield judge.above("|tr Hp| / tr |Hp|", trace, 0.01)
    return f"{told(mask)}; the paper: 0.43"


@claim("LAND-27", "Hp symmetric, H0 with a zero peak and a gap for digits, as for random labels")
def _digits(dataset: Data) -> judge.Parts:
    yield from _symmetric(dataset, ("parity-2",))
    yield from _rank(dataset, ("parity-2",))
    own, mask = jammed(dataset, "parity-2")
    blurred = by_seed(own.h_negative.values, mask)
    return f"{told(mask)}; negative share of H {blurred}"


def exponent(own: Data, runs: np.ndarray, name: str, window: tuple[float, float]) -> judge.Measured:
    """Of the density of gaps or overlaps of these runs, its error from the seeds."""
    counts = np.where(runs, own[f"{name}_count"].values, 0).sum(0)
    sums = np.where(runs, own[f"{name}_sum"].values, 0.0).sum(0)
    if counts.sum() < LEAST_SAMPLES:
        raise judge.Missing(f"{counts.sum():g} {name}s in [{window[0]:g}, {window[1]:g}]")
    found = rg.measure.exponent_of_sums(rg.measure.TailSums(window, counts, sums))
    return judge.Measured(found.exponent, found.error)


def _gaps(dataset: Data, network: str) -> tuple[judge.Measured, str]:
    own, mask = jammed(dataset, network, LEAST_RUNS)
    gamma = -exponent(own, mask, "gap", GAPS)
    count = int(np.where(mask, own.gap_count.values, 0).sum())
    return gamma, f"{count} gaps in [{GAPS[0]:g}, {GAPS[1]:g}] of {told(mask)}"


@claim("LAND-28", "gamma in [0.05, 0.40]")
def _gamma(dataset: Data) -> judge.Parts:
    gamma, why = _gaps(dataset, "relu-2")
    yield judge.within("gamma, relu-2", gamma, 0.05, 0.40)
    other = _told_of(lambda: f"relu-3: {_gaps(dataset, 'relu-3')[0]}")
    return f"{why}; {other}; the paper: 0.2"


def _told_of(make: Callable[[], str]) -> str:
    try:
        return make()
    except judge.Missing as missing:
        return str(missing)


def _overlaps(dataset: Data, network: str) -> tuple[judge.Measured, str]:
    own, mask = jammed(dataset, network)
    runs = mask & (own.end_loss.values < SMALL_LOSS) & (own.misclassified.values == 0)
    if runs.sum() < 3:
        raise judge.Missing(
            f"{int(runs.sum())} jammed runs of {network} have a loss below {SMALL_LOSS:g} and "
            "every point on its side"
        )
    count = int(np.where(runs, own.overlap_count.values, 0).sum())
    theta = exponent(own, runs, "overlap", OVERLAPS)
    return (
        theta,
        f"{count} overlaps in [{OVERLAPS[0]:g}, {OVERLAPS[1]:g}] of {int(runs.sum())} runs",
    )


@claim("LAND-29", "theta in [-0.1, 0.7]")
def _theta(dataset: Data) -> judge.Parts:
    theta, why = _overlaps(dataset, "relu-2")
    yield judge.within("theta, relu-2", theta, -0.1, 0.7)
    return f"{why}; the paper: 0.3"


@claim("LAND-30", "gamma in [0, 0.4] for tanh")
def _tanh(dataset: Data) -> judge.Parts:
    gamma, why = _gaps(dataset, "tanh-3")
    yield judge.within("gamma, tanh-3", gamma, 0.0, 0.4)

    def theta() -> str:
        found, runs = _overlaps(dataset, "tanh-3")
        return f"theta {found}, {runs}"

    return f"{why}; {_told_of(theta)}; the paper: gamma 0.16, theta 0.2"


@claim("LAND-31", "gamma in [0.05, 0.5] for digits")
def _digit_gaps(dataset: Data) -> judge.Parts:
    gamma, why = _gaps(dataset, "parity-2")
    yield judge.within("gamma, parity-2", gamma, 0.05, 0.5)
    return f"{why}; the paper: 0.25"


@claim("LAND-35", "N_c/N in [0.08, 0.40] on training points, a fifth of it at most on others")
def _peak(dataset: Data) -> judge.Parts:
    own, mask = jammed(dataset, "relu-2")
    train, fresh = (kinks(own, name) for name in ("train", "fresh"))
    here = by_seed(train, mask)
    yield judge.within("N_c/N, training points", here, 0.08, 0.40)
    yield judge.below("that of other points / that", by_seed(fresh, mask) / here, 0.2)
    others = []
    for network in ("relu-3", "parity-2"):

        def share(network: str = network) -> str:
            other, runs = jammed(dataset, network)
            return f"{network}: {by_seed(kinks(other, 'train'), runs)}"

        others.append(_told_of(share))
    return f"tau = {TAU:g}; {told(mask)}; {', '.join(others)}"


def kinks(own: Data, points: str, tau: float = TAU) -> np.ndarray:
    """N_c/N of all layers at one width of the peak, (excess, seed)."""
    counts = own[f"{points}_kinks"].isel(tau=TAUS.index(tau)).sum("layer")
    found: np.ndarray = (counts / float(own.weights.max())).transpose("excess", "seed").values
    return found
