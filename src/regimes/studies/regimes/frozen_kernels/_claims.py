"""Verdicts on frozen kernels: the lazy limit, the learned kernel, the span of the gradients."""

from __future__ import annotations

import numpy as np

from regimes.lab import Data, Values, along, first_of, judge
from regimes.studies._types import PowerLaw
from regimes.studies.regimes._remarks import each_at, numbers, percent, seeds
from regimes.studies.regimes._scans import whole

LAZY, CROSSOVER = 1e4, 1.0  # the scales that REG-26 and REG-49 name
SCALES = (0.1, 1.0, 1e3)  # those of REG-48
SPAN_FROM = 1e2  # the law of REG-50 begins here

claim = judge.Claims()


def one_width(table: Data) -> Data:
    """The rows of the width that was run at most scales, along the scale."""
    widths, counts = np.unique(table.width.values, return_counts=True)
    return along(table.isel(trial=table.width.values == widths[counts.argmax()]), "scale")


@claim("REG-26", "signs differ on < 1 % of test points, errors by < 0.5 %")
def _coincide(dataset: Data) -> judge.Parts:
    table = whole(dataset, "limit", "limit_widths")
    lazy = table.isel(trial=np.isclose(table.scale.values, LAZY))
    if not lazy.sizes["trial"]:
        raise judge.Missing(f"the scan leaves out √h α = {LAZY:g}")
    lazy, told = along(lazy, "width"), []
    for i, width in enumerate(lazy.width.values):
        row = lazy.isel(width=i)
        signs = judge.mean_of(row.initial_disagreement)
        yield judge.below(f"share of signs, h = {width}", signs, 0.01)
        yield judge.near(f"difference of errors, h = {width}", _gap(row, "initial"), 0.0, 0.005)
        network, frozen = (row[name].values.mean() for name in ("network_error", "initial_error"))
        told.append(f"h = {width}: {percent([network])}, frozen {percent([frozen])}")
    return f"errors {'; '.join(told)}; {seeds(lazy)}"


@claim("REG-27", "the distance to the frozen kernel falls with the scale, slope -1 ± 0.05")
def _limit(dataset: Data) -> judge.Parts:
    """Network and frozen kernel are each integrated with steps of their own."""
    table = one_width(whole(dataset, "limit"))
    yield judge.near("slope", _exponent(table.initial_difference), -1.0, 0.05)
    return (
        f"{_distances(table, 'initial_difference')}, each with steps of its own: beyond 1e4 the "
        "error of the two integrations remains, which does not fall with the scale (REG-27b)"
    )


@claim("REG-27b", "ours: with the network's steps for both, slope -1 ± 0.05")
def _limit_in_step(dataset: Data) -> judge.Parts:
    table = one_width(whole(dataset, "limit"))
    yield judge.near("slope", _exponent(table.limit_difference), -1.0, 0.05)
    return f"{_distances(table, 'limit_difference')}, driven by the network's steps"


@claim("REG-48", "network and final kernel within 2 %, the initial kernel farther away")
def _learned(dataset: Data) -> judge.Parts:
    table = one_width(whole(dataset, "learned"))
    for scale in SCALES:
        final = _gap(judge.need(table, scale=scale), "final")
        yield judge.near(f"network - final kernel at √h α = {scale:g}", final, 0.0, 0.02)
    first = judge.need(table, scale=SCALES[0])
    farther = abs(_gap(first, "initial")) - abs(_gap(first, "final"))
    yield judge.above(
        f"how much farther the initial kernel is at √h α = {SCALES[0]:g}", farther, 0.0
    )
    listed = "; ".join(
        f"{name} {percent(table[f'{name}_error'].mean('seed').values)}"
        for name in ("network", "final", "initial")
    )
    unfitted = int((table.final_fitted < 1).sum() + (table.initial_fitted < 1).sum())
    lost = f"; {unfitted} flows under frozen kernels ended unfitted" if unfitted else ""
    return f"test errors at {_scales(table)}: {listed}; {seeds(table)}{lost}"


@claim("REG-49", "norm ratio > 5, block contrast > 1.5 times the initial one")
def _blocks(dataset: Data) -> judge.Parts:
    block = first_of(dataset, "gram", "learned")
    table = along(whole(dataset, block), "scale")
    row = table.isel(scale=0) if block == "gram" else judge.need(table, scale=CROSSOVER)
    yield judge.above("final over initial norm", judge.log_mean(row.kernel_growth), 5.0)
    contrast = judge.mean_of(row.final_contrast / row.initial_contrast)
    yield judge.above("final over initial block contrast", contrast, 1.5)
    told = []
    for i, scale in enumerate(table.scale.values):
        each = table.isel(scale=i)
        told.append(
            f"√h α = {scale:g}: growth {judge.log_mean(each.kernel_growth).value:.3g}, contrast "
            f"{float(each.initial_contrast.mean()):.3f} -> {float(each.final_contrast.mean()):.3f}"
        )
    return f"{'; '.join(told)}; {seeds(row)}"


@claim("REG-50", "the motion outside the span falls with the scale, slope -1 ± 0.1")
def _span(dataset: Data) -> judge.Parts:
    table = one_width(whole(dataset, "span"))
    beyond = table.isel(scale=table.scale.values >= SPAN_FROM * 0.999)
    yield judge.near("slope", _exponent(beyond.tangent_residual), -1.0, 0.1)
    return (
        f"share of the weight change outside the span of the {table.n_train.values[0]} training "
        f"gradients at {_scales(table)}: {_means(table.tangent_residual)}; fitted from "
        f"{SPAN_FROM:g} on; {seeds(table)}"
    )


def _exponent(values: Values) -> PowerLaw:
    if len(np.unique(values.scale)) < 3:
        raise judge.Missing(f"{_scales(values)}: an exponent needs three scales at one width")
    return judge.power_law(values, "scale")


def _gap(row: Data, kernel: str) -> judge.Measured:
    """Mean error of networks less that of one frozen kernel of theirs."""
    return judge.mean_of(row.network_error - row[f"{kernel}_error"])


def _distances(table: Data, name: str) -> str:
    """The relative differences that an exponent rests on, in words."""
    return (
        f"relative difference of test outputs to the frozen initial kernel at {_scales(table)}: "
        f"{_means(table[name])} (geometric means), h = {table.width.values[0]}, "
        f"P = {table.n_train.values[0]}, {seeds(table)}"
    )


def _means(values: Values) -> str:
    return numbers([judge.log_mean(row).value for row in values.values], ".2g")


def _scales(table: Data | Values) -> str:
    return each_at("√h α", table.scale)
