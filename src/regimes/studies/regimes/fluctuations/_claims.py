"""Verdicts on fluctuations: exponents in width and training points, plateaus, half heights."""

from __future__ import annotations

import numpy as np

import regimes as rg
from regimes.lab import Data, Values, along, first_of, judge, split
from regimes.studies._types import PowerLaw
from regimes.studies.regimes._outcomes import range_of_ensembles
from regimes.studies.regimes._remarks import each_at, numbers, percent, seeds
from regimes.studies.regimes._scans import whole

LEAST_WIDTHS = 4  # of an exponent or a trend in width
LEAST_WIDTH = 16  # of the widest network of such a trend: narrower ones are far from the law

claim = judge.Claims()


def measured(row: Data, name: str) -> judge.Measured:
    """`variance`, `ensemble_error`, `error` or `excess`, of the error over the ensemble's."""
    errors = row.test_error.values
    if name == "error":
        return judge.mean_of(errors)
    if name in ("variance", "ensemble_error"):
        return judge.left_out(row[name], row[f"{name}_without"])
    if name == "excess":
        others = (errors.sum() - errors) / (len(errors) - 1)
        without = others - row.ensemble_error_without.values
        return judge.left_out(errors.mean() - row.ensemble_error, without)
    raise ValueError(f"no measure {name!r} of an ensemble")


