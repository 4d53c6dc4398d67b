"""Verdicts on what the variants change: REG-29, 33, 34, 35, 41, 42."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regimes.lab import Claim
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.regimes._outcomes import (
    Cell,
    cell_of,
    ensemble_gap,
    error_gap,
    variance_ratio,
)

if TYPE_CHECKING:
    import xarray as xr

FEATURE, MIDDLE, LAZY = 0.1, 1.0, 1e3  # the values of at that are compared
FINISHED = 2  # in `trial_state` of `lab.collect`
TINY = 60  # training points: below, nothing is judged
FULL = 10_000  # training points of the document's own runs
ABSENT = "EMNIST is not at hand and was not run"


def judged(dataset: xr.Dataset) -> list[Claim]:
    """All claims; those whose variants are missing say so."""
    return [
        _sets(dataset),
        _adam(dataset),
        _depth(dataset),
        _soft(dataset),
        _offset(dataset),
        _biases(dataset),
    ]


def finished(dataset: xr.Dataset) -> list[str]:
    """Variants that have run, in order."""
    done = dataset.trial_state.values == FINISHED
    return [str(name) for name in dataset.variant.values[done]]


def _cell(dataset: xr.Dataset, variant: str, at: float, coordinate: str = "at") -> Cell | None:
    if variant not in finished(dataset):
        return None
    return cell_of(dataset.sel(variant=variant), at, coordinate)


def _missing(dataset: xr.Dataset, needed: list[tuple[str, float]], coordinate: str = "at") -> str:
    """Why the cells needed cannot be compared, or nothing."""
    lost = [
        f"{variant} at {coordinate}={at:g}"
        for variant, at in needed
        if _cell(dataset, variant, at, coordinate) is None
    ]
    if lost:
        return f"not run, or fewer than three runs fitted: {', '.join(lost)}"
    small = min(int(dataset.p.sel(variant=variant)) for variant, _ in needed)
    return f"{small} training points are too few to judge" if small < TINY else ""


def _cells(
    dataset: xr.Dataset, needed: list[tuple[str, float]], coordinate: str = "at"
) -> list[Cell]:
    found = [_cell(dataset, variant, at, coordinate) for variant, at in needed]
    return [each for each in found if each is not None]


def _gap_part(name: str, gap: tuple[float, float], **limits: float) -> Part:
    """Gaps of errors in percent."""
    return Part(name, 100 * gap[0], error=100 * gap[1], **limits)


def _sets(dataset: xr.Dataset) -> Claim:
    """REG-29: on ten components by the row's criterion; on pixels, as far as they have run."""
    expected = "mean error of MNIST 10 PCA lower at at=1000 than at 0.1"
    needed = [("flow:pca", FEATURE), ("flow:pca", LAZY)]
    pixels = [name for name in finished(dataset) if name.startswith("flow:") and name != "flow:pca"]
    parts, told = [], []
    for name in pixels:
        both = _cells(dataset, [(name, FEATURE), (name, LAZY)])
        if len(both) < 2:
            told.append(f"{name.partition(':')[2]}: too few runs fitted")
            continue
        label = f"{name.partition(':')[2]} ({int(dataset.d.sel(variant=name))} pixels)"
        gap, error = ensemble_gap(*both)
        told.append(
            f"{label}: {both[0].shown} feature, {both[1].shown} lazy, ensembles apart by "
            f"{100 * gap:.2f} ± {100 * error:.2f} %"
        )
        parts.append(_gap_part(f"{label} ensemble error(0.1) - (1000) in %", (gap, error), low=0.0))
    full = [name for name in pixels if int(dataset.p.sel(variant=name)) >= FULL]
    if full and parts:  # the document's own size: the sets themselves, ten components being REG-30
        return claim_of_parts("REG-29", parts, why="; ".join([*told, ABSENT]))
    if why := _missing(dataset, needed):
        return Claim.unclear("REG-29", expected, why="; ".join([why, *told, ABSENT]))
    feature, lazy = _cells(dataset, needed)
    first = _gap_part("error(0.1) - error(1000) in %", error_gap(feature, lazy), low=0.0)
    also = _gap_part("ensemble error(0.1) - (1000) in %", ensemble_gap(feature, lazy), low=0.0)
    p = int(dataset.p.sel(variant="flow:pca"))
    told.insert(
        0, f"MNIST 10 PCA, P={p}: {feature.shown} feature, {lazy.shown} lazy; not judged, pixels"
    )
    return claim_of_parts("REG-29", [first, also], why="; ".join([*told, ABSENT]))


def _adam(dataset: xr.Dataset) -> Claim:
    """REG-33."""
    name = "adam:pca"
    if "adam:cifar10" in finished(dataset) and int(dataset.p.sel(variant="adam:cifar10")) >= FULL:
        name = "adam:cifar10"
    needed = [(name, FEATURE), (name, LAZY)]
    if why := _missing(dataset, needed):
        expected = "Adam: ensemble error lower at at=1000 than at 0.1"
        return Claim.unclear("REG-33", expected, why=why)
    feature, lazy = _cells(dataset, needed)
    part = _gap_part(
        "ensemble error(0.1) - ensemble error(1000) in %", ensemble_gap(feature, lazy), low=0.0
    )
    told = [f"{name}: {feature.shown} at at=0.1, {lazy.shown} at at=1000"]
    other = _cells(dataset, [("adam:cifar10", FEATURE), ("adam:cifar10", LAZY)])
    if name == "adam:pca" and len(other) == 2:
        told.append(f"not judged, CIFAR-10: {other[0].shown} and {other[1].shown}")
    return claim_of_parts("REG-33", [part], why="; ".join(told))


