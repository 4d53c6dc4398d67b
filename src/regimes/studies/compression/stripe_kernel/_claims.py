"""Verdicts on the kernels of the stripe: COMP-36 to COMP-41."""

from collections.abc import Generator

import numpy as np

import regimes as rg
from regimes.lab import Data, judge
from regimes.studies.compression._modes import MODES

STAGES = ("initial", "at t*", "final")
KINDS = ("NTK", "last layer")
KERNELS = tuple(f"{stage} {kind}" for kind in KINDS for stage in STAGES)
FIGURE_P = 1000  # our training points for figs. 9 and 10, whose p the paper does not say

claim = judge.Claims()


def dimensions(dataset: Data) -> list[int]:
    """Those that have run, the largest first."""
    ran = judge.where_ran(dataset, "d", "residual")
    return sorted(ran.d.values.tolist(), reverse=True)


def at_dimension(dataset: Data, d: int) -> Data:
    """One dimension, and the training-set size that figs. 9 and 10 use or comes next below."""
    ran = _sizes(dataset, d)
    p = ran.p.values
    return ran.sel(p=p[p <= FIGURE_P].max() if (p <= FIGURE_P).any() else p.min())


def as_in_figure_9(dataset: Data) -> Data:
    """The largest dimension: a claim that names none is judged there."""
    return at_dimension(dataset, dimensions(dataset)[0])


def _sizes(dataset: Data, d: int) -> Data:
    """The training-set sizes that have run in one dimension, with the kernels' names."""
    ran = judge.where_ran(dataset, "p", "residual", d=d)
    return ran.sortby("p").assign_coords(kernel=list(KERNELS))


def _of(shown: Data, name: str, kernel: str) -> np.ndarray:
    """Values of one kernel, (seed, ...)."""
    return np.asarray(shown[name].sel(kernel=kernel).transpose("seed", ...).values)


def _ending(shown: Data) -> str:
    return (
        f"d={int(shown.d)}, p={int(shown.p)}, {shown.seed.size} seeds; "
        f"{int(shown.fitted.sum())} of them fitted, {float(shown.satisfied.mean()):.1%} of the "
        "points at the end of the runs"
    )


@claim("COMP-36", "training brings the kernel near one that ignores the other directions")
def _split(dataset: Data) -> judge.Parts:
    """Each network is held against its own value at t*; medians over seeds."""
    ran = _sizes(dataset, dimensions(dataset)[-1])
    first, star, end = ran.residual.transpose("stage", "p", "seed").values
    if len(end) > 1:
        yield judge.below(
            "end at the largest p / smallest p", judge.median_ratio(end[-1], end[0]), 1
        )
        falls = ", ".join(f"{e:.3f}" for e in np.median(end, axis=1))
        return f"median distance at the end {falls} for p = {ran.p.values.tolist()}"
    each = end[0] / star[0]
    yield judge.below("end / at t* of the same network, median", judge.median_of(each), 0.6)
    yield judge.below("at the end, median", judge.median_of(end[0]), 0.18)
    return (
        f"medians {np.median(first):.3f} at first, {np.median(star):.3f} at t*; the ratio is above "
        f"0.6 for {int((each > 0.6).sum())} of {len(each)} networks, from {each.min():.2f} to "
        f"{each.max():.2f}, mean {judge.mean_of(each)}; {_ending(ran.isel(p=0))}"
    )


@claim("COMP-36b", "ours: so do the medians, whatever a network was near to at t*")
def _split_of_medians(dataset: Data) -> judge.Parts:
    """A network that happens to be near its split at t* has a ratio above 1."""
    ran = at_dimension(dataset, dimensions(dataset)[-1])
    _, star, end = ran.residual.transpose("stage", "seed").values
    yield judge.below("median at the end / median at t*", judge.median_ratio(end, star), 0.6)
    yield judge.below("median at the end", judge.median_of(end), 0.18)
    return _ending(ran)


@claim("COMP-37", "at first no eigenvector tells more of the label than the estimator's floor")
def _flat_at_first(dataset: Data) -> judge.Parts:
    shown, floor = as_in_figure_9(dataset), rg.measure.mutual_information_floor()
    each = _of(shown, "information", "initial NTK")
    ranks = np.arange(MODES) - (MODES - 1) / 2
    change = each @ ranks / (ranks @ ranks) * (MODES - 1)
    top = int(each.mean(0).argmax())
    yield judge.below(f"largest of the ten (mode {top + 1})", judge.mean_of(each[:, top]), 0.14)
    # no trend: a straight line through the ten changes by less than half the estimator's floor
    yield judge.within("change from rank 1 to 10", judge.mean_of(change), -floor / 2, floor / 2)
    return f"mean of the ten {each.mean():.3f}, floor {floor:.4f}; {_ending(shown)}"


