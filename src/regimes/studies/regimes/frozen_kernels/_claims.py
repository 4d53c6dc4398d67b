"""Verdicts on frozen kernels: the lazy limit, the learned kernel, the span of the gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes._cases import Measured, along, mean_of, percent, scan_of, unfinished

if TYPE_CHECKING:
    import xarray as xr

    from regimes.measure import PowerLaw

JUDGED = ("REG-26", "REG-27", "REG-48", "REG-49", "REG-50")
LEAST_SEEDS = 4  # fewer give no error bar worth the name
LAZY, CROSSOVER = 1e4, 1.0  # the scales that REG-26 and REG-49 name
SCALES = (0.1, 1.0, 1e3)  # those of REG-48
SPAN_FROM = 1e2  # the law of REG-50 begins here


def claims(dataset: xr.Dataset) -> list[Claim]:
    """One claim for every id, unclear where its scan is not complete."""
    gram = "gram" if "gram" in dataset.scan.values else "learned"
    judges: dict[str, tuple[str, Callable[[xr.Dataset, str], Claim]]] = {
        "REG-26": ("limit", _coincide),
        "REG-27": ("limit", _limit),
        "REG-48": ("learned", _learned),
        "REG-49": (gram, _blocks),
        "REG-50": ("span", _span),
    }
    return [_judge(id, *judges[id], dataset) for id in JUDGED]


def _judge(
    id: str, scan: str, judge: Callable[[xr.Dataset, str], Claim], dataset: xr.Dataset
) -> Claim:
    total = int((dataset.scan == scan).sum())
    missing = unfinished(dataset, scan)
    why = ""
    if not total:
        why = f"the scan {scan!r} is left out"
    elif missing:
        why = f"{missing} of {total} cases of the scan {scan!r} have not finished"
    elif dataset.sizes["seed"] < LEAST_SEEDS:
        why = f"{dataset.sizes['seed']} seeds, an error bar needs {LEAST_SEEDS}"
    if why:
        return Claim.unclear(id, "see the ledger", why=why)
    return judge(dataset, scan)


def one_width(table: xr.Dataset) -> xr.Dataset:
    """The rows of the width that was run at most scales, by scale."""
    widths, counts = np.unique(table["h"].values, return_counts=True)
    chosen = table["h"].values == widths[counts.argmax()]
    return along(table.isel(case=chosen), "at")


def over_seeds(row: xr.Dataset, name: str) -> Measured:
    """Mean of one measure over the seeds of a case."""
    return mean_of(row[name].values)


def gap(row: xr.Dataset, name: str) -> Measured:
    """Size of the mean difference in error between networks and one frozen kernel of theirs."""
    found = mean_of((row.network_error - row[f"{name}_error"]).values)
    return Measured(abs(found.value), found.error)


def geometric(values: np.ndarray) -> Measured:
    """Geometric mean over seeds, with its standard error.

    >>> geometric(np.array([1.0, 4.0])).value
    2.0
    """
    found = mean_of(np.log(values))
    return Measured(float(np.exp(found.value)), float(np.exp(found.value) * found.error))


def law(table: xr.Dataset, name: str) -> PowerLaw:
    """Power law of one measure against at; bootstrap over seeds."""
    from regimes.measure import power_law

    return power_law(table["at"].values, table[name].transpose("seed", "case").values)


def _row(dataset: xr.Dataset, scan: str, at: float) -> xr.Dataset | None:
    table = scan_of(dataset, scan, at=at)
    return one_width(table).isel(case=0) if table.sizes["case"] else None


def _told(table: xr.Dataset) -> str:
    lost = int((table.fitted < 1).sum())
    text = f"{table.sizes['seed']} seeds"
    return f"{text}, {lost} of {table.fitted.size} networks ended unfitted" if lost else text


def _scales(table: xr.Dataset) -> str:
    return "√h α = " + ", ".join(f"{at:g}" for at in table["at"].values)


def _coincide(dataset: xr.Dataset, scan: str) -> Claim:
    expected = "signs differ on < 1 % of test points, errors by < 0.5 %"
    if _row(dataset, scan, LAZY) is None:
        return Claim.unclear("REG-26", expected, why=f"the scan leaves out at = {LAZY:g}")
    table = scan_of(dataset, scan, at=LAZY)
    parts, told = [], []
    for i in np.argsort(table["h"].values):
        row = table.isel(case=int(i))
        signs, errors = over_seeds(row, "initial_disagreement"), gap(row, "initial")
        width = f"h = {int(row['h'])}"
        parts.append(Part(f"share of signs, {width}", signs.value, 0.0, 0.01, signs.error))
        parts.append(Part(f"difference of errors, {width}", errors.value, 0.0, 0.005, errors.error))
        told.append(
            f"{width}: {percent([over_seeds(row, 'network_error').value])}, frozen "
            f"{percent([over_seeds(row, 'initial_error').value])}"
        )
    return claim_of_parts("REG-26", parts, why=f"errors {'; '.join(told)}; {_told(table)}")


def _limit(dataset: xr.Dataset, scan: str) -> Claim:
    table = one_width(scan_of(dataset, scan))
    if table.sizes["case"] < 3:
        why = f"{_scales(table)}: an exponent needs three scales at one width"
        return Claim.unclear("REG-27", "slope -1 ± 0.05", why=why)
    found = law(table, "limit_difference")
    values = [geometric(row).value for row in table.limit_difference.values]
    free = [geometric(row).value for row in table.initial_difference.values]
    return Claim.near(
        "REG-27",
        found.exponent,
        -1.0,
        0.05,
        error=found.error,
        why=(
            f"relative difference of test outputs to the frozen initial kernel at {_scales(table)}"
            f": {', '.join(f'{v:.2g}' for v in values)} (geometric means), driven by the "
            f"network's steps; {', '.join(f'{v:.2g}' for v in free)} with steps of its own, where "
            f"the integrators' error remains; h = {int(table['h'].values[0])}, "
            f"P = {int(table['P'].values[0])}, {_told(table)}"
        ),
    )


def _learned(dataset: xr.Dataset, scan: str) -> Claim:
    table = one_width(scan_of(dataset, scan))
    rows = {at: _row(dataset, scan, at) for at in SCALES}
    if any(row is None for row in rows.values()):
        why = f"{_scales(table)} leave out one of {', '.join(f'{at:g}' for at in SCALES)}"
        return Claim.unclear("REG-48", "network and final kernel within 2 %", why=why)
    parts = []
    for at, row in rows.items():
        if row is not None:
            final = gap(row, "final")
            parts.append(
                Part(f"|network - final kernel| at {at:g}", final.value, 0.0, 0.02, final.error)
            )
    first = rows[SCALES[0]]
    if first is not None:
        initial, final = gap(first, "initial"), gap(first, "final")
        parts.append(
            Part(
                f"how much farther the initial kernel is at {SCALES[0]:g}",
                initial.value - final.value,
                0.0,
                error=float(np.hypot(initial.error, final.error)),
            )
        )
    listed = "; ".join(
        f"{name} {percent(table[f'{name}_error'].mean('seed').values)}"
        for name in ("network", "final", "initial")
    )
    unfitted = int((table.final_fitted < 1).sum() + (table.initial_fitted < 1).sum())
    lost = f"; {unfitted} flows under frozen kernels ended unfitted" if unfitted else ""
    why = f"test errors at {_scales(table)}: {listed}; {_told(table)}{lost}"
    return claim_of_parts("REG-48", parts, why=why)


def _blocks(dataset: xr.Dataset, scan: str) -> Claim:
    whole = scan_of(dataset, scan)
    table = whole if scan == "gram" else scan_of(dataset, scan, at=CROSSOVER)
    if not table.sizes["case"]:
        why = f"{_scales(one_width(whole))} leave out {CROSSOVER:g}"
        return Claim.unclear("REG-49", "norm ratio > 5, block contrast > 1.5 x initial", why=why)
    row = table.isel(case=0)
    growth = geometric(row.kernel_growth.values)
    ratio = mean_of((row.final_contrast / row.initial_contrast).values)
    told = []
    for i in np.argsort(whole["scale"].values):
        each = whole.isel(case=int(i))
        told.append(
            f"at {float(each['scale']):g} growth {geometric(each.kernel_growth.values).value:.3g}, "
            f"contrast {over_seeds(each, 'initial_contrast').value:.3f} -> "
            f"{over_seeds(each, 'final_contrast').value:.3f}"
        )
    return claim_of_parts(
        "REG-49",
        [
            Part("final over initial norm", growth.value, 5.0, error=growth.error),
            Part("final over initial block contrast", ratio.value, 1.5, error=ratio.error),
        ],
        why=f"{'; '.join(told)}; {_told(table)}",
    )


def _span(dataset: xr.Dataset, scan: str) -> Claim:
    table = one_width(scan_of(dataset, scan))
    beyond = table.isel(case=table["at"].values >= SPAN_FROM * 0.999)
    if beyond.sizes["case"] < 3:
        why = f"{_scales(table)}: an exponent needs three scales from {SPAN_FROM:g} on"
        return Claim.unclear("REG-50", "slope -1 ± 0.1", why=why)
    found = law(beyond, "tangent_residual")
    values = [geometric(row).value for row in table.tangent_residual.values]
    return Claim.near(
        "REG-50",
        found.exponent,
        -1.0,
        0.1,
        error=found.error,
        why=(
            "share of the weight change outside the span of the "
            f"{int(table['P'].values[0])} training gradients at {_scales(table)}: "
            f"{', '.join(f'{v:.2g}' for v in values)}; fitted from {SPAN_FROM:g} on; {_told(table)}"
        ),
    )
