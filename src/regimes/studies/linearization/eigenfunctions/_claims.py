"""Verdicts on eigenfunctions as targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from regimes.lab import Data, judge
from regimes.studies.linearization._judging import (
    at_index,
    leads,
    ran_indices,
    settings,
    spearman,
    trend,
)

TASKS = (2, 5, 20, 50, 100, 200)  # 0-based, on digits; larger sets are judged where they ran
FIRST, LAST = TASKS[0], TASKS[-1]

claim = judge.Claims()


def _tasks(own: Data, images: str) -> list[int]:
    return list(TASKS) if images.startswith("digits") else ran_indices(own, 1, 10**6)


def _falls(dataset: Data, name: str, fall: float) -> judge.Parts:
    for where, own in settings(dataset, name):
        indices = _tasks(own, where)
        yield judge.below(
            f"{where}: rank correlation of j and accuracy", trend(own, name, indices), -0.9
        )
        if where.startswith("digits"):
            ends = at_index(own, name, (FIRST, LAST))
            yield judge.above(
                f"fall from j = {FIRST} to {LAST}", judge.mean_of(ends[:, 0] - ends[:, 1]), fall
            )
    return None


@claim("LIN-05", "rank correlation <= -0.9; accuracy falls by 0.12 from j = 2 to 200")
def linear_falls(dataset: Data) -> judge.Parts:
    yield from _falls(dataset, "accuracy_linear", 0.12)
    return _told(dataset, "accuracy_linear")


@claim("LIN-06", "rank correlation <= -0.9; accuracy falls by 0.25 from j = 2 to 200")
def network_falls(dataset: Data) -> judge.Parts:
    yield from _falls(dataset, "accuracy_network", 0.25)
    return _told(dataset, "accuracy_network")


@claim("LIN-07", "rank correlation of both accuracies >= 0.9")
def same_order(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "accuracy_linear", "accuracy_network"):
        indices = _tasks(own, where)
        both = np.stack([at_index(own, f"accuracy_{m}", indices) for m in ("linear", "network")], 1)
        found = judge.resampled(both, lambda drawn: spearman(*drawn.mean(0)))
        yield judge.above(f"{where}: rank correlation of both accuracies", found, 0.9)
    return None


@claim("LIN-08", "the linearisation is ahead by 0.03 at j = 20, 50, 100 and by 0.07 in the mean")
def linear_wins(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "accuracy_linear", "accuracy_network"):
        digits = where.startswith("digits")
        indices = [20, 50, 100] if digits else ran_indices(own, 20, 500)
        if not indices:
            raise judge.Missing("no index from 20 to 500 was run")
        ahead = at_index(own, "accuracy_linear", indices) - at_index(
            own, "accuracy_network", indices
        )
        if digits:
            yield judge.above("mean lead of the linearisation", judge.mean_of(ahead.mean(1)), 0.07)
        for j, lead in zip(indices, ahead.T, strict=True):
            yield judge.above(
                f"{where}: lead at j = {j}", judge.mean_of(lead), 0.03 if digits else 0.0
            )
    return None


@claim("LIN-09", "steps to a loss of 0.01 do not fall with j, but for one inversion")
def steps_grow(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "loss_network"):
        digits = where.startswith("digits")
        indices = [0, 2, 5, 10, 20] if digits else ran_indices(own, 0, 10**6)
        steps = np.nan_to_num(at_index(own, "until_low_network", indices), nan=np.inf)
        found = judge.resampled(steps, _inversions)
        yield judge.below(f"{where}: inversions of the median steps along j", found, 1.0)
    return _told(dataset, "until_low_network", np.median)


def _inversions(steps: np.ndarray) -> float:
    middle = np.sort(steps, axis=0)[
        (len(steps) - 1) // 2
    ]  # of an even number the lower: no inf - inf
    return float((middle[1:] < middle[:-1]).sum())


@claim("LIN-10", "rank correlation of j with both distances of the network >= 0.9, up to j = 200")
def distance_grows(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "distance_network", "cosine_network"):
        indices = (
            [0, 2, 5, 10, 20, 50, 100, 200] if where.startswith("digits") else _tasks(own, where)
        )
        for name, told in (("distance", "l2"), ("cosine", "cosine")):
            found = trend(own, f"{name}_network", indices)
            yield judge.above(f"{where}: rank correlation of j and {told} distance", found, 0.9)
    return _told(dataset, "distance_network")


@claim("LIN-24", "networks reach a loss of 0.01 and linearisations do not; losses 10 times apart")
def sooner(dataset: Data) -> judge.Parts:
    for where, own in settings(dataset, "loss_network", "loss_linear"):
        indices = [5, 10, 20] if where.startswith("digits") else ran_indices(own, 5, 400)
        for j in indices:
            ratio = at_index(own, "loss_linear", [j]) / at_index(own, "loss_network", [j])
            name = f"{where} j = {j}"
            yield judge.above(
                f"{name}: loss of linearisation / of network", judge.log_mean(ratio), 10
            )
            hits = [
                np.isfinite(at_index(own, f"until_low_{m}", [j])) for m in ("network", "linear")
            ]
            yield judge.above(
                f"{name}: share of networks that get there", judge.mean_of(hits[0]), 0.5
            )
            yield judge.below(f"{name}: share of linearisations", judge.mean_of(hits[1]), 0.5)
    return None


@claim("LIN-28", "with Adam both fall from j = 5 to 50, the linearisation ahead at 50 by 0.05")
def adam(dataset: Data) -> judge.Parts:
    names = ("accuracy_linear", "accuracy_network")
    for where, own in settings(dataset, *names, optimiser="adam"):
        linear, network = (at_index(own, name, (5, 50)) for name in names)
        yield judge.above(
            f"{where}: lead of the linearisation at j = 50",
            judge.mean_of(linear[:, 1] - network[:, 1]),
            0.05,
        )
        yield judge.above(
            "fall of the linearisation", judge.mean_of(linear[:, 0] - linear[:, 1]), 0.0
        )
        yield judge.above("fall of the network", judge.mean_of(network[:, 0] - network[:, 1]), 0.0)
    return None


@claim("LIN-29", "where the network overtakes the linearisation", report=True)
def crossing(dataset: Data) -> judge.Parts:
    yield from leads(dataset, (200, 400))
    return None


@claim(
    "LIN-36", "norms of sign(phi_j) grow with j, rank correlation >= 0.9, alignments fall, <= -0.95"
)
def norms(dataset: Data) -> judge.Parts:
    judge.need(dataset, "norm", "alignment")
    for where, own in settings(dataset, "norm", "alignment"):
        for name, told in (("norm", "squared norm"), ("alignment", "alignment")):
            values = own[name].transpose("seed", "mode").values
            found = judge.mean_of([spearman(own.mode.values, each) for each in values])
            if name == "norm":
                yield judge.above(f"{where}: rank correlation of j and {told}", found, 0.9)
            else:
                yield judge.below(f"{where}: rank correlation of j and {told}", found, -0.95)
        few = [j for j in TASKS if j in own.mode]
        rows = own.alignment.transpose("seed", "mode").sel(mode=few).values
        at = judge.mean_of([spearman(few, each) for each in rows])
        ends = own.norm.mean("seed").values
        low = own.lower_bound.mean("seed").values
    return (
        f"norms {ends[0]:.4g} to {ends[-1]:.4g}, their lower bounds {low[0]:.3g} to {low[-1]:.3g}; "
        f"at j = {few} alone the alignments have a rank correlation of {at}"
    )


@claim("LIN-36b", "of the alignment of sign(phi_j) the part along phi_j falls with j, <= -0.95")
def own_alignments(dataset: Data) -> judge.Parts:
    told = []
    for where, own in settings(dataset, "alignment_own", "alignment_first"):
        values = own.alignment_own.transpose("seed", "mode").values
        found = judge.mean_of([spearman(own.mode.values, each) for each in values])
        yield judge.below(f"{where}: rank correlation of j and the part along phi_j", found, -0.95)
        share = (own.alignment_first / own.alignment).mean("seed")
        late = [j for j in (20, 50, 100, 200, 400, 1000) if j in share.mode]
        each = " ".join(f"{float(share.sel(mode=slice(j - 9, j)).mean()):.2g}" for j in late)
        told.append(
            f"{where}: on the first ten lies a share {each} of the alignment up to j = {late}"
        )
    return "; ".join(told)


def _told(dataset: Data, name: str, middle: Any = np.mean) -> str:
    each = []
    for where, own in settings(dataset, "loss_network"):
        indices = ran_indices(own, 0, 10**6)
        values = middle(at_index(own, name, indices), axis=0)
        each.append(f"{where} " + " ".join(f"{v:.3g}" for v in values) + f" at j = {indices}")
    return "; ".join(each)
