"""Verdicts on jamming: REG-58, REG-59 and REG-60, by the protocols of spec `landscape`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts

if TYPE_CHECKING:
    import xarray as xr

EXPECTED = {
    "REG-58": "|f| ~ 1/(N - N*)",
    "REG-59": "C0 N <= N_Delta <= N at jamming, C0 0.5 for relu, 0.43 for tanh; a gap in H0",
    "REG-60": "N* ~ P for random labels, slower for digits; dN*/dP follows the test error",
}
FALLING = 0.01  # fall of the loss over the last tenth of a run that has not converged (S5)
LOW_LOSS = {"random": 2e-3, "parity": 5e-3}  # of LAND-03 and LAND-26, at margin 1/2 (A1)


def outcomes(dataset: xr.Dataset) -> xr.Dataset:
    """Runs told apart as in S5: `fit`, `dead`, `jammed` (0 or 1) and `share` = N_Delta/N.

    Runs that still fall count as jammed here. All are NaN where nothing ran.
    """
    import xarray as xr

    from regimes.measure import RunClass, run_classes

    names = ("unfitted", "parameters", "loss", "far", "reached")
    classes = xr.apply_ufunc(run_classes, *(dataset[name] for name in names))
    told = {
        "fit": classes.isin([RunClass.SAT, RunClass.PRECISION]),
        "dead": classes == RunClass.DEAD,
        "jammed": classes == RunClass.JAMMED,
    }
    ran = classes != RunClass.NOT_RUN
    return dataset.assign(
        {name: flags.astype(float).where(ran) for name, flags in told.items()}
        | {"share": dataset.unfitted / dataset.parameters}
    )


def cut(dataset: xr.Dataset, labels: str, p: float, trainer: str = "fast") -> xr.Dataset:
    """The widths that ran for these labels and points, told apart, from narrow to wide."""
    chosen = dataset.sel(labels=labels, n_train=p, trainer=trainer).drop_vars("negative")
    return outcomes(chosen.dropna("width", how="all", subset=["unfitted"]).sortby("width"))


@dataclass(frozen=True)
class Stars:
    """N* at some P: between the last width that jams and the next."""

    p: np.ndarray  # (n,)
    low: np.ndarray  # N of the last width that jams
    high: np.ndarray  # N of the next

    @property
    def middle(self) -> np.ndarray:
        """sqrt(N1 N2)."""
        return np.sqrt(self.low * self.high)


def n_star(dataset: xr.Dataset, labels: str) -> Stars:
    """N* by the 0.1 N rule (S6), at each P whose scan holds a last width that jams.

    From wide to narrow, the first width of whose runs at least half, dead ones left out, end with
    N_Delta > 0.1 N.
    """
    from regimes.measure import n_star as measured

    found = []
    for p in dataset.n_train.values:
        scan = cut(dataset, labels, p)
        if not scan.sizes["width"]:
            continue
        living = scan.jammed.where(scan.dead == 0).transpose("seed", "width")
        star = measured(scan.parameters.values, living.values)
        if star is not None:
            found.append((float(p), *star.bracket))
    return Stars(*np.array(found, dtype=float).reshape(-1, 3).T)


def jamming_claims(dataset: xr.Dataset) -> list[Claim]:
    """All three; labels and trainers that were not asked for count as not run."""
    if "unfitted" not in dataset:
        return [Claim.unclear(id, told, why="nothing has run") for id, told in EXPECTED.items()]
    dataset = dataset.reindex(labels=["parity", "random"], trainer=["fast", "constant"])
    return [_divergence(dataset), _constraints(dataset), _growth(dataset)]


@dataclass(frozen=True, eq=False)
class Norms:
    """Median output of the runs at a constant rate (LAND-39), and where half of them fit."""

    p: float
    weights: np.ndarray  # (n,), N
    square: np.ndarray  # (n,), median over seeds of |f|^2 on test points
    error: np.ndarray  # (n,), standard error of its logarithm
    fit: np.ndarray  # (n,), share of runs that fit
    dead: int
    star: float  # N*, the 50 % point of `fit`, between the two widths below
    bracket: tuple[float, float]

    def at(self, n: float) -> tuple[float, float]:
        """Logarithm of |f|^2 at N = n, interpolated in log N, and its error."""
        u = np.log(self.weights)
        return (
            float(np.interp(np.log(n), u, np.log(self.square))),
            float(np.interp(np.log(n), u, self.error)),
        )

    def window(self, star: float) -> np.ndarray:
        """The widths with 0.1 < N/N* - 1 < 3 (S16)."""
        excess = self.weights / star - 1
        return (excess > 0.1) & (excess < 3)


def norms(dataset: xr.Dataset) -> Norms | None:
    """Outputs against N where the scan at a constant rate holds its N* (LAND-63); else None."""
    from regimes.measure import n_half

    asked = "unfitted" in dataset and "constant" in dataset.trainer.values
    if not asked or "parity" not in dataset.labels.values:
        return None
    ran = dataset.unfitted.sel(labels="parity", trainer="constant").dropna("n_train", how="all")
    if not ran.sizes["n_train"]:
        return None
    p = float(ran.n_train.values[-1])
    scan = cut(dataset, "parity", p, "constant")
    alive = scan.dead == 0
    scan = scan.where(alive).assign(parameters=scan.parameters, dead=scan.dead)
    scan = scan.isel(width=np.flatnonzero(alive.any("seed").values))
    if not scan.sizes["width"]:
        return None
    weights = scan.parameters.values.astype(float)
    star = n_half(weights, scan.fit.transpose("seed", "width").values)
    if star is None:
        return None
    logs = 2 * np.log(scan.output_norm.transpose("seed", "width"))
    count = scan.output_norm.notnull().sum("seed").values
    spread = logs.std("seed", ddof=1).fillna(0.0).values if scan.sizes["seed"] > 1 else 0 * weights
    return Norms(
        p,
        weights,
        np.exp(logs.median("seed").values),
        1.25 * spread / np.sqrt(count),  # of a median
        scan.fit.mean("seed").values,
        int((~alive).sum()),
        star.n,
        star.bracket,
    )


def exponent(found: Norms, star: float) -> tuple[float, float]:
    """Slope of log |f| in log(N/N* - 1) over the window, and its error from the scatter."""
    from regimes.measure import power_law

    window = found.window(star)
    fit = power_law(found.weights[window] / star - 1, np.sqrt(found.square[window]))
    return fit.exponent, fit.error


def _divergence(dataset: xr.Dataset) -> Claim:
    found = norms(dataset)
    if found is None:
        why = "no scan at a constant rate that reaches from widths that do not fit to such that do"
        return Claim.unclear("REG-58", EXPECTED["REG-58"], why=why)
    least = min(found.window(star).sum() for star in (found.star, *found.bracket))
    if least < 4 or found.weights[-1] < 10 * found.star:
        why = f"{least} widths with 0.1 < N/N* - 1 < 3, N up to {found.weights[-1]:.0f}: too few"
        return Claim.unclear("REG-58", EXPECTED["REG-58"], why=why)
    slope, scatter = exponent(found, found.star)
    ends = [exponent(found, star)[0] for star in found.bracket]
    # N* may lie anywhere in its bracket: a uniform law over the slopes between its ends
    error = float(np.hypot(scatter, abs(ends[1] - ends[0]) / 12**0.5))
    (peak, peak_error), (far, far_error) = found.at(found.star), found.at(10 * found.star)
    ratio = float(np.exp(peak - far))
    parts = [
        Part("exponent of |f| in N/N* - 1", slope, -1.3, -0.45, error),
        Part(
            "|f|^2 at N* / at 10 N*",
            ratio,
            low=30.0,
            error=ratio * float(np.hypot(peak_error, far_error)),
        ),
    ]
    told = ", ".join(
        f"{f:.3g} at {n:.0f} ({100 * s:.0f} % fit)"
        for n, f, s in zip(found.weights, found.square, found.fit, strict=True)
    )
    why = (
        f"digits, P = {found.p:.0f}, N* = {found.star:.4g} where half of the runs fit, between "
        f"{found.bracket[0]:.0f} and {found.bracket[1]:.0f}, which would give {ends[0]:.2f} and "
        f"{ends[1]:.2f}; {found.window(found.star).sum()} widths with 0.1 < N/N* - 1 < 3; "
        f"{_left_out(found.dead)}; |f|^2 {told}; the regression of S21 is not part of it (LAND-75)"
    )
    return claim_of_parts("REG-58", parts, why=why)


def _left_out(dead: int) -> str:
    runs = "run" if dead == 1 else "runs"
    return f"{dead} {runs} left out as dead: no gradient reaches the unfitted points"


@dataclass(frozen=True, eq=False)
class Jump:
    """Jammed runs near the transition of one kind of labels, dead ones left out."""

    share: np.ndarray  # (n,), N_Delta/N
    loss: np.ndarray  # (n,), times (1/2 over the margin)^2
    falling: np.ndarray  # (n,), of the loss over the last tenth
    rank: np.ndarray  # (n,), rank(H0) less N_Delta
    gap: np.ndarray  # (n,)
    clean: np.ndarray  # (n,), N_Delta < N and no unfitted point without an active unit
    between: int  # converged runs with 0.02 < N_Delta/N < 0.25
    dead: int


def jump(dataset: xr.Dataset, labels: str) -> Jump:
    """The jammed runs of small loss at every P (LAND-03, LAND-26)."""
    stacked = outcomes(dataset.sel(labels=labels, trainer="fast"))
    stacked = stacked.drop_vars("negative").stack(run=("n_train", "width", "seed"))
    runs = stacked.isel(run=np.flatnonzero(stacked.unfitted.notnull().values))
    loss = runs.loss * (0.5 / runs.margin) ** 2
    chosen = np.flatnonzero(((runs.jammed == 1) & (loss < LOW_LOSS[labels])).values)
    near = runs.isel(run=chosen)
    odd = (runs.dead == 0) & (runs.fit == 0) & (runs.falling < FALLING)
    odd = odd & (runs.share > 0.02) & (runs.share < 0.25)
    return Jump(
        near.share.values,
        loss.values[chosen],
        near.falling.values,
        (near["rank"] - near.unfitted).values,
        near.gap.values,
        ((near.share < 1) & (near.unreached == 0)).values,
        int(odd.sum()),
        int(runs.dead.sum()),
    )


def _constraints(dataset: xr.Dataset) -> Claim:
    found = {name: jump(dataset, name) for name in ("random", "parity")}
    draws = dataset.negative.sel(labels="random", trainer="fast").mean(["n_train", "width"])
    relu, tanh = draws.dropna("draw").transpose("activation", "draw").values
    clean = np.concatenate([each.clean for each in found.values()]).astype(bool)
    random, digits = found["random"].share, found["parity"].share
    few = not len(random) or not len(digits) or len(relu) < 3
    if few or not (clean.any() or random.max() >= 1):
        why = (
            f"{len(random)} jammed runs of small loss for random labels, {len(digits)} for digits, "
            f"{clean.sum()} of them clean; {len(relu)} Hessians"
        )
        return Claim.unclear("REG-59", EXPECTED["REG-59"], why=why)
    # hypostatic at the transition itself: the smallest losses (LAND-04)
    all_near = np.concatenate([each.share[each.loss < 2e-3] for each in found.values()])
    parts = [
        Part("N_Delta/N of random labels, mean", random.mean(), 0.35, 0.95, _error(random)),
        Part("the same, smallest", random.min(), low=0.35),
        Part("the same, largest", random.max(), high=0.95),
        Part("converged runs with 0.02 < N_Delta/N < 0.25", found["random"].between, high=0.0),
        Part("N_Delta/N of digits, smallest", digits.min(), 0.2, 0.8),
        Part("N_Delta/N of all, largest", all_near.max(), high=1.0),
        Part("negative share of Hp, relu", relu.mean(), 0.48, 0.52, _error(relu)),
    ]
    if clean.any():
        rank = np.concatenate([each.rank for each in found.values()])[clean]
        gap = np.concatenate([each.gap for each in found.values()])[clean]
        parts += [
            Part("largest |rank(H0) - N_Delta|", np.abs(rank).max(), high=2.0),
            Part("gap of H0 over its zeros, smallest", gap.min(), low=1e5),
        ]
    slow = sum(int((each.falling > FALLING).sum()) for each in found.values())
    least = int(random.argmin())
    loss, fell = found["random"].loss[least], found["random"].falling[least]
    why = (
        f"{len(random)} jammed runs with a loss below {LOW_LOSS['random']:g} for random labels, "
        f"{len(digits)} below {LOW_LOSS['parity']:g} for digits, of which {slow} still fell by "
        f"more than 1 % in their last tenth (the one of smallest N_Delta/N for random labels has a "
        f"loss of {loss:.1g} that fell by {100 * fell:.0f} %); "
        f"H0 of {clean.sum()} runs with N_Delta < N and an active unit for every unfitted point; "
        f"{_left_out(sum(each.dead for each in found.values()))}; Hp at initialisation, random "
        f"labels, all points weighted alike; with tanh {tanh.mean():.3f} of it is negative there, "
        "which is not judged: LAND-23 asks for a jammed network"
    )
    return claim_of_parts("REG-59", parts, why=why)


def _error(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def _growth(dataset: xr.Dataset) -> Claim:
    from scipy.stats import spearmanr

    fits = {}
    for name in ("parity", "random"):
        stars = n_star(dataset, name)
        if len(stars.p) < 3:
            why = f"N* is known at {len(stars.p)} sizes for {name} labels, three are needed"
            return Claim.unclear("REG-60", EXPECTED["REG-60"], why=why)
        u = np.log(stars.p) - np.log(stars.p).mean()
        slope = float((u * np.log(stars.middle)).sum() / (u**2).sum())
        # a bracket of factor f^2 has the standard deviation ln f / sqrt 3 either way
        factor = np.sqrt(stars.high / stars.low)
        spread = float(np.sqrt(((u * np.log(factor)) ** 2).sum() / 3) / (u**2).sum())
        fits[name] = (stars, slope, spread)
    stars, slope, spread = fits["parity"]
    _, steep, steep_spread = fits["random"]
    errors = [_error_near(dataset, each) for each in stars.p]
    middle = [(a + b) / 2 for a, b in pairwise(errors)]
    rank = float(spearmanr(np.diff(stars.middle) / np.diff(stars.p), middle).statistic)
    random = fits["random"][0]
    loads = random.p / random.middle
    both = np.intersect1d(stars.p, random.p)
    shares = stars.middle[np.isin(stars.p, both)] / random.middle[np.isin(random.p, both)]
    parts = [
        Part("exponent for random labels", steep, 0.75, 1.2, steep_spread),
        Part("P/N* for random labels, smallest", loads.min(), low=1.6),
        Part("P/N* for random labels, largest", loads.max(), high=3.0),
        Part("N* of digits over that of random labels, largest", shares.max(), high=0.6),
        Part("rank correlation of dN*/dP and test error", rank, low=1e-6),
    ]
    told = "; ".join(
        f"{name} "
        + ", ".join(
            f"{a:.0f}-{b:.0f} at {p:.0f}" for p, a, b in zip(s.p, s.low, s.high, strict=True)
        )
        for name, (s, _, _) in fits.items()
    )
    why = (
        f"exponent for digits {slope:.3f} ± {spread:.2g} for the document's 0.75, reported only as "
        f"LAND-24 asks at so few points; N* by the 0.1 N rule of {told}"
    )
    return claim_of_parts("REG-60", parts, why=why)


def _error_near(dataset: xr.Dataset, p: float) -> float:
    """Mean error of the widest networks at this P."""
    return float(cut(dataset, "parity", p).error.isel(width=-1).mean())
