"""Verdicts on the rotation of the kernel, and on what it is worth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.linearization._judging import at_index, ran_indices, settings

LABELS = -1
NEIGHBOURS = 10  # on each side

claim = judge.Claims()


def relative(alignment: np.ndarray, j: int) -> np.ndarray:
    """Alignment (seeds, modes) of eigenfunction j over the median of its 20 neighbours."""
    if j < NEIGHBOURS or j + NEIGHBOURS >= alignment.shape[1]:
        raise judge.Missing(f"the neighbours of j = {j} were not followed")
    around = [k for k in range(j - NEIGHBOURS, j + NEIGHBOURS + 1) if k != j]
    return np.asarray(alignment[:, j] / np.median(alignment[:, around], axis=1))


def _signs(own: Data) -> list[int]:
    """The indices of eigenfunctions that were targets."""
    return ran_indices(own, 1, 10**6)


@claim("LIN-21", "alignment of the target / median of 20 neighbours >= 1.3, 1.6 in the mean")
def one_axis(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "alignment_after"):
        digits, indices = where.startswith("digits"), _signs(own)
        if digits and indices != [20, 50, 100]:
            raise judge.Missing(f"targets 20, 50 and 100 are judged, {indices} ran")
        after = {
            j: own.alignment_after.sel(index=j).transpose("seed", "mode").values for j in indices
        }
        before = own.alignment_before.transpose("seed", "mode").values
        spikes = {j: relative(after[j], j) for j in indices}
        if not digits:
            yield from _largest(where, before, after)
            continue
        mean = np.mean([*spikes.values()], axis=0)
        yield judge.above("mean of the three ratios", judge.mean_of(mean), 1.6)
        for j, spike in spikes.items():
            yield judge.above(f"{where}: ratio at the end, j = {j}", judge.mean_of(spike), 1.3)
            start = judge.mean_of(relative(before, j))
            yield judge.near(f"{where}: ratio at the start, j = {j}", start, 1.0, 0.1)
        share = own.share.sel(index=100)
        rise = judge.mean_of(share.isel(when=1) - share.isel(when=0))
        yield judge.above("rise of the share of sign(phi_100) on 50", rise, 0.3)
    return None


def _largest(where: str, before: np.ndarray, after: dict[int, np.ndarray]) -> Iterator[judge.Part]:
    """On larger sets the target gains most of all that are followed, three times the median."""
    for j, alignment in after.items():
        gain = (alignment / before)[:, 1:]
        spike = judge.mean_of(gain[:, j - 1] / np.median(gain, axis=1))
        yield judge.above(f"{where}: gain of j = {j} / median gain", spike, 3.0)
        top = judge.mean_of(gain.argmax(1) == j - 1)
        yield judge.above(f"{where}: share of seeds where it is the largest", top, 0.5)


@claim("LIN-25", "the trained kernel reaches a loss of 0.01, the initial one not; losses 100 apart")
def faster(dataset: Data) -> judge.Parts:
    told = []
    for where, own in settings(dataset, "loss"):
        for j in _judged(own, where, (LABELS, 20, 50)):
            here = own.sel(index=j)
            loss = {m: here.loss.sel(model=m).values for m in here.model.values}
            name = f"{where} {_called(j)}"
            ratio = judge.log_mean(loss["trained"] / loss["initial"])
            yield judge.below(f"{name}: loss of trained / of initial kernel", ratio, 1e-2)
            hits = {
                m: np.isfinite(here.until_low.sel(model=m).values) for m in ("trained", "initial")
            }
            yield judge.above(
                f"{name}: share that gets there, trained", judge.mean_of(hits["trained"]), 0.5
            )
            yield judge.below(f"{name}: initial", judge.mean_of(hits["initial"]), 0.5)
            told.append(
                f"{name}: trace {float(here.trace_ratio.mean()):.3g} times; with that divided out "
                f"a loss of {loss['matched'].mean():.3g} against {loss['initial'].mean():.3g}"
            )
    return "; ".join(told)


@claim(
    "LIN-26",
    "on sign(phi_50) the initial kernel is ahead by 0.08, the trained one like the network",
)
def worse(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "accuracy", "accuracy_network"):
        digits = where.startswith("digits")
        for j in _judged(own, where, (50,), labels=False):
            here = own.sel(index=j)
            initial, trained = (here.accuracy.sel(model=m) for m in ("initial", "trained"))
            name = f"{where} j = {j}"
            yield judge.above(
                f"{name}: lead of the initial kernel",
                judge.mean_of(initial - trained),
                0.08 if digits else 0.0,
            )
            gap = abs(judge.mean_of(trained - here.accuracy_network))
            yield judge.below(f"{name}: trained kernel off the network", gap, 0.06)
        matched = float(here.accuracy.sel(model="matched").mean())
    return f"with the trace divided out {matched:.3f}, initial {float(initial.mean()):.3f}"


@claim("LIN-27", "on the images' own labels the trained kernel is at least as accurate")
def better(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "accuracy"):
        values = {
            m: at_index(own.sel(model=m), "accuracy", [LABELS])[:, 0]
            for m in ("trained", "initial")
        }
        yield judge.above(
            f"{where}: lead of the trained kernel",
            judge.mean_of(values["trained"] - values["initial"]),
            0.0,
        )
        told = ", ".join(f"{m} {v.mean():.4f}" for m, v in values.items())
    return told


def _judged(own: Data, where: str, indices: tuple[int, ...], *, labels: bool = True) -> list[int]:
    """Those of the digits, or on other images all that ran."""
    if where.startswith("digits"):
        at_index(own, "accuracy_network", indices)  # raises Missing where one has not run
        return list(indices)
    return ([LABELS] if labels else []) + _signs(own)


def _called(j: int) -> str:
    return "labels" if j == LABELS else f"j = {j}"