@claim("COMP-38", "training makes the first eigenvectors tell most of the label")
def _information_rises(dataset: Data) -> judge.Parts:
    notes = []
    for d in dimensions(dataset):
        shown = at_dimension(dataset, d)
        first, final, last = (
            _of(shown, "information", kernel)
            for kernel in ("initial NTK", "final NTK", "final last layer")
        )
        yield judge.above(f"d={d} top mode of the final NTK", judge.mean_of(final[:, 0]), 0.5)
        yield judge.above(f"d={d} of the last layer", judge.mean_of(last[:, 0]), 0.5)
        rise = judge.mean_of(final.mean(1) / first.mean(1))
        yield judge.above(f"d={d} mean of ten final / initial", rise, 1.5)
        notes.append(f"top mode at first {first[:, 0].mean():.3f} (d={d})")
    return ", ".join(notes)


@claim("COMP-39", "training puts a large part of the label on the first eigenvectors")
def _label_concentrates(dataset: Data) -> judge.Parts:
    """In every d that ran, for the paper names none.

    At first the label's linear part, <x_1 y>^2 = 0.135 of it, is shared by the d linear modes,
    which are degenerate in an isotropic kernel: the fewer they are, the larger the largest share.
    """
    notes = []
    for d in dimensions(dataset):
        notes.append((yield from _concentration(at_dimension(dataset, d))))
    shared = "at first the label's linear part, 0.135 of it, is shared by d modes: of few, each is"
    return f"{'; '.join(notes)}; {shared} larger"


@claim("COMP-39b", "ours: so it does in the largest dimension that ran")
def _label_concentrates_where_many_share(dataset: Data) -> judge.Parts:
    told = yield from _concentration(as_in_figure_9(dataset))
    return told


def _concentration(shown: Data) -> Generator[judge.Part, None, str]:
    first, final = (_of(shown, "projection", f"{stage} NTK") for stage in ("initial", "final"))
    centred, at = _of(shown, "projection_centered", "final NTK"), f"d={int(shown.d)}"
    yield judge.above(
        f"{at} sum of ten final / initial", judge.mean_of(final.sum(1) / first.sum(1)), 1.4
    )
    yield judge.above(f"{at} largest mode final", judge.mean_of(final.max(1)), 0.15)
    yield judge.below(f"{at} largest mode initial", judge.mean_of(first.max(1)), 0.07)
    lead = judge.resampled(centred, lambda drawn: drawn.mean(0)[0] - drawn.mean(0)[1:].max())
    yield judge.above(f"{at} centred kernel: mode 1 less the next", lead, 0.0)
    return (
        f"{at}: sum {first.sum(1).mean():.3f} to {final.sum(1).mean():.3f}, raw mode 1 "
        f"{final[:, 0].mean():.3f}, centred mode 1 {centred[:, 0].mean():.3f}"
    )


@claim("COMP-40", "training pulls the classes apart in the plane of two eigenvectors")
def _plane_separates(dataset: Data) -> judge.Parts:
    shown = as_in_figure_9(dataset)
    error = {kernel: judge.mean_of(_of(shown, "plane_error", kernel)) for kernel in KERNELS}
    yield judge.below("5-NN error final", error["final NTK"], 0.12)
    yield judge.above("initial", error["initial NTK"], 0.35)
    yield judge.below("last layer", error["final last layer"], 0.08)
    yield judge.above(
        "last-layer top share", judge.mean_of(_of(shown, "share", "final last layer")), 0.85
    )
    return _ending(shown)


@claim("COMP-41", "the norm of the label falls with training")
def _norm_falls(dataset: Data) -> judge.Parts:
    """Judged with the first ridge, and where several p ran (the full size) with the others too."""
    shown, several = as_in_figure_9(dataset), _sizes(dataset, dimensions(dataset)[0]).sizes["p"] > 1
    first, final = (_of(shown, "norm", f"{stage} NTK").T for stage in ("initial", "final"))
    ridges = shown.ridge.values
    for ridge, before, after in zip(ridges[: None if several else 1], first, final, strict=False):
        yield judge.below(f"final / initial, ridge {ridge:g}", judge.mean_of(after / before), 0.8)
    norms = ", ".join(
        f"ridge {ridge:g}: {before.mean():.4g} to {after.mean():.4g}"
        for ridge, before, after in zip(ridges, first, final, strict=True)
    )
    return f"{norms}; {_ending(shown)}"
