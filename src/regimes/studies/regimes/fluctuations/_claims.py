"""Verdicts on fluctuations: exponents in width and training points, plateaus, half heights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes._cases import Measured, along, percent, scan_of, unfinished

if TYPE_CHECKING:
    import xarray as xr

    from regimes.measure import PowerLaw

JUDGED = ("REG-25", "REG-28", "REG-36", "REG-37", "REG-38", "REG-40", "REG-61")
LEAST_SEEDS = 4  # fewer give no error bar worth the name
LEAST_WIDTHS = 4  # of an exponent or a trend in width
LEAST_WIDTH = 16  # of the narrowest network of such a trend: narrower ones are far from the law
RESAMPLES = 1000


def measured(row: xr.Dataset, name: str) -> Measured:
    """`variance`, `ensemble_error`, `error` or `excess`, of the error over the ensemble's."""
    from regimes.measure import jackknife_error

    errors = row.test_error.values
    count = len(errors)
    if name == "error":
        return Measured(float(errors.mean()), float(errors.std(ddof=1) / count**0.5))
    if name in ("variance", "ensemble_error"):
        return Measured(float(row[name]), jackknife_error(row[f"{name}_without"].values))
    if name == "excess":
        others = (errors.sum() - errors) / (count - 1)
        without = others - row.ensemble_error_without.values
        return Measured(float(errors.mean() - row.ensemble_error), jackknife_error(without))
    raise ValueError(f"no measure {name!r} of a case")


