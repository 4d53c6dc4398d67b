"""Verdicts on what the variants change."""

from contextlib import suppress

import numpy as np

from regimes.lab import Data, finished, judge
from regimes.studies.regimes._outcomes import (
    Cell,
    cell_of,
    ensemble_gap,
    error_gap,
    training_points,
    variance_ratio,
)

FEATURE, MIDDLE, LAZY = 0.1, 1.0, 1e3  # the scales that are compared
TINY = 60  # training points: below, nothing is judged
FULL = 10_000  # training points of the paper's own runs
NAMED = ("fashion_mnist", "mnist", "emnist", "cifar10")  # sets of REG-29
ABSENT = "EMNIST is not at hand and was not run"

claim = judge.Claims()


def variants_run(dataset: Data) -> list[str]:
    """Variants that have run, in order."""
    done = finished(dataset)
    return [str(name) for name in done.variant.values[done.values]]


def variant_of(dataset: Data, name: str) -> Data:
    """One variant with its scales, which are its own, as coordinate.

    Raises:
        Missing: it has not run.
    """
    if name not in variants_run(dataset):
        raise judge.Missing(f"the variant {name} has not run")
    row = dataset.sel(variant=name)
    row = row.isel(scale=row.alpha.notnull().values).set_coords("alpha")
    return row.assign_coords(scale=row.alpha.values * float(row.width) ** 0.5)


@claim("REG-29", "ensemble error of each named set lower at scale 1000 than at 0.1")
def _sets(dataset: Data) -> judge.Parts:
    """The sets the papers name, as far as they have run; others are told."""
    parts, told = [], []
    for name in variants_run(dataset):
        trainer, _, images = name.partition(":")
        if trainer != "flow" or images == "pca":
            continue
        row = _judged(dataset, name)
        feature, lazy = (cell_of(row, scale=scale) for scale in (FEATURE, LAZY))
        label, gap = f"{images} ({int(row.d)} pixels)", ensemble_gap(feature, lazy)
        if images in NAMED:
            parts.append(judge.above(f"{label} ensemble error(0.1) - (1000) in %", gap, 0.0))
        told.append(
            f"{label}, P={int(row.p)}: {feature.shown} feature, {lazy.shown} lazy"
            + ("" if images in NAMED else f", ensembles apart by {gap} %, not named")
        )
    if not parts:
        raise judge.Missing("none of the sets that the papers name has run")
    yield from parts
    return "; ".join([*told, ABSENT])


@claim("REG-29b", "ours, on few points: error of MNIST 10 PCA lower at 1000 than at 0.1")
def _components(dataset: Data) -> judge.Parts:
    feature, lazy = _cells(dataset, "flow:pca", FEATURE, LAZY)
    yield judge.above("error(0.1) - error(1000) in %", error_gap(feature, lazy), 0.0)
    p = int(dataset.p.sel(variant="flow:pca"))
    return (
        f"MNIST 10 PCA, P={p}: {feature.shown} feature, {lazy.shown} lazy; of ensembles "
        f"{ensemble_gap(feature, lazy)} %"
    )


@claim("REG-33", "Adam: ensemble error lower at scale 1000 than at 0.1")
def _adam(dataset: Data) -> judge.Parts:
    name, photographs = "adam:pca", "adam:cifar10"
    if photographs in variants_run(dataset) and int(dataset.p.sel(variant=photographs)) >= FULL:
        name = photographs
    feature, lazy = _cells(dataset, name, FEATURE, LAZY)
    gap = ensemble_gap(feature, lazy)
    yield judge.above("ensemble error(0.1) - ensemble error(1000) in %", gap, 0.0)
    told = f"{name}: {feature.shown} at scale 0.1, {lazy.shown} at scale 1000"
    if name != photographs:
        with suppress(judge.Missing):
            feature, lazy = _cells(dataset, photographs, FEATURE, LAZY)
            told += f"; not judged, CIFAR-10: {feature.shown} and {lazy.shown}"
    return told