def _depth(dataset: xr.Dataset) -> Claim:
    """REG-34."""
    needed = [("plain", LAZY), ("deep", LAZY)]
    if why := _missing(dataset, needed):
        return Claim.unclear("REG-34", "variance of deep networks > 1.2 times", why=why)
    plain, deep = _cells(dataset, needed)
    ratio, error = variance_ratio(deep, plain)
    parts = [Part("variance ratio", ratio, low=1.2, error=error)]
    if int(dataset.p.sel(variant="deep")) >= FULL:
        gap, spread = ensemble_gap(deep, plain)
        flat = Part("ensemble errors apart by %", 100 * abs(gap), high=1.0, error=100 * spread)
        parts += [flat, _gap_part("error of deep - plain in %", error_gap(deep, plain), low=0.0)]
    depths = [int(dataset.depth.sel(variant=name)) for name in ("plain", "deep")]
    why = (
        f"at at=1000, L={depths[0]}: {plain.shown}; L={depths[1]}: {deep.shown}; that ensembles "
        "hardly change with depth is judged with 10,000 training points only"
    )
    return claim_of_parts("REG-34", parts, why=why)


def _soft(dataset: xr.Dataset) -> Claim:
    """REG-35."""
    scales = (MIDDLE, LAZY)
    needed = [(variant, at) for at in scales for variant in ("plain", "soft")]
    if why := _missing(dataset, needed):
        return Claim.unclear("REG-35", "errors apart by < 2 %", why=why)
    cells = _cells(dataset, needed)
    parts, told = [], []
    for at, plain, soft in zip(scales, cells[::2], cells[1::2], strict=True):
        gap, error = error_gap(soft, plain)
        name = f"errors apart at at={at:g} in %"
        parts.append(Part(name, 100 * abs(gap), high=2.0, error=100 * error))
        told.append(f"at={at:g}: {plain.shown} and {soft.shown}")
        told.append(f"outputs differ by {100 * _difference(dataset, at):.1f} %")
    return claim_of_parts("REG-35", parts, why="; ".join(told))


def _difference(dataset: xr.Dataset, at: float) -> float:
    """|F_soft - F_plain|/|F_plain| on some test points, the mean over seeds."""
    rows = [dataset.sel(variant=name) for name in ("plain", "soft")]
    places = [int(np.isclose(row["at"].values, at, rtol=1e-3).argmax()) for row in rows]
    plain, soft = (row["sample"].isel(scale=i) for row, i in zip(rows, places, strict=True))
    size = np.sqrt((plain**2).sum("point"))
    return float((np.sqrt(((soft - plain) ** 2).sum("point")) / size).mean())


def _offset(dataset: xr.Dataset) -> Claim:
    """REG-41."""
    expected = "errors apart by < 1 % for alpha <= 0.1, alpha f worse by > 4 % at alpha = 100"
    known = [name for name in ("f", "f-f0") if name in finished(dataset)]
    if len(known) < 2:
        return Claim.unclear("REG-41", expected, why="f and f-f0 have not both run")
    alphas = dataset.alpha.sel(variant="f").values
    alphas = alphas[np.isfinite(alphas)]
    small = [float(each) for each in alphas if each <= 0.1 * 1.001]
    needed = [(name, each) for each in (*small, 100.0) for name in ("f", "f-f0")]
    if (why := _missing(dataset, needed, "alpha")) or not small:
        return Claim.unclear("REG-41", expected, why=why or "no alpha of 0.1 or less was run")
    cells = _cells(dataset, needed, "alpha")
    pairs = list(zip(cells[::2], cells[1::2], strict=True))
    gaps = [error_gap(with_f0, without) for with_f0, without in pairs]
    worst = max(gaps[:-1], key=lambda gap: abs(gap[0]))
    parts = [
        _gap_part("error of alpha f - of alpha (f-f0) at alpha=100 in %", gaps[-1], low=4.0),
        Part("largest for alpha <= 0.1", 100 * abs(worst[0]), high=1.0, error=100 * worst[1]),
    ]
    told = [
        f"alpha={at:g}: {100 * a.error.mean():.1f} and {100 * b.error.mean():.1f} %"
        for (_, at), (a, b) in zip(needed[::2], pairs, strict=True)
    ]
    return claim_of_parts("REG-41", parts, why="; ".join(told))


def _biases(dataset: xr.Dataset) -> Claim:
    """REG-42."""
    scales = (FEATURE, LAZY)
    needed = [(variant, at) for at in scales for variant in ("plain", "biases")]
    if why := _missing(dataset, needed):
        return Claim.unclear("REG-42", "errors apart by < 2 %, variances within 40 %", why=why)
    cells = _cells(dataset, needed)
    parts, told = [], []
    for at, plain, biased in zip(scales, cells[::2], cells[1::2], strict=True):
        gap, error = error_gap(biased, plain)
        parts.append(
            Part(f"errors apart at at={at:g} in %", 100 * abs(gap), high=2.0, error=100 * error)
        )
        ratio, spread = variance_ratio(biased, plain)
        parts.append(Part(f"variance ratio at at={at:g}", ratio, 0.6, 1.4, spread))
        told.append(f"at={at:g}: {plain.shown} without, {biased.shown} with biases")
    return claim_of_parts("REG-42", parts, why="; ".join(told))
