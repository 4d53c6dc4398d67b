"""Verdicts on digits on the sphere."""

from __future__ import annotations

from typing import Any

from regimes.lab import Data, judge

claim = judge.Claims()

NR, R = 0, 1
SIZES = {"spherical": 58_550, "planar": 68_106}  # of the paper's networks


def _accuracy(dataset: Data, network: str, trained: str, tested: int) -> Any:
    """Of every seed that ran."""
    at = judge.where_ran(dataset, "seed", "accuracy", network=network, trained=trained)
    return at.accuracy.transpose("seed", "tested").values[:, tested].astype(float)


def _full(dataset: Data, network: str) -> bool:
    """Whether the network is the paper's."""
    at = judge.need(dataset, "parameters", network=network).parameters.values.ravel()
    return bool((at == SIZES[network]).any())


def _mean(dataset: Data, network: str, trained: str, tested: int) -> judge.Measured:
    values = _accuracy(dataset, network, trained, tested)
    return judge.mean_of(values) if len(values) > 1 else judge.Measured(float(values[0]))


@claim("EQU-13", "exactly 68,106 (planar) and 58,550 (spherical) parameters", exact=True)
def _counts(dataset: Data) -> judge.Parts:
    at = judge.need(dataset, "paper_planar", "paper_spherical")
    for network, expected in SIZES.items():
        for found in sorted(set(at[f"paper_{network}"].values.ravel().tolist())):
            if found == found:
                yield judge.near(f"parameters of the {network} network", found, expected, 0.5)
    return None


@claim("EQU-14", "planar: NR/NR high, R/R poor, NR/R at chance")
def _planar(dataset: Data) -> judge.Parts:
    both = _mean(dataset, "planar", "NR", NR)
    turned = _mean(dataset, "planar", "R", R)
    unseen = _mean(dataset, "planar", "NR", R)
    if _full(dataset, "planar"):
        yield judge.near("NR/NR", both, 0.98, 0.01)
        yield judge.below("R/R", turned, 0.6)
        yield judge.near("NR/R", unseen, 0.11, 0.03)
    else:
        yield judge.above("NR/NR", both, 0.90)
        yield judge.below("R/R", turned, 0.50)
        yield judge.below("NR/R", unseen, 0.20)
    return "the paper's 0.98, 0.23, 0.11"


@claim("EQU-15", "spherical: the same accuracy upright and turned, far above the planar network")
def _spherical(dataset: Data) -> judge.Parts:
    upright, unseen = (_accuracy(dataset, "spherical", "NR", tested) for tested in (NR, R))
    planar = _mean(dataset, "planar", "NR", R)
    if _full(dataset, "spherical"):
        turned = _accuracy(dataset, "spherical", "R", R)
        means = [float(each.mean()) for each in (upright, turned, unseen)]
        for name, value in zip(("NR/NR", "R/R", "NR/R"), means, strict=True):
            yield judge.above(name, value, 0.93)
        yield judge.below("spread of the three", max(means) - min(means), 0.03)
        return "the paper's 0.96, 0.95, 0.94"
    yield judge.above("NR/R", judge.mean_of(unseen), 0.65)
    yield judge.within("NR/NR - NR/R", judge.mean_of(upright - unseen), -0.04, 0.04)
    found = judge.mean_of(unseen)
    error = ((found.error or 0.0) ** 2 + (planar.error or 0.0) ** 2) ** 0.5
    yield judge.above(
        "NR/R less that of the planar network",
        judge.Measured(found.value - planar.value, error),
        0.4,
    )
    return f"NR/NR {judge.mean_of(upright)}; {len(unseen)} seeds; the paper's 0.96, 0.95, 0.94"


@claim("EQU-16", "R/R less NR/R within 0.05 of zero")
def _loss(dataset: Data) -> judge.Parts:
    unseen = _accuracy(dataset, "spherical", "NR", R)
    turned = _accuracy(dataset, "spherical", "R", R)
    n = min(len(unseen), len(turned))
    gap = turned[:n] - unseen[:n]
    found = judge.mean_of(gap) if n > 1 else judge.Measured(float(gap[0]))
    yield judge.within("R/R - NR/R", found, -0.05, 0.05)
    return f"{n} seeds; the paper's 0.01 is the size of the noise here"