@claim("REG-34", "variance of deep networks > 1.2 times")
def _depth(dataset: Data) -> judge.Parts:
    plain, deep = _beside_plain(dataset, "deep", LAZY)
    yield judge.above("variance ratio", variance_ratio(deep, plain), 1.2)
    sizes = dataset.sel(variant=["plain", "deep"])
    if int(sizes.p[1]) >= FULL:
        yield judge.below("ensemble errors apart by %", abs(ensemble_gap(deep, plain)), 1.0)
        yield judge.above("error of deep - plain in %", error_gap(deep, plain), 0.0)
    depths = sizes.depth.values.astype(int)
    return (
        f"at scale 1000, L={depths[0]}: {plain.shown}; L={depths[1]}: {deep.shown}; that ensembles "
        "hardly change with depth is judged with 10,000 training points only"
    )


@claim("REG-35", "errors apart by < 2 %")
def _soft(dataset: Data) -> judge.Parts:
    told = []
    for scale in (MIDDLE, LAZY):
        plain, soft = _beside_plain(dataset, "soft", scale)
        gap = abs(error_gap(soft, plain))
        yield judge.below(f"errors apart at scale {scale:g} in %", gap, 2.0)
        told.append(f"scale {scale:g}: {plain.shown} and {soft.shown}")
        told.append(f"outputs differ by {100 * _difference(dataset, scale):.1f} %")
    return "; ".join(told)


@claim("REG-41", "errors apart by < 1 % for alpha <= 0.1, alpha f worse by > 4 % at alpha = 100")
def _offset(dataset: Data) -> judge.Parts:
    with_start, without = (over_alpha(_judged(dataset, name)) for name in ("f", "f-f0"))
    alphas = with_start.alpha.values
    small = alphas[alphas <= 0.1 * 1.001].tolist()
    if not small:
        raise judge.Missing("no alpha of 0.1 or less was run")
    pairs = {
        alpha: (cell_of(with_start, alpha=alpha), cell_of(without, alpha=alpha))
        for alpha in (*small, 100.0)
    }
    gaps = {alpha: error_gap(*pair) for alpha, pair in pairs.items()}
    yield judge.above("error of alpha f - of alpha (f-f0) at alpha=100 in %", gaps[100.0], 4.0)
    worst = max((abs(gaps[alpha]) for alpha in small), key=lambda gap: gap.value)
    yield judge.below("largest for alpha <= 0.1", worst, 1.0)
    return "; ".join(
        f"alpha={alpha:g}: {100 * a.error.mean():.1f} and {100 * b.error.mean():.1f} %"
        for alpha, (a, b) in pairs.items()
    )


@claim("REG-42", "errors apart by < 2 %, variances within 40 %")
def _biases(dataset: Data) -> judge.Parts:
    told = []
    for scale in (FEATURE, LAZY):
        plain, biased = _beside_plain(dataset, "biases", scale)
        gap = abs(error_gap(biased, plain))
        yield judge.below(f"errors apart at scale {scale:g} in %", gap, 2.0)
        ratio = variance_ratio(biased, plain)
        yield judge.within(f"variance ratio at scale {scale:g}", ratio, 0.6, 1.4)
        told.append(f"scale {scale:g}: {plain.shown} without, {biased.shown} with biases")
    return "; ".join(told)


def over_alpha(row: Data) -> Data:
    """A variant along alpha instead of the scale: what the predictors are compared by."""
    return row.swap_dims(scale="alpha")


def _judged(dataset: Data, variant: str) -> Data:
    row = variant_of(dataset, variant)
    training_points(row, TINY)
    return row


def _cells(dataset: Data, variant: str, *scales: float) -> list[Cell]:
    row = _judged(dataset, variant)
    return [cell_of(row, scale=scale) for scale in scales]


def _beside_plain(dataset: Data, variant: str, scale: float) -> list[Cell]:
    return [cell for name in ("plain", variant) for cell in _cells(dataset, name, scale)]


def _difference(dataset: Data, scale: float) -> float:
    """|F_soft - F_plain|/|F_plain| on some test points, the mean over seeds."""
    plain, soft = (
        judge.need(variant_of(dataset, name), scale=scale)["sample"] for name in ("plain", "soft")
    )
    size = np.sqrt((plain**2).sum("point"))
    return float((np.sqrt(((soft - plain) ** 2).sum("point")) / size).mean())