def curve(table: Data, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values and standard errors of one measure, along the table."""
    (over,) = table.variance.dims
    found = [measured(table.isel({over: i}), name) for i in range(table.sizes[over])]
    return np.array([m.value for m in found]), np.array([m.error for m in found])


@claim("REG-25", "the error of a lazy network falls with its width")
def _falls(dataset: Data) -> judge.Parts:
    scales = split(_wide(dataset, "widths", LEAST_WIDTHS), "scale", "width")
    lazy = scales.pop(max(scales))
    error, doubt = curve(lazy, "error")
    rises = np.diff(error) / np.hypot(doubt[1:], doubt[:-1])
    first, last = _ends(lazy, "error")
    yield judge.above("fall of the error from the narrowest to the widest", first - last, 0.0)
    yield judge.below("largest rise between neighbours in standard errors", rises.max(), 2.0)
    told = f"{percent(error)}, each ± {100 * doubt.mean():.1f}, {seeds(lazy)}"
    others = "".join(
        f"; {_scale(own)}: {percent(curve(own, 'error')[0])}" for own in scales.values()
    )
    return f"{_scale(lazy)}, {each_at('h', lazy.width)}: {told}{others}"


@claim("REG-28", "half heights of the rescaled error within a factor 4 in √h α", report=True)
def _collapse(dataset: Data) -> judge.Parts:
    table, places = _wide(dataset, "scales"), {}
    for width, own in split(table, "width", "scale").items():
        found = rg.measure.half_height(
            own.scale.values, own.test_error.transpose("seed", "scale").values
        )
        places[width] = judge.Measured(found.x, found.error)
    shown = ", ".join(f"{place.value:.2g} (h = {h})" for h, place in places.items())
    if len(places) < 2 or not all(np.isfinite(place.value) for place in places.values()):
        raise judge.Missing(f"two error curves with a single half height are needed: {shown}")
    first, *_, last = sorted(places.values(), key=lambda place: place.value)
    yield judge.below("largest over smallest √h α of half height", last / first, 4.0)
    return (
        f"√h α of half height {shown}; alpha would differ by "
        f"{(max(places) / min(places)) ** 0.5:.2g} more; {seeds(table)}"
    )


@claim("REG-36", "the variance falls as 1/h, lazy or not")
def _inverse_width(dataset: Data) -> judge.Parts:
    table = _wide(dataset, first_of(dataset, "variance", "widths"), LEAST_WIDTHS)
    told = []
    for regime, own in _regimes(table).items():
        law = _law(own, "variance", own.width)
        yield judge.within(f"exponent at {_scale(own)} ({regime})", law, -1.2, -0.8)
        times = curve(own, "variance")[0] * own.width.values
        told.append(f"h var at {_scale(own)}: {numbers(times, '.3g')}")
    return f"{each_at('h', table.width)}, {seeds(table)}; {'; '.join(told)}"


@claim("REG-37", "variance ~ n^a, a = 0.6 ± 0.25")
def _grows(dataset: Data) -> judge.Parts:
    table = _wide(dataset, "sizes")
    by_width = split(table, "width", "n_train")
    widest = max(by_width)
    own = by_width[widest]
    yield judge.near("exponent in n", _law(own, "variance", own.n_train), 0.6, 0.25)
    pairs = zip(*curve(own, "variance"), strict=True)
    shown = ", ".join(f"{value:.3f} ± {doubt:.3f}" for value, doubt in pairs)
    ratios = ", ".join(
        f"{_law(each, 'variance', each.width).exponent:.2f} (n = {n})"
        for n, each in split(table, "n_train", "width").items()
        if len(np.unique(each.width)) > 1
    )
    others = f"; exponents in h, narrower networks included: {ratios}" if ratios else ""
    sizes = each_at("n", own.n_train)
    return f"h = {widest}, {sizes}: variance {shown}; {seeds(table)}{others}"


@claim("REG-38", "the ensemble's error hardly depends on the width, a single network's falls")
def _flat(dataset: Data) -> judge.Parts:
    table = _wide(dataset, "widths", LEAST_WIDTHS)
    regimes, told = _regimes(table), []
    for own in regimes.values():
        error, _ = curve(own, "ensemble_error")
        yield judge.below(
            f"spread of the ensemble's error at {_scale(own)}", range_of_ensembles(own), 0.025
        )
        told.append(f"{_scale(own)}: {percent(error)}, single {percent(curve(own, 'error')[0])}")
    lazy = regimes["lazy"]
    first, last = _ends(lazy, "error")
    yield judge.above(f"fall of the single network's error at {_scale(lazy)}", first - last, 0.0)
    ensembles = f"ensembles of {table.sizes['seed']}"
    return f"{each_at('h', table.width)}, {ensembles}; {'; '.join(told)}"


@claim("REG-40", "the variance rises below √h α = 1e-4", report=True)
def _blow_up(dataset: Data) -> judge.Parts:
    table = along(whole(dataset, "small"), "scale")
    scale = table.scale.values
    if len(scale) < 2 or scale[0] >= 1e-4:
        raise judge.Missing(f"{each_at('√h α', scale)} does not go below 1e-4")
    variance, _ = curve(table, "variance")
    error, error_doubt = curve(table, "error")
    first, last = _ends(table, "variance")
    yield judge.above(
        f"variance at √h α = {scale[0]:g} over that at {scale[-1]:g}", first / last, 1.0
    )
    return (
        f"{each_at('√h α', scale)}: variance {numbers(variance, '.3g')}; error "
        f"{percent(error)}, each ± {100 * error_doubt.mean():.1f}; fitted within the cap of steps "
        f"{percent(table.fitted.mean('seed').values)}; {table.sizes['seed']} seeds. "
        "[Geiger 2020] reports a rise, no number"
    )


@claim("REG-61", "the fluctuation falls as h^(-1/2), the excess of the error as 1/h")
def _parameters(dataset: Data) -> judge.Parts:
    from regimes.measure import asymptote, power_law

    table = _wide(dataset, first_of(dataset, "variance", "widths"), LEAST_WIDTHS)
    regimes, told = _regimes(table), []
    for regime, own in regimes.items():
        value, doubt = curve(own, "variance")
        width, root = own.width.values.astype(float), value**0.5
        law = power_law(width, root, sigma=doubt / 2 / root)
        in_n = power_law(own.parameters.values.astype(float), root)
        yield judge.within(f"fluctuation in h ({regime})", law, -0.6, -0.4)
        told.append(f"fluctuation in N {in_n.exponent:.2f} ({regime})")
    lazy = regimes["lazy"]
    excess, _ = curve(lazy, "excess")
    if (excess <= 0).any():
        lost = "the excess of the error over the ensemble's is lost in noise"
        raise judge.Missing(f"{lost}: {percent(excess)}")
    count = lazy.parameters.values.astype(float)
    errors = lazy.test_error.transpose("seed", "width").values
    fit = asymptote(count, errors.mean(0))
    others = [asymptote(count, np.delete(errors, i, 0).mean(0)).size for i in range(len(errors))]
    yield judge.within(
        "excess of the error in h (lazy)", _law(lazy, "excess", lazy.width), -1.5, -0.6
    )
    yield judge.above("B0 of eps_inf + B0/sqrt(N) (lazy)", judge.left_out(fit.size, others), 0.0)
    return (
        f"N ~ h^2 here, so h^(-1/2) is N^(-1/4) and 1/h is N^(-1/2); {', '.join(told)}; excess "
        f"in N {power_law(count, excess).exponent:.2f}: {percent(excess)} at "
        f"{each_at('h', lazy.width)}; single error = {fit.limit:.3f} + {fit.size:.2g}/sqrt(N), "
        f"R2 {fit.r2:.2f}; {table.sizes['seed']} seeds"
    )


def _wide(dataset: Data, block: str, least: int = 1) -> Data:
    """A whole block of at least so many widths at every scale, wide ones among them."""
    table = whole(dataset, block)
    scales = split(table, "scale", "width").values()
    if (fewest := min(len(np.unique(own.width)) for own in scales)) < least:
        raise judge.Missing(f"{fewest} widths, a trend needs {least}")
    if (widest := table.width.values.max()) < LEAST_WIDTH:
        raise judge.Missing(f"widths up to {widest} only, the law is one of large widths")
    return table


def _regimes(table: Data) -> dict[str, Data]:
    """The widths at the largest and at the smallest scale."""
    scales = split(table, "scale", "width")
    return {"lazy": scales[max(scales)], "feature": scales[min(scales)]}


def _law(table: Data, name: str, against: Values) -> PowerLaw:
    if len(np.unique(against)) < 2:
        raise judge.Missing(f"an exponent needs two values or more of {against.name}")
    values, doubts = curve(table, name)
    return rg.measure.power_law(against.values.astype(float), values, sigma=doubts)


def _ends(table: Data, name: str) -> list[judge.Measured]:
    """One measure at the first and at the last place of the table."""
    (over,) = table.variance.dims
    return [measured(table.isel({over: i}), name) for i in (0, -1)]


def _scale(table: Data) -> str:
    return f"√h α = {table.scale.values[0]:g}"
