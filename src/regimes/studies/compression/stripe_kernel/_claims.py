"""Verdicts on the kernels of the stripe: COMP-36 to COMP-41 (spec `compression` 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import regimes as rg
from regimes.lab import Claim
from regimes.lab.judge import median_ratio
from regimes.studies._parts import Part, claim_of_parts
from regimes.studies.compression._modes import MODES, mean_part, standard_error

if TYPE_CHECKING:
    import xarray as xr

STAGES = ("initial", "at t*", "final")
KINDS = ("NTK", "last layer")
KERNELS = tuple(f"{stage} {kind}" for kind in KINDS for stage in STAGES)
FIGURE_P = 1000  # training points of Figs 9 and 10 (spec `compression` 2)


def kernel_claims(dataset: xr.Dataset) -> list[Claim]:
    """All of them; where a claim does not name a dimension it is judged at that of Fig. 9."""
    most = at_dimension(dataset, int(dataset.d.max()))
    return [
        _split(dataset),
        _flat_at_first(most),
        _information_rises(dataset),
        _label_concentrates(dataset),
        _plane_separates(most),
        _norm_falls(most),
    ]


def at_dimension(dataset: xr.Dataset, d: int) -> xr.Dataset:
    """One dimension, and the training-set size that Figs 9 and 10 use or comes next below."""
    p = dataset.p.values
    return dataset.sel(d=d, p=p[p <= FIGURE_P].max() if (p <= FIGURE_P).any() else p.min())


def _of(shown: xr.Dataset, name: str, kernel: str) -> np.ndarray:
    """Values of one kernel, (seed, ...)."""
    values = shown[name].transpose("seed", "kernel", ...).values
    return np.asarray(values[:, KERNELS.index(kernel)])


def _ending(shown: xr.Dataset) -> str:
    return (
        f"d={int(shown.d)}, p={int(shown.p)}, {shown.seed.size} seeds; "
        f"{int(shown.fitted.sum())} of them fitted, {float(shown.satisfied.mean()):.1%} of the "
        "points at the end of the runs"
    )


def _split(dataset: xr.Dataset) -> Claim:
    """Medians over seeds (spec 2): a seed that comes near the split at t* has a ratio above 1."""
    least = dataset.sel(d=int(dataset.d.min()))
    first, star, end = least.residual.transpose("stage", "p", "seed").values
    if len(end) > 1:
        ratio = median_ratio(end[-1], end[0])
        parts = [Part("end at the largest p / smallest p", ratio.value, high=1, error=ratio.error)]
        falls = ", ".join(f"{e:.3f}" for e in np.median(end, axis=1))
        why = f"median distance at the end {falls} for p = {least.p.values.tolist()}"
        return claim_of_parts("COMP-36", parts, why=why)
    ratio, each = median_ratio(end[0], star[0]), end[0] / star[0]
    parts = [
        Part("median at the end / at t*", ratio.value, high=0.6, error=ratio.error),
        Part("median at the end", float(np.median(end[0])), high=0.18),
    ]
    why = (
        f"medians {np.median(first):.3f} at first, {np.median(star):.3f} at t*; seed by seed the "
        f"ratio is {each.mean():.3f} ± {float(standard_error(each)):.2g}, from {each.min():.2f} to "
        f"{each.max():.2f}; {_ending(at_dimension(dataset, int(least.d)))}"
    )
    return claim_of_parts("COMP-36", parts, why=why)


def _flat_at_first(shown: xr.Dataset) -> Claim:
    each = _of(shown, "information", "initial NTK")
    ranks = np.arange(MODES) - (MODES - 1) / 2
    change = each @ ranks / (ranks @ ranks) * (MODES - 1)
    floor = rg.measure.mutual_information_floor()
    top = int(each.mean(0).argmax())
    largest = mean_part(f"largest of the ten (mode {top + 1})", each[:, top], high=0.14)
    # no trend: a straight line through the ten changes by less than half the estimator's floor
    trend = mean_part("change from rank 1 to 10", change, low=-floor / 2, high=floor / 2)
    why = f"mean of the ten {each.mean():.3f}, floor {floor:.4f}; {_ending(shown)}"
    return claim_of_parts("COMP-37", [largest, trend], why=why)


def _information_rises(dataset: xr.Dataset) -> Claim:
    parts, notes = [], []
    for d in sorted(dataset.d.values, reverse=True):
        shown = at_dimension(dataset, int(d))
        final, last = (
            _of(shown, "information", f"final {kind}")[:, 0] for kind in ("NTK", "last layer")
        )
        first = _of(shown, "information", "initial NTK")
        rise = _of(shown, "information", "final NTK").mean(1) / first.mean(1)
        parts += [
            mean_part(f"d={d} top mode of the final NTK", final, low=0.5),
            mean_part(f"d={d} of the last layer", last, low=0.5),
            mean_part(f"d={d} mean of ten final / initial", rise, low=1.5),
        ]
        notes.append(f"top mode at first {first[:, 0].mean():.3f} (d={d})")
    return claim_of_parts("COMP-38", parts, why=", ".join(notes))


def _label_concentrates(dataset: xr.Dataset) -> Claim:
    """Judged at the d of Fig. 9; the others are told.

    At first the label's linear part, <x_1 y>^2 = 0.135 of it, is shared by the d linear modes,
    which are degenerate in an isotropic kernel: the fewer they are, the larger the largest share.
    """
    parts: list[Part] = []
    notes = []
    for d in sorted(dataset.d.values, reverse=True):
        shown = at_dimension(dataset, int(d))
        first, final = (_of(shown, "projection", f"{stage} NTK") for stage in ("initial", "final"))
        centred = _of(shown, "projection_centered", "final NTK").mean(0)
        gap = centred[0] - centred[1:].max()
        each = [
            mean_part("sum of ten final / initial", final.sum(1) / first.sum(1), low=1.4),
            mean_part("largest mode final", final.max(1), low=0.15),
            mean_part("largest mode initial", first.max(1), high=0.07),
            Part("centred kernel: mode 1 less the next", float(gap), low=0.0),
        ]
        told = (
            f"d={d}: sum {first.sum(1).mean():.3f} to {final.sum(1).mean():.3f}, raw mode 1 "
            f"{final[:, 0].mean():.3f}, centred mode 1 {centred[0]:.3f}"
        )
        if parts:
            told += ", " + ", ".join(part.shown for part in each)
            told += f" (the label's linear part lies on {d} modes only)"
        parts = parts or each
        notes.append(told)
    return claim_of_parts("COMP-39", parts, why="; ".join(notes))


def _plane_separates(shown: xr.Dataset) -> Claim:
    parts = [
        mean_part("5-NN error final", _of(shown, "plane_error", "final NTK"), high=0.12),
        mean_part("initial", _of(shown, "plane_error", "initial NTK"), low=0.35),
        mean_part("last layer", _of(shown, "plane_error", "final last layer"), high=0.08),
        mean_part("last-layer top share", _of(shown, "share", "final last layer"), low=0.85),
    ]
    return claim_of_parts("COMP-40", parts, why=_ending(shown))


def _norm_falls(shown: xr.Dataset) -> Claim:
    first, final = (_of(shown, "norm", f"{stage} NTK") for stage in ("initial", "final"))
    parts, notes = [], []
    for index, ridge in enumerate(shown.ridge.values):
        ratio = final[:, index] / first[:, index]
        if index == 0:
            parts.append(mean_part(f"final / initial, ridge {ridge:g}", ratio, high=0.8))
        notes.append(
            f"ridge {ridge:g}: {first[:, index].mean():.4g} to {final[:, index].mean():.4g}"
        )
    return claim_of_parts("COMP-41", parts, why=f"{', '.join(notes)}; {_ending(shown)}")