def curve(table: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values and standard errors of one measure, a row each."""
    found = [measured(table.isel(case=i), name) for i in range(table.sizes["case"])]
    return np.array([m.value for m in found]), np.array([m.error for m in found])


def ends(dataset: xr.Dataset, scan: str) -> tuple[float, float]:
    """The smallest and the largest at of a scan: its feature and its lazy end."""
    values = dataset["at"].values[(dataset.scan == scan).values]
    return float(values.min()), float(values.max())


def widths(dataset: xr.Dataset, scan: str, at: float) -> xr.Dataset:
    """The finished cases of one scan and scale, by width."""
    return along(scan_of(dataset, scan, at=at), "h")


def half_height(at: np.ndarray, errors: np.ndarray) -> Measured:
    """Where the rescaled error passes 1/2 between its ends, log at, with its bootstrap error.

    Args:
        at: increasing scales (n,).
        errors: test errors (seeds, n).

    Returns:
        NaN for a curve that does not pass from one side of the level to the other. Noise may take
        it across several times; then it is the middle of the first and the last.
    """

    def place(mean: np.ndarray) -> float:
        level = mean - (mean.min() + mean.max()) / 2
        u = np.log(at)
        left, right = level[:-1], level[1:]
        where = np.flatnonzero((left >= 0) != (right >= 0))
        if not len(where) or len(where) % 2 == 0:
            return math.nan
        found = u[where] + left[where] / (left[where] - right[where]) * np.diff(u)[where]
        return float((found[0] + found[-1]) / 2)

    rows = np.random.default_rng(0).integers(len(errors), size=(RESAMPLES, len(errors)))
    drawn = np.array([place(errors[row].mean(0)) for row in rows])
    known = drawn[np.isfinite(drawn)]
    spread = float(known.std()) if len(known) > RESAMPLES / 2 else math.nan
    return Measured(place(errors.mean(0)), spread)


def claims(dataset: xr.Dataset) -> list[Claim]:
    """One claim for every id, unclear where its scan is not complete."""
    judges: dict[str, tuple[str, Callable[[xr.Dataset, str], Claim]]] = {
        "REG-25": ("widths", _falls),
        "REG-28": ("scales", _collapse),
        "REG-36": (_variance_scan(dataset), _inverse_width),
        "REG-37": ("sizes", _grows),
        "REG-38": ("widths", _flat),
        "REG-40": ("small", _blow_up),
        "REG-61": (_variance_scan(dataset), _parameters),
    }
    return [_judge(id, *judges[id], dataset) for id in JUDGED]


def _variance_scan(dataset: xr.Dataset) -> str:
    """The document measures variances on fewer training points than errors, the CPU size not."""
    return "variance" if "variance" in dataset.scan.values else "widths"


def _judge(
    id: str, scan: str, judge: Callable[[xr.Dataset, str], Claim], dataset: xr.Dataset
) -> Claim:
    missing = unfinished(dataset, scan)
    own = dataset.isel(case=np.flatnonzero((dataset.scan == scan).values))
    several = np.unique(own["h"].values)
    why = ""
    if not own.sizes["case"]:
        why = f"the scan {scan!r} is left out"
    elif missing:
        why = f"{missing} of {own.sizes['case']} cases of the scan {scan!r} have not finished"
    elif dataset.sizes["seed"] < LEAST_SEEDS:
        why = f"{dataset.sizes['seed']} seeds, an error bar needs {LEAST_SEEDS}"
    elif scan in ("widths", "variance") and len(several) < LEAST_WIDTHS:
        why = f"{len(several)} widths, a trend needs {LEAST_WIDTHS}"
    elif scan != "small" and several.max() < LEAST_WIDTH:
        why = f"widths up to {several.max()} only, the law is one of large widths"
    if why:
        return Claim.unclear(id, "see the ledger", why=why)
    return judge(dataset, scan)


def _seeds(dataset: xr.Dataset) -> str:
    return f"{dataset.sizes['seed']} seeds"


def _unfitted(table: xr.Dataset) -> str:
    lost = int((table.fitted < 1).sum())
    return f"; {lost} of {table.fitted.size} runs ended unfitted" if lost else ""


def _listed(name: str, values: np.ndarray) -> str:
    return f"{name} {', '.join(f'{value:g}' for value in values)}"


def _falls(dataset: xr.Dataset, scan: str) -> Claim:
    _, lazy = ends(dataset, scan)
    table = widths(dataset, scan, lazy)
    error, doubt = curve(table, "error")
    rises = np.diff(error) / np.hypot(doubt[1:], doubt[:-1])
    others = "; ".join(
        f"at {at:g}: {percent(curve(widths(dataset, scan, at), 'error')[0])}"
        for at in np.unique(scan_of(dataset, scan)["at"].values)
        if at != lazy
    )
    return claim_of_parts(
        "REG-25",
        [
            Part(
                "fall of the error from the narrowest to the widest",
                error[0] - error[-1],
                0.0,
                error=float(np.hypot(doubt[0], doubt[-1])),
            ),
            Part(
                "largest rise between neighbours in standard errors", float(rises.max()), high=2.0
            ),
        ],
        why=(
            f"at {lazy:g}, {_listed('h', table['h'].values)}: {percent(error)}, each "
            f"± {100 * doubt.mean():.1f}, {_seeds(dataset)}{_unfitted(table)}; {others}"
        ),
    )


def _collapse(dataset: xr.Dataset, scan: str) -> Claim:
    places = {}
    for width in np.unique(scan_of(dataset, scan)["h"].values):
        table = along(scan_of(dataset, scan, h=int(width)), "at")
        errors = table.test_error.transpose("seed", "case").values
        places[int(width)] = half_height(table["at"].values, errors)
    found = np.array([place.value for place in places.values()])
    doubts = np.array([place.error for place in places.values()])
    shown = ", ".join(f"{math.exp(p.value):.2g} (h = {h})" for h, p in places.items())
    if not np.isfinite(found).all() or len(places) < 2:
        why = f"an error curve has no single half height: {shown}"
        return Claim.unclear("REG-28", "half heights within a factor 4", why=why)
    high, low = int(found.argmax()), int(found.argmin())
    ratio = math.exp(found[high] - found[low])
    table = scan_of(dataset, scan)
    return Claim.between(
        "REG-28",
        ratio,
        high=4.0,
        error=ratio * float(np.hypot(doubts[high], doubts[low])),
        expected="half heights of the rescaled error within a factor 4 in at",
        why=(
            f"at of half height {shown}; largest over smallest; alpha would differ by "
            f"{(max(places) / min(places)) ** 0.5:.2g} more; {_seeds(dataset)}{_unfitted(table)}"
        ),
    )


def _law(table: xr.Dataset, name: str, against: str) -> PowerLaw:
    from regimes.measure import power_law

    values, doubts = curve(table, name)
    return power_law(table[against].values.astype(float), values, sigma=doubts)


def _inverse_width(dataset: xr.Dataset, scan: str) -> Claim:
    parts, told = [], []
    for regime, at in zip(("feature", "lazy"), ends(dataset, scan), strict=True):
        table = widths(dataset, scan, at)
        law = _law(table, "variance", "h")
        parts.append(Part(f"exponent at {at:g} ({regime})", law.exponent, -1.2, -0.8, law.error))
        times = curve(table, "variance")[0] * table["h"].values
        told.append(f"h var at {at:g}: {', '.join(f'{v:.3g}' for v in times)}{_unfitted(table)}")
    hs = np.unique(scan_of(dataset, scan)["h"].values)
    return claim_of_parts(
        "REG-36", parts[::-1], why=f"{_listed('h', hs)}, {_seeds(dataset)}; {'; '.join(told)}"
    )


def _grows(dataset: xr.Dataset, scan: str) -> Claim:
    whole = scan_of(dataset, scan)
    widest = int(whole["h"].values.max())
    table = along(scan_of(dataset, scan, h=widest), "P")
    law = _law(table, "variance", "P")
    ratios = []
    for n in table["P"].values:
        own = along(scan_of(dataset, scan, P=int(n)), "h")
        if own.sizes["case"] > 1:
            ratios.append(f"{_law(own, 'variance', 'h').exponent:.2f} (n = {n})")
    values, doubts = curve(table, "variance")
    shown = ", ".join(f"{v:.3f} ± {e:.3f}" for v, e in zip(values, doubts, strict=True))
    return Claim.between(
        "REG-37",
        law.exponent,
        0.35,
        0.85,
        error=law.error,
        expected="variance ~ n^a, a = 0.6 ± 0.25",
        why=(
            f"h = {widest}, {_listed('n', table['P'].values)}: variance {shown}; "
            f"{_seeds(dataset)}{_unfitted(whole)}"
            + (
                f"; exponents in h, narrower networks included: {', '.join(ratios)}"
                if ratios
                else ""
            )
        ),
    )


def _flat(dataset: xr.Dataset, scan: str) -> Claim:
    parts, told = [], []
    feature, lazy = ends(dataset, scan)
    for at in (lazy, feature):
        table = widths(dataset, scan, at)
        error, _ = curve(table, "ensemble_error")
        parts.append(
            Part(f"spread of the ensemble's error at {at:g}", float(np.ptp(error)), high=0.025)
        )
        told.append(f"at {at:g}: {percent(error)}, single {percent(curve(table, 'error')[0])}")
    error, doubt = curve(widths(dataset, scan, lazy), "error")
    parts.append(
        Part(
            f"fall of the single network's error at {lazy:g}",
            error[0] - error[-1],
            0.0,
            error=float(np.hypot(doubt[0], doubt[-1])),
        )
    )
    hs = np.unique(scan_of(dataset, scan)["h"].values)
    why = f"{_listed('h', hs)}, ensembles of {dataset.sizes['seed']}; {'; '.join(told)}"
    return claim_of_parts("REG-38", parts, why=why)


def _blow_up(dataset: xr.Dataset, scan: str) -> Claim:
    table = along(scan_of(dataset, scan), "at")
    at = table["at"].values
    if len(at) < 2 or at[0] >= 1e-4:
        why = f"{_listed('at', at)} do not go below 1e-4"
        return Claim.unclear("REG-40", "variance rises below at = 1e-4", why=why)
    variance, doubt = curve(table, "variance")
    error, error_doubt = curve(table, "error")
    ratio = variance[0] / variance[-1]
    relative = float(np.hypot(doubt[0] / variance[0], doubt[-1] / variance[-1]))
    fitted = table.fitted.mean("seed").values
    return claim_of_parts(
        "REG-40",
        [
            Part(
                f"variance at {at[0]:g} over that at {at[-1]:g}",
                float(ratio),
                1.0,
                error=float(ratio * relative),
            ),
        ],
        why=(
            f"{_listed('at', at)}: variance {', '.join(f'{v:.3g}' for v in variance)}; error "
            f"{percent(error)}, each ± {100 * error_doubt.mean():.1f}; fitted within the cap of "
            f"steps {percent(fitted)}; {_seeds(dataset)}. The document reports a rise, no number"
        ),
    )


def _parameters(dataset: xr.Dataset, scan: str) -> Claim:
    from regimes.measure import power_law

    feature, lazy = ends(dataset, scan)
    parts, told = [], []
    for regime, at in (("lazy", lazy), ("feature", feature)):
        table = widths(dataset, scan, at)
        value, doubt = curve(table, "variance")
        law = power_law(table["h"].values.astype(float), value**0.5, sigma=doubt / 2 / value**0.5)
        in_n = power_law(table.parameters.values.astype(float), value**0.5)
        parts.append(
            Part(f"fluctuation in h ({regime})", law.exponent, -0.6, -0.4, error=law.error)
        )
        told.append(f"fluctuation in N {in_n.exponent:.2f} ({regime})")
    table = widths(dataset, scan, lazy)
    excess, doubt = curve(table, "excess")
    if (excess <= 0).any():
        why = f"the excess of the error over the ensemble's is lost in noise: {percent(excess)}"
        return Claim.unclear("REG-61", "fluctuation -1/2, excess -1 in h", why=why)
    law = power_law(table["h"].values.astype(float), excess, sigma=doubt)
    size, limit, r2 = asymptote(table.parameters.values.astype(float), curve(table, "error")[0])
    parts.append(Part("excess of the error in h (lazy)", law.exponent, -1.5, -0.6, law.error))
    parts.append(Part("B0 of eps_inf + B0/sqrt(N) (lazy)", size, 0.0))
    return claim_of_parts(
        "REG-61",
        parts,
        why=(
            f"N ~ h^2 here, so h^(-1/2) is N^(-1/4) and 1/h is N^(-1/2); {', '.join(told)}; excess "
            f"in N {power_law(table.parameters.values.astype(float), excess).exponent:.2f}: "
            f"{percent(excess)} at {_listed('h', table['h'].values)}; single error = "
            f"{limit:.3f} + {size:.2g}/sqrt(N), R2 {r2:.2f}; {_seeds(dataset)}"
        ),
    )


def asymptote(count: np.ndarray, error: np.ndarray) -> tuple[float, float, float]:
    """B0, eps_inf and R2 of the fit `error = eps_inf + B0 count^(-1/2)`.

    >>> n = np.array([100.0, 400.0, 1600.0])
    >>> [round(float(v), 6) for v in asymptote(n, 0.1 + 2 / np.sqrt(n))]
    [2.0, 0.1, 1.0]
    """
    x = count**-0.5
    size, limit = np.polyfit(x, error, 1)
    residual = np.sum((error - limit - size * x) ** 2)
    return float(size), float(limit), float(1 - residual / np.sum((error - error.mean()) ** 2))
